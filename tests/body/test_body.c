/* SPDX-License-Identifier: Apache-2.0
 *
 * Recipes against counts and register pressure found apart from them. */
#include <criterion/criterion.h>

#include "emit/body/body.h"

enum { ROWS = 31, VECTORS = 31, MOST = 2 * 31 * 31 };

struct counts { size_t loads, broadcasts, multiplies, others; };

static struct counts count(const struct dg_body *body, const struct dg_body_op *op, size_t n)
{
    struct counts c = { 0 };
    for (size_t i = 0; i < n; i++) {
        c.loads += op[i].op == body->load;
        c.broadcasts += op[i].op == body->broadcast;
        c.multiplies += op[i].op == body->chain;
        c.others += op[i].op != body->load && op[i].op != body->broadcast &&
                    op[i].op != body->chain;
    }
    return c;
}

static size_t slot(struct dg_body_operand x)
{
    return x.role == DG_A ? x.row : ROWS + x.vector;
}

/* Every accumulator gets one product of the right two, each loaded before its first use. */
static void check_values(const struct dg_body_op *op, size_t n, struct dg_tile tile)
{
    bool loaded[ROWS + VECTORS] = { false }, done[ROWS][VECTORS] = { { false } };
    for (size_t i = 0; i < n; i++) {
        const struct dg_body_operand *x = op[i].operand;
        if (x[0].role != DG_ACC) {
            cr_assert_eq(x[0].role, x[1].role);
            cr_assert_eq(slot(x[0]), slot(x[1]));
            loaded[slot(x[0])] = true;
            continue;
        }
        cr_assert_neq(x[1].role, x[2].role);
        for (int j = 1; j <= 2; j++) {
            cr_assert(loaded[slot(x[j])]);
            cr_assert_eq(x[j].role == DG_A ? x[j].row : x[j].vector,
                         x[j].role == DG_A ? x[0].row : x[0].vector);
        }
        cr_assert_not(done[x[0].row][x[0].vector]);
        done[x[0].row][x[0].vector] = true;
    }
    for (unsigned r = 0; r < tile.rows; r++)
        for (unsigned v = 0; v < tile.vectors; v++)
            cr_assert(done[r][v]);
}

/* Values that are still wanted after an operation, at the most crowded place. */
static unsigned pressure(const struct dg_body_op *op, size_t n, struct dg_tile tile)
{
    size_t first[ROWS + VECTORS], last[ROWS + VECTORS] = { 0 };
    unsigned most = 0;
    for (size_t i = n; i-- > 0;)
        for (int j = op[i].operand[0].role == DG_ACC; j < 3; j++)
            if (op[i].operand[j].role == DG_A || op[i].operand[j].role == DG_B) {
                size_t s = slot(op[i].operand[j]);
                first[s] = i;
                last[s] = last[s] > i ? last[s] : i;
            }
    for (size_t i = 0; i < n; i++) {
        unsigned live = 0;
        for (size_t s = 0; s < ROWS + VECTORS; s++)
            live += last[s] > 0 && first[s] <= i && i <= last[s];
        most = live > most ? live : most;
    }
    return most + tile.rows * tile.vectors;
}

Test(body, outer_product)
{
    static struct dg_body_op op[MOST];
    for (size_t i = 0; dg_isas[i] != NULL; i++) {
        struct dg_body body;
        if (!dg_body_for(dg_isas[i], DG_F32, &body))
            continue;
        cr_assert_eq(body.lanes, dg_isas[i]->vector_bits / 32);
        for (unsigned r = 1; r < ROWS; r++)
            for (unsigned v = 1; v < VECTORS; v++) {
                struct dg_tile tile = { r, v };
                size_t n = dg_body_step(&body, tile, op, MOST);
                cr_assert_eq(n, dg_body_step(&body, tile, NULL, 0));
                struct counts c = count(&body, op, n);
                cr_assert(c.loads == v && c.broadcasts == r && c.multiplies == r * v);
                cr_assert_eq(c.others, 0);
                check_values(op, n, tile);
                cr_assert_eq(dg_body_registers(&body, tile), pressure(op, n, tile), "%u x %u", r,
                             v);
            }
    }
}

Test(body, which_have_one)
{
    struct dg_body body;
    static const struct { const char *isa; enum dg_dtype dtype; bool there; } cases[] = {
        { "x86_64-avx2", DG_F32, true },    { "x86_64-avx512", DG_F32, true },
        { "aarch64-neon", DG_F32, true },   { "x86_64-sse2", DG_F32, false },
        { "x86_64-avx2", DG_F16, false },   { "x86_64-avx2", DG_S8S8, false },
        { "aarch64-neon", DG_INT4, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(dg_body_for(dg_isa_by_name(cases[i].isa), cases[i].dtype, &body),
                     cases[i].there, "%s", cases[i].isa);
}

Test(body, short_array)
{
    struct dg_body body;
    struct dg_body_op op[4] = { { 0 } };
    cr_assert(dg_body_for(dg_isa_by_name("x86_64-avx2"), DG_F32, &body));
    cr_assert_eq(dg_body_step(&body, (struct dg_tile){ 6, 2 }, op, 3), 20);
    cr_assert_null(op[3].op);
}
