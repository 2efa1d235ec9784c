/* SPDX-License-Identifier: Apache-2.0
 *
 * Recipes against counts and register pressure found apart from them. */
#include <criterion/criterion.h>

#include "emit/body/body.h"

enum { ROWS = 31, VECTORS = 31, MOST = 2 * 31 * 31 };

struct counts { size_t loads, broadcasts, multiplies, folded, others; };

static struct counts count(const struct dg_body *body, const struct dg_body_op *op, size_t n)
{
    struct counts c = { 0 };
    for (size_t i = 0; i < n; i++) {
        c.loads += op[i].op == body->load;
        c.broadcasts += op[i].op == body->broadcast;
        c.multiplies += op[i].op == body->chain;
        c.folded += op[i].op == body->folded;
    }
    c.others = n - c.loads - c.broadcasts - c.multiplies - c.folded;
    return c;
}

/* Where it is read from memory, by the multiply. */
static bool in_memory(const struct dg_body_op *op, unsigned i)
{
    return op->op->operands[i] == 'm';
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
            cr_assert(loaded[slot(x[j])] || in_memory(&op[i], (unsigned)j));
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
            if ((op[i].operand[j].role == DG_A || op[i].operand[j].role == DG_B) &&
                !(op[i].operand[0].role == DG_ACC && in_memory(&op[i], (unsigned)j))) {
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
        if (!dg_body_for(dg_isas[i], DG_F32, NULL, 0, &body))
            continue;
        cr_assert_eq(body.lanes, dg_isas[i]->vector_bits / 32);
        for (unsigned r = 1; r < ROWS; r++)
            for (unsigned v = 1; v < VECTORS; v++) {
                struct dg_tile tile = { r, v };
                size_t n = dg_body_step(&body, tile, op, MOST);
                cr_assert_eq(n, dg_body_step(&body, tile, NULL, 0));
                struct counts c = count(&body, op, n);
                bool folded = v == 1 && body.folded != NULL;
                cr_assert(c.loads == v && c.broadcasts == (folded ? 0 : r));
                cr_assert(c.multiplies == (folded ? 0 : r * v) && c.folded == (folded ? r : 0));
                cr_assert_eq(c.others, 0);
                check_values(op, n, tile);
                cr_assert_eq(dg_body_registers(&body, tile), pressure(op, n, tile), "%u x %u", r,
                             v);
            }
    }
}

/* The recipe depends on what the chip has; NULL: there is none. */
Test(body, which_recipe)
{
    static const char *const plain512[] = { "avx512f", "avx512vl", "fma", "avx2", "avx512bw" };
    static const char *const more512[] = { "avx512f", "avx512vl", "fma", "avx2", "avx512bw",
                                           "avx512_vnni", "avx512_bf16" };
    static const char *const plain256[] = { "fma", "avx2", "f16c" };
    static const char *const more256[] = { "fma", "avx2", "avx_vnni" };
    static const struct {
        const char *isa; enum dg_dtype dtype;
        const char *const *features; size_t count;
        const char *recipe;
    } cases[] = {
        { "x86_64-avx2", DG_F32, NULL, 0, "f32-outer" },
        { "x86_64-avx2", DG_F32, plain256, 3, "f32-outer" },
        { "x86_64-avx512", DG_F32, NULL, 0, "f32-outer" },
        { "aarch64-neon", DG_F32, NULL, 0, "f32-outer" },
        { "x86_64-sse2", DG_F32, NULL, 0, NULL },
        { "aarch64-neon", DG_F64, NULL, 0, "f64-outer" },
        { "aarch64-neon", DG_INT4, NULL, 0, NULL },
        { "x86_64-avx512", DG_U8S8, plain512, 5, "u8s8-wide" },
        { "x86_64-avx512", DG_U8S8, more512, 7, "u8s8-dot" },
        { "x86_64-avx512", DG_S8S8, more512, 7, "s8s8-dot" },
        { "x86_64-avx512", DG_BF16, plain512, 5, "bf16-outer" },
        { "x86_64-avx512", DG_BF16, more512, 7, "bf16-dot" },
        { "x86_64-avx2", DG_S8S8, plain256, 3, "s8s8-wide" },
        { "x86_64-avx2", DG_S8S8, more256, 3, "s8s8-dot" },
        { "x86_64-avx2", DG_BF16, more256, 3, "bf16-outer" },
        { "x86_64-avx2", DG_F16, plain256, 3, "f16-outer" },
        { "x86_64-avx2", DG_F16, more256, 3, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_body body;
        bool there = dg_body_for(dg_isa_by_name(cases[i].isa), cases[i].dtype, cases[i].features,
                                 cases[i].count, &body);
        cr_expect_str_eq(there ? body.name : "", cases[i].recipe != NULL ? cases[i].recipe : "",
                         "case %zu", i);
    }
}

/* The features of a kernel: those of the target, then what the recipe needs beyond. */
Test(body, features)
{
    struct dg_body body;
    cr_assert(dg_body_for(dg_isa_by_name("x86_64-avx512"), DG_S8S8, NULL, 0, &body));
    cr_expect_str_eq(body.features, "avx512f,avx512vl,fma,avx2,avx512_vnni,avx512bw");
    cr_assert(dg_body_for(dg_isa_by_name("x86_64-avx2"), DG_F32, NULL, 0, &body));
    cr_expect_str_eq(body.features, "avx2,fma");
}

/* Groups of K: the last step may be partly filled. A's sign is flipped once a row. */
Test(body, groups)
{
    static struct dg_body_op op[MOST];
    struct dg_body body;
    cr_assert(dg_body_for(dg_isa_by_name("x86_64-avx512"), DG_S8S8, NULL, 0, &body));
    cr_expect(dg_body_steps(&body, 0) == 0 && dg_body_steps(&body, 4) == 1 &&
              dg_body_steps(&body, 5) == 2);
    cr_expect_eq(dg_body_a_step(&body), 4);
    struct dg_tile tile = { 5, 3 };
    size_t n = dg_body_step(&body, tile, op, MOST), flips = 0;
    for (size_t i = 0; i < n; i++)
        flips += op[i].op == body.flip;
    cr_expect(n == 3 + 5 + 5 + 15 && flips == 5);
    cr_expect_eq(dg_body_registers(&body, tile), 15 + 3 + 1 + 1);
}

/* Along K: sums in as few vectors as can be, each the root of a tree whose nodes without a sum are
 * left out. Counted apart: nodes by the sums under them. */
Test(body, along)
{
    static const struct { unsigned columns, pitch; } pitches[] = {
        { 1, 1 }, { 2, 2 }, { 3, 4 }, { 4, 4 }, { 5, 8 }, { 15, 16 } };
    for (size_t i = 0; i < sizeof pitches / sizeof *pitches; i++)
        cr_expect_eq(dg_along_pitch(pitches[i].columns), pitches[i].pitch);
    for (unsigned rows = 1; rows <= 20; rows++)
        for (unsigned columns = 1; columns < 16; columns++) {
            struct dg_along tile = { rows, columns };
            bool sum[512] = { false };
            for (unsigned i = 0; i < rows; i++)
                for (unsigned j = 0; j < columns; j++)
                    sum[i * dg_along_pitch(columns) + j] = true;
            for (unsigned level = 1; level <= 4; level++) {
                unsigned nodes = 0;
                for (unsigned lane = 0; lane < 512; lane += 1u << level) {
                    bool any = false;
                    for (unsigned i = lane; i < lane + (1u << level); i++)
                        any = any || sum[i];
                    nodes += any;
                }
                cr_expect_eq(dg_along_folds(tile, 16, level), nodes, "%u x %u, level %u", rows,
                             columns, level);
            }
        }
    static struct dg_body_op op[MOST];
    struct dg_body body;
    cr_assert(dg_body_for(dg_isa_by_name("x86_64-avx512"), DG_F32, NULL, 0, &body));
    size_t n = dg_body_along_step(&body, (struct dg_along){ 5, 3 }, op, MOST), loads = 0;
    for (size_t i = 0; i < n; i++)
        loads += op[i].op == body.load;
    cr_expect(n == 5 + 3 + 15 && loads == 8);
    cr_expect_eq(dg_body_along_registers((struct dg_along){ 5, 3 }), 15 + 3 + 1);
    cr_assert(dg_body_for(dg_isa_by_name("aarch64-neon"), DG_F32, NULL, 0, &body));
    cr_expect_null(body.along);
}

Test(body, short_array)
{
    struct dg_body body;
    struct dg_body_op op[4] = { { 0 } };
    cr_assert(dg_body_for(dg_isa_by_name("x86_64-avx2"), DG_F32, NULL, 0, &body));
    cr_assert_eq(dg_body_step(&body, (struct dg_tile){ 6, 2 }, op, 3), 20);
    cr_assert_null(op[3].op);
}
