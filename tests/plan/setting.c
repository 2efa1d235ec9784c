/* SPDX-License-Identifier: Apache-2.0 */
#include "setting.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/reader.h"

void load(const char *path, struct dg_arena *arena, struct dg_profile *out)
{
    char full[4096];
    struct dg_error e = { 0 };
    snprintf(full, sizeof full, "%s/%s", getenv("SOURCE"), path);
    cr_assert(dg_profile_load(full, arena, out, &e), "%s: %s: %s", e.where, e.rule, e.value);
}

struct dg_problem product(uint64_t m, uint64_t n, uint64_t k)
{
    return (struct dg_problem){
        .name = "x", .isa = "auto", .dtype = DG_F32, .m = m, .n = n, .k = k,
        .layout_b = DG_PACKED, .lda = k > 0 ? k : 1, .ldb = n, .ldc = n,
    };
}

uint64_t below(uint64_t *state, uint64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % n;
}

static uint64_t between(uint64_t *state, uint64_t low, uint64_t high)
{
    return low + below(state, high - low + 1);
}

static void shrink(struct dg_constants *c, uint64_t *state)
{
    c->capacity[0] = between(state, 100, 4000);
    c->capacity[1] = c->capacity[0] + between(state, 100, 12000);
    c->l2_all = c->capacity[1] + below(state, 3) * 1000;
    c->capacity[2] = below(state, 3) > 0 ? c->capacity[1] + between(state, 100, 20000) : 0;
    c->set_stride[0] = UINT64_C(1) << between(state, 6, 10);
    c->set_stride[1] = below(state, 2) > 0 ? UINT64_C(1) << between(state, 6, 11) : 0;
    c->ways = between(state, 3, 12);
    c->code_capacity = between(state, 200, 20000);
    for (int i = 0; i < DG_LEVELS; i++)
        c->byte[i] = (dg_price)between(state, 1, (uint64_t)DG_PRICE_ONE);
    c->call = (dg_price)below(state, 100) * DG_PRICE_ONE;
    c->latency = (dg_price)between(state, 1, 8) * DG_PRICE_ONE;
    if (below(state, 4) == 0)
        c->turn.curve_count = 0;
    if (below(state, 4) == 0)
        c->pass.curve_count = 0;
    if (below(state, 3) == 0)
        c->panel.curve_count = 0;
    if (below(state, 3) == 0)
        c->rows.curve_count = 0;
}

void small_again(struct small *s)
{
    struct dg_error e = { 0 };
    cr_assert(dg_space_make(&s->problem, &s->c, NULL, &s->arena, &s->space, &e), "%s: %s", e.rule,
              e.value);
    /* caches here are smaller than any region of the cells */
    for (size_t i = 0; i < s->space.tile_count; i++) {
        struct dg_tile_space *t = &s->space.tiles[i];
        t->rows_near = t->tile.rows * DG_PRICE_ONE / 16;
        if (s->problem.lda % 32 < 16) {          /* some chips know what going down costs */
            t->down_touch = 3 * DG_PRICE_ONE;
            t->add_touch = 5 * DG_PRICE_ONE;
        }
        if (s->space.a_bytes + s->space.c_bytes + t->b_bytes <= s->c.capacity[0])
            t->store_touch = -DG_PRICE_ONE / 2;
    }
}

void small_make(struct small *s, uint64_t seed)
{
    static const char *const paths[] = { "tests/profiles/test-avx2.json",
                                         "tests/profiles/test-avx512.json",
                                         "tests/profiles/test-neon.json" };
    static const char *const isas[] = { "x86_64-avx2", "x86_64-avx512", "aarch64-neon" };
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    size_t chip = below(&state, 3);
    dg_arena_init(&s->arena);
    load(paths[chip], &s->arena, &s->profile);
    dg_view_init(&s->view, &s->profile, &s->arena, false);
    cr_assert(dg_body_for(dg_isa_by_name(isas[chip]), DG_F32, NULL, 0, &s->body));
    cr_assert(dg_constants_read(&s->view, &s->body, &s->c));
    shrink(&s->c, &state);
    s->c.along = s->body.along != NULL;
    for (unsigned level = 0; level <= DG_FOLD_LEVELS; level++)
        s->c.fold[level] = (dg_price)between(&state, 1, 6) * DG_PRICE_ONE / 2;
    s->c.lanes_down = DG_PRICE_ONE / 2;
    s->c.registers = (unsigned)between(&state, 6, s->c.registers < 20 ? s->c.registers : 20);
    uint64_t lanes = s->body.lanes;
    s->problem = product(between(&state, 5, 34), between(&state, lanes, 5 * lanes),
                         between(&state, 8, 40));
    s->problem.beta = (int)below(&state, 2);
    s->problem.lda += below(&state, 3) * 16;
    if (below(&state, 3) == 0) {
        s->problem.layout_b = DG_ROW_MAJOR;
        s->problem.ldb += below(&state, 3) * 16;
    }
    if (below(&state, 6) == 0) {
        uint64_t tiles = dg_ceil_div(s->problem.m, between(&state, 2, 4));
        s->problem.tile_m = (uint32_t)dg_ceil_div(s->problem.m, tiles);
        s->c.ways = 12;
    }
    small_again(s);
}

void small_free(struct small *s)
{
    dg_arena_free(&s->arena);
}

static uint32_t down(const struct dg_sizes *sizes, uint32_t at, uint64_t *state, bool to_leaf)
{
    while (sizes->range[at].low != sizes->range[at].high) {
        if (!to_leaf && below(state, 3) == 0)
            break;
        at = below(state, 2) > 0 ? sizes->range[at].left : sizes->range[at].right;
    }
    return at;
}

struct dg_box random_box(const struct dg_space *s, uint64_t *state)
{
    struct dg_box box = { .t = &s->tiles[below(state, s->tile_count)] };
    uint64_t form = below(state, s->can_prefetch ? 3 : 2);
    box.k = down(&s->blocks_k, 0, state, false);
    box.n = down(&box.t->blocks_n, 0, state, false);
    box.m = down(&s->blocks_m, 0, state, false);
    box.prefetch = form == 2;
    if (form == 1) {
        box.inner = DG_TILES_OUTER;
        box.m = dg_sizes_leaf(&s->blocks_m, s->blocks_m.count - 1);
    }
    return box;
}

struct dg_box random_point(const struct dg_space *s, struct dg_box box, uint64_t *state)
{
    box.k = down(&s->blocks_k, box.k, state, true);
    box.m = down(&s->blocks_m, box.m, state, true);
    box.n = down(&box.t->blocks_n, box.n, state, true);
    return box;
}
