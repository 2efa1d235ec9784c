/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole plans: what they must add up to, what is assumed, refused and read. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "setting.h"

static const char *const profiles[] = {
    "tests/profiles/test-avx2.json", "tests/profiles/test-avx512.json",
    "tests/profiles/test-neon.json", "examples/cortex-a76-prod.json",
};
enum { PROFILES = sizeof profiles / sizeof *profiles };

static uint64_t rows_of(struct dg_split s)
{
    return (uint64_t)s.size[0] * s.count[0] + (uint64_t)s.size[1] * s.count[1];
}

/* Rows, columns and steps are covered exactly once. */
static void check_plan(const struct dg_problem *p, const struct dg_plan *plan)
{
    uint64_t width = plan->tile.vectors * plan->body.lanes;
    cr_assert_eq((plan->m_blocks - 1) * plan->mc + plan->mc_last, p->m);
    cr_assert_eq((plan->n_blocks - 1) * plan->nc + plan->nc_last, p->n);
    cr_assert_eq((plan->k_blocks - 1) * plan->kc + plan->kc_last, p->k);
    cr_assert_eq(rows_of(plan->rows), plan->mc);
    cr_assert_eq(rows_of(plan->rows_last), plan->mc_last);
    cr_assert_eq(plan->rows.size[0], plan->tile.rows);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(plan->rows.size[i], plan->rows_last.size[i]);
    if (plan->n_blocks > 1)
        cr_assert_eq(plan->panels * width, plan->nc);
    cr_assert_eq(plan->panels_last * width + plan->tail_columns, plan->nc_last);
    cr_assert_lt(plan->tail_columns, width);
    cr_assert_eq(plan->tail_vectors, plan->along
                 ? plan->tail_columns
                 : (plan->tail_columns + plan->body.lanes - 1) / plan->body.lanes);
    cr_assert_eq(plan->tail_part, plan->along ? 0 : plan->tail_columns % plan->body.lanes);
    cr_assert(!plan->along || plan->k_blocks == 1 || plan->kc % plan->body.lanes == 0);
    cr_assert(plan->inner == DG_PANELS_OUTER || (plan->m_blocks == 1 && !plan->prefetch));
    cr_assert(plan->unroll >= 1 && (plan->kc == 0 || plan->unroll <= plan->kc));
    cr_assert_leq(dg_body_registers(&plan->body, plan->tile), plan->body.isa->vector_registers);
}

static void check_cost(const struct dg_plan *plan)
{
    dg_cost sum = 0;
    for (size_t i = 0; i < plan->term_count; i++)
        sum += plan->terms[i].cost;
    cr_assert_eq(sum, plan->cycles);
    cr_assert_geq(plan->cycles, plan->bound);
    cr_assert_gt(plan->peak, 0);
    cr_assert_not_null(plan->binding);
    cr_assert_lt(plan->pruned, plan->points);
}

static void check_result(const struct dg_problem *p, const struct dg_plan_result *r)
{
    check_plan(p, &r->best);
    check_cost(&r->best);
    if (r->runner_up.cycles == 0)
        return;
    check_plan(p, &r->runner_up);
    check_cost(&r->runner_up);
    cr_assert(r->runner_up.tile.rows != r->best.tile.rows ||
              r->runner_up.tile.vectors != r->best.tile.vectors ||
              r->runner_up.along != r->best.along);
    /* the best is at most a tie dearer */
    cr_assert_leq(r->best.cycles, r->runner_up.cycles + r->runner_up.cycles / 1000 * 20 + 20);
}

Test(plan, random_products, .timeout = 300)
{
    static const struct { uint64_t m, n, k; } ends[] = {
        { 1, 1, 1 }, { 1, 1, 0 }, { 1, 1000, 1 }, { 1000, 1, 1 }, { 1, 1, 100000 }, { 7, 9, 0 },
        { 2147483647, 1, 1 }, { 1, 2147483647, 1 }, { 1, 1, 2147483647 }, { 65536, 65536, 0 },
    };
    enum { ENDS = sizeof ends / sizeof *ends };
    uint64_t state = 5;
    for (int which = 0; which < PROFILES; which++) {
        struct dg_arena file;
        struct dg_profile profile;
        dg_arena_init(&file);
        load(profiles[which], &file, &profile);
        for (int i = 0; i < 120; i++) {
            struct dg_problem p = product(1 + below(&state, 300), 1 + below(&state, 300),
                                          below(&state, 300));
            if (i < ENDS)
                p = product(ends[i].m, ends[i].n, ends[i].k);
            p.beta = (int)below(&state, 2);
            p.lda += below(&state, 20);
            p.layout_b = below(&state, 2) > 0 ? DG_PACKED : DG_ROW_MAJOR;
            struct dg_arena arena;
            struct dg_plan_result r;
            struct dg_error e = { 0 };
            dg_arena_init(&arena);
            cr_assert(dg_plan_make(&p, &profile, false, &arena, &r, &e), "%s: %s: %s", e.where,
                      e.rule, e.value);
            check_result(&p, &r);
            dg_arena_free(&arena);
        }
        dg_arena_free(&file);
    }
}

static bool make(const char *path, const struct dg_problem *p, bool strict,
                 struct dg_plan_result *out, struct dg_error *e)
{
    static struct dg_arena arena;                 /* results live until the test's process ends */
    struct dg_profile *profile;
    if (arena.more == NULL)
        dg_arena_init(&arena);
    profile = dg_alloc(&arena, sizeof *profile);
    load(path, &arena, profile);
    *e = (struct dg_error){ 0 };
    return dg_plan_make(p, profile, strict, &arena, out, e);
}

static const struct dg_read *read_of(const struct dg_plan_result *r, const char *key)
{
    for (size_t i = 0; i < r->view.read_count; i++)
        if (strcmp(r->view.reads[i].key, key) == 0)
            return &r->view.reads[i];
    return NULL;
}

/* What a typed file of sixteen values leaves open is assumed by name, and nothing else is. */
Test(plan, assumed)
{
    static const char *const assumed[] = {
        "clock_hz", "l1_ways", "mix.call.f32.128", "op.store.f32.128.per_cycle",
    };
    static const char *const given[] = {
        "l1_size", "l2_size", "l1_line_size", "fma_latency", "vector_registers",
        "l1_to_l2_bandwidth_gbps", "l2_to_dram_bandwidth_gbps", "architecture", "isa",
    };
    struct dg_problem p = product(1024, 768, 512);
    struct dg_plan_result r;
    struct dg_error e;
    cr_assert(make("examples/cortex-a76-prod.json", &p, false, &r, &e), "%s", e.rule);
    cr_assert_str_eq(r.best.body.isa->name, "aarch64-neon");
    for (size_t i = 0; i < sizeof assumed / sizeof *assumed; i++) {
        const struct dg_read *read = read_of(&r, assumed[i]);
        cr_assert(read != NULL && read->assumed, "%s", assumed[i]);
    }
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        const struct dg_read *read = read_of(&r, given[i]);
        cr_assert(read != NULL && !read->assumed && read->value != NULL, "%s", given[i]);
    }
    cr_assert_not(make("examples/cortex-a76-prod.json", &p, true, &r, &e));
    cr_assert(e.exit_code == DG_EXIT_INPUT && strstr(e.rule, "--strict") != NULL);
    cr_assert_neq(e.where[0], '\0');
    cr_assert(make("tests/profiles/test-avx2.json", &p, true, &r, &e), "%s %s", e.where, e.rule);
    for (size_t i = 0; i < r.view.read_count; i++)
        cr_assert_not(r.view.reads[i].assumed, "%s", r.view.reads[i].key);
}

/* Which target is taken for `auto`, and which are refused. */
Test(plan, targets)
{
    static const struct { const char *path, *isa, *chosen, *rule; } cases[] = {
        { "tests/profiles/test-avx512.json", "auto", "x86_64-avx512", "" },
        { "tests/profiles/test-avx2.json", "auto", "x86_64-avx2", "" },
        { "tests/profiles/test-neon.json", "auto", "aarch64-neon", "" },
        { "tests/profiles/test-avx512.json", "x86_64-avx2", "x86_64-avx2", "" },
        { "tests/profiles/test-avx2.json", "x86_64-avx512", NULL, "does not list" },
        { "tests/profiles/test-avx2.json", "aarch64-neon", NULL, "architecture" },
        { "tests/profiles/test-neon.json", "x86_64-avx2", NULL, "architecture" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_problem p = product(100, 100, 100);
        struct dg_plan_result r;
        struct dg_error e;
        strcpy(p.isa, cases[i].isa);
        bool good = make(cases[i].path, &p, false, &r, &e);
        cr_assert_eq(good, cases[i].chosen != NULL, "%zu: %s", i, e.rule);
        if (good)
            cr_assert_str_eq(r.best.body.isa->name, cases[i].chosen);
        else
            cr_assert(e.exit_code == DG_EXIT_INPUT && strstr(e.rule, cases[i].rule) != NULL);
    }
}

/* A typed profile lists too little: what is missing is named. */
Test(plan, no_target)
{
    static const struct { const char *architecture, *feature, *todo; } cases[] = {
        { "x86_64", "sse2", "x86_64-avx2 needs avx2,fma" },
        { "aarch64", "fp", "aarch64-neon needs asimd" },
        { "riscv64", "v", "another profile" },
        { "x86_64", NULL, "run deepgemm-probe again" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dg_entry chip[] = {
            { "architecture", { .kind = DG_VALUE_TEXT, .text = cases[i].architecture } },
            { "isa", { .kind = DG_VALUE_LIST, .list = &cases[i].feature, .list_count = 1 } },
        };
        struct dg_profile profile = { .entries = chip,
                                      .entry_count = cases[i].feature != NULL ? 2 : 1 };
        struct dg_problem p = product(4, 4, 4);
        struct dg_arena arena;
        struct dg_plan_result r;
        struct dg_error e = { 0 };
        dg_arena_init(&arena);
        cr_expect_not(dg_plan_make(&p, &profile, false, &arena, &r, &e));
        cr_expect(e.exit_code == DG_EXIT_INPUT && strstr(e.todo, cases[i].todo) != NULL, "%s: %s",
                  e.rule, e.todo);
        dg_arena_free(&arena);
    }
}

/* Turns are measured with every load just before its multiplies. A chip whose turns take no more
 * than its resources do reorders by itself, and its kernels keep that order; any other is
 * scheduled for. */
Test(plan, scheduled_where_the_chip_does_not_reorder)
{
    static const struct { double step; bool schedule; } rows[] = {
        { 8, false }, { 8.3, false }, { 8.6, true }, { 14, true }, { 0, true },
    };
    static const char *const isa[] = { "avx2", "fma" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_entry chip[] = {
            { "architecture", { .kind = DG_VALUE_TEXT, .text = "x86_64" } },
            { "fma_latency", { .kind = DG_VALUE_NUMBER, .number = 4 } },
            { "isa", { .kind = DG_VALUE_LIST, .list = isa, .list_count = 2 } },
            { "mix.turn.f32.256.v2.b4.s128",
              { .kind = DG_VALUE_NUMBER, .number = 128 * rows[i].step + 6 } },
            { "mix.turn.f32.256.v2.b4.s16",
              { .kind = DG_VALUE_NUMBER, .number = 16 * rows[i].step + 6 } },
            { "op.fma.f32.256.per_cycle", { .kind = DG_VALUE_NUMBER, .number = 1 } },
            { "op.load.f32.256.per_cycle", { .kind = DG_VALUE_NUMBER, .number = 2 } },
        };
        if (rows[i].step == 0)
            chip[3].value.kind = chip[4].value.kind = DG_VALUE_NULL;
        struct dg_profile profile = { .entries = chip, .entry_count = 7 };
        struct dg_problem p = product(64, 64, 64);
        struct dg_arena arena;
        struct dg_plan_result r;
        struct dg_error e = { 0 };
        dg_arena_init(&arena);
        cr_assert(dg_plan_make(&p, &profile, false, &arena, &r, &e), "%s: %s", e.where, e.rule);
        cr_expect_eq(r.best.schedule, rows[i].schedule, "%g cycles a step", rows[i].step);
        dg_arena_free(&arena);
    }
}

Test(plan, refused)
{
    struct dg_problem p = product(100, 100, 100);
    struct dg_plan_result r;
    struct dg_error e;
    strcpy(p.target, "another-chip");
    cr_assert_not(make("tests/profiles/test-avx2.json", &p, false, &r, &e));
    cr_assert(strstr(e.value, "another-chip") != NULL && strstr(e.value, "test-avx2") != NULL);
    strcpy(p.target, "test-avx2");
    cr_assert(make("tests/profiles/test-avx2.json", &p, false, &r, &e));
    p.tile_m = 8;
    p.tile_n = 16;
    cr_assert_not(make("tests/profiles/test-avx2.json", &p, false, &r, &e));
    cr_assert(strstr(e.rule, "16 vector registers") != NULL &&
              strstr(e.value, "19 registers") != NULL, "%s: %s", e.rule, e.value);
}

/* Rows 4096 bytes apart share a set of L1: with 8 ways not more than six of them. */
Test(plan, rows_in_one_set)
{
    for (uint64_t lda = 1008; lda <= 1040; lda += 16) {
        struct dg_problem p = product(1008, 8, 1000);
        struct dg_plan_result r;
        struct dg_error e;
        p.lda = lda;
        p.tile_m = 12;
        bool good = make("tests/profiles/test-avx2.json", &p, false, &r, &e);
        cr_assert_eq(good, lda != 1024);
        if (!good)
            cr_assert(strstr(e.value, "12 rows in one set") != NULL &&
                      strstr(e.todo, "pad lda") != NULL);
        p.tile_m = 6;
        cr_assert(make("tests/profiles/test-avx2.json", &p, false, &r, &e));
    }
}

/* The constants of a profile that has one number more. */
static struct dg_constants constants_with(const char *key, double value, struct dg_arena *arena)
{
    struct dg_profile p;
    struct dg_view view;
    struct dg_constants c;
    static struct dg_body body;
    load("tests/profiles/test-avx512.json", arena, &p);
    cr_assert_eq(dg_profile_number(&p, key, 0), 0);
    struct dg_entry *entries = dg_alloc_array(arena, p.entry_count + 1, sizeof *entries);
    size_t at = 0;                               /* sorted by key */
    while (at < p.entry_count && strcmp(p.entries[at].key, key) < 0)
        at++;
    memcpy(entries, p.entries, at * sizeof *entries);
    entries[at] = (struct dg_entry){ key, { .kind = DG_VALUE_NUMBER, .number = value } };
    memcpy(entries + at + 1, p.entries + at, (p.entry_count - at) * sizeof *entries);
    if (value > 0) {
        p.entries = entries;
        p.entry_count++;
    }
    dg_view_init(&view, &p, arena, false);
    cr_assert(dg_body_for(dg_isa_by_name("x86_64-avx512"), DG_F32, NULL, 0, &body));
    cr_assert(dg_constants_read(&view, &body, &c));
    return c;
}

/* Which set of L2 a line is in is often not known, but for the bits within a page: rows a power of
 * two apart share few sets, and what a block of them takes is more than its bytes. */
Test(plan, rows_share_the_bits_of_a_page)
{
    static const struct { double stride; uint64_t wanted; } cases[] = {
        { 0, 4096 }, { 131072, 131072 }, { 1024, 1024 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_arena arena;
        dg_arena_init(&arena);
        struct dg_constants c = constants_with("l2_set_stride", cases[i].stride, &arena);
        cr_expect_eq(c.set_stride[1], cases[i].wanted, "%zu", i);
        dg_arena_free(&arena);
    }
}

/* A block and a panel have of L2 what was seen to stay, never more than there is. */
Test(plan, what_stays_in_l2)
{
    struct dg_arena arena;
    dg_arena_init(&arena);
    uint64_t all = constants_with("cache.resident.l2", 0, &arena).capacity[1];
    cr_assert_gt(all, 100000);
    cr_expect_eq(constants_with("cache.resident.l2", 65536, &arena).capacity[1], 65536 + 16384);
    cr_expect_eq(constants_with("cache.resident.l2", (double)all, &arena).capacity[1], all);
    cr_expect_eq(constants_with("cache.resident.l2", 1e18, &arena).capacity[1], all);
    cr_expect_eq(constants_with("cache.resident.l2", 65536, &arena).l2_all, all,
                 "a product that stays as a whole");
    dg_arena_free(&arena);
}

Test(plan, tile_asked_for)
{
    static const struct { uint64_t m, n; uint32_t rows, columns; } cases[] = {
        { 600, 160, 6, 16 }, { 600, 160, 4, 24 }, { 7, 160, 4, 16 }, { 3, 160, 3, 16 },
        { 600, 9, 6, 16 },   { 600, 5, 6, 8 },    { 600, 160, 1, 0 }, { 600, 160, 0, 40 },
        { 100, 160, 6, 16 }, { 1, 1, 1, 8 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_problem p = product(cases[i].m, cases[i].n, 64);
        struct dg_plan_result r;
        struct dg_error e;
        p.tile_m = cases[i].rows;
        p.tile_n = cases[i].columns;
        cr_assert(make("tests/profiles/test-avx2.json", &p, false, &r, &e), "%s", e.rule);
        cr_assert(cases[i].rows == 0 || r.best.tile.rows == cases[i].rows);
        cr_assert(cases[i].columns == 0 || r.best.tile.vectors * 8 == cases[i].columns);
    }
}

/* Another tile in the place of the one asked for is never silently taken. */
Test(plan, tile_that_cannot_be)
{
    static const struct {
        uint64_t m, n;
        uint32_t rows, columns;
        const char *rule, *todo;
    } cases[] = {
        { 600, 768, 0, 1, "multiple of 8", "choose 8," },
        { 600, 768, 0, 20, "multiple of 8", "choose 16 or 24," },
        { 600, 768, 6, 20, "multiple of 8", "choose 16," },
        { 600, 768, 0, 1001, "multiple of 8", "choose 112," },
        { 600, 9, 6, 24, "at most 16", "choose 16," },
        { 600, 5, 6, 16, "at most 8", "choose 8," },
        { 3, 160, 6, 16, "at most 3", "choose 3," },
        { 7, 160, 6, 8, "7 rows", "choose 4 or 7," },
        { 7, 160, 6, 16, "7 rows", "choose 4," },
        { 16, 160, 7, 16, "16 rows", "choose 6," },
        { 2, 160, 1024, 0, "at most 2", "choose 2," },
        { 4, 4, 1024, 1024, "at most 4", "choose 4," },
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct dg_problem p = product(cases[i / 2].m, cases[i / 2].n, 64);
        struct dg_plan_result r;
        struct dg_error e;
        p.tile_m = cases[i / 2].rows;
        p.tile_n = cases[i / 2].columns;
        p.objective = i % 2 > 0 ? DG_OBJECTIVE_INTENSITY : DG_OBJECTIVE_CYCLES;
        if (i % 2 > 0 && strstr(cases[i / 2].rule, "rows") != NULL)
            continue;                             /* its blocks are whole tiles and a rest */
        cr_expect(!make("tests/profiles/test-avx2.json", &p, false, &r, &e), "%zu", i);
        cr_expect_eq(e.exit_code, DG_EXIT_INPUT);
        cr_expect(strstr(e.rule, cases[i / 2].rule) != NULL, "%zu: %s", i, e.rule);
        cr_expect(strstr(e.todo, cases[i / 2].todo) != NULL, "%zu: %s", i, e.todo);
    }
}

/* Every number of rows is taken as it is or refused, and what is offered instead is taken. */
Test(plan, every_tile_asked_for)
{
    for (uint64_t m = 1; m <= 40; m++)
        for (uint32_t rows = 1; rows <= 14; rows++) {
            struct dg_problem p = product(m, 16, 8);
            struct dg_plan_result r;
            struct dg_error e;
            unsigned offered[2] = { 0 };
            p.tile_m = rows;
            p.tile_n = 8;
            if (make("tests/profiles/test-avx2.json", &p, false, &r, &e)) {
                cr_assert(r.best.tile.rows == rows && r.best.tile.vectors == 1);
                continue;
            }
            cr_assert_str_eq(e.where, "codegen.tile_m");
            int count = sscanf(e.todo, "choose %u or %u", &offered[0], &offered[1]);
            cr_assert(count >= 1, "%s", e.todo);
            for (int i = 0; i < count; i++) {
                p.tile_m = offered[i];
                cr_assert(make("tests/profiles/test-avx2.json", &p, false, &r, &e), "%s", e.rule);
            }
        }
}

/* 64 x 64 x 128 is not the best block for 64 KiB, and whatever is taken is a whole plan. */
Test(plan, intensity)
{
    for (int divides = 0; divides < 2; divides++) {
        struct dg_problem p = product(1024, 768, 512);
        struct dg_plan_result r;
        struct dg_error e;
        p.objective = DG_OBJECTIVE_INTENSITY;
        p.intensity_divides = divides;
        cr_assert(make("examples/cortex-a76-prod.json", &p, false, &r, &e), "%s", e.rule);
        check_plan(&p, &r.best);
        check_cost(&r.best);
        uint64_t m = r.best.mc, n = r.best.nc, k = r.best.kc, bytes = 4 * (m * k + n * k + m * n);
        cr_assert_leq(bytes, 65536);
        /* 2mnk / (mk + nk + mn) against 64 x 64 x 58, which is all that fits in f32 */
        cr_assert_gt((double)(m * n * k) * 4 / (double)bytes,
                     64.0 * 64 * 58 / (64 * 58 * 2 + 4096));
        if (divides)
            cr_assert(p.m % m == 0 && p.n % n == 0 && p.k % k == 0);
    }
}

/* Resources of other types are no part of a plan: their keys are not among those read. */
Test(plan, reads_what_it_uses)
{
    static const char *const files[] = { "tests/profiles/test-neon.json",
                                         "tests/profiles/test-avx2.json",
                                         "tests/profiles/test-avx512.json" };
    struct dg_problem p = product(64, 96, 128);
    struct dg_plan_result r;
    struct dg_error e;
    for (size_t f = 0; f < 3; f++) {
        unsigned resources = 0;
        cr_assert(make(files[f], &p, false, &r, &e));
        for (size_t i = 0; i < r.view.read_count; i++) {
            resources += strncmp(r.view.reads[i].key, "res.", 4) == 0;
            cr_expect(strncmp(r.view.reads[i].key, "res.dot", 7) != 0, "%s", files[f]);
        }
        cr_expect(resources > 4, "%s: %u", files[f], resources);
    }
}

/* The same inputs give the same plan and the same list of keys. */
Test(plan, again)
{
    struct dg_problem p = product(197, 333, 444);
    struct dg_plan_result a, b;
    struct dg_error e;
    cr_assert(make("tests/profiles/test-neon.json", &p, false, &a, &e));
    cr_assert(make("tests/profiles/test-neon.json", &p, false, &b, &e));
    cr_assert(a.best.cycles == b.best.cycles && a.runner_up.cycles == b.runner_up.cycles);
    cr_assert_eq(memcmp(&a.best.rows, &b.best.rows, sizeof a.best.rows), 0);
    cr_assert_eq(a.view.read_count, b.view.read_count);
    for (size_t i = 0; i < a.view.read_count; i++)
        cr_assert_str_eq(a.view.reads[i].key, b.view.reads[i].key);
}
