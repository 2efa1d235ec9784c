/* SPDX-License-Identifier: Apache-2.0
 *
 * The lattice's lists and splits against their definitions, cells and resources by known
 * answers. */
#include <criterion/criterion.h>

#include "emit/plan/intensity.h"
#include "setting.h"

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* Ranges cut the list into itself, parents before children. */
static void check_ranges(const struct dg_sizes *sizes)
{
    uint32_t leaves = 0;
    cr_assert(sizes->range[0].low == 0 && sizes->range[0].high == sizes->count - 1);
    for (uint32_t i = 0; i < sizes->range_count; i++) {
        const struct dg_range *r = &sizes->range[i];
        if (r->low == r->high) {
            cr_assert_eq(dg_sizes_leaf(sizes, r->low), i);
            leaves++;
            continue;
        }
        const struct dg_range *a = &sizes->range[r->left], *b = &sizes->range[r->right];
        cr_assert(r->left > i && r->right > i);
        cr_assert(a->low == r->low && a->high + 1 == b->low && b->high == r->high);
    }
    cr_assert_eq(leaves, sizes->count);
}

Test(parts, sizes)
{
    static unsigned char wanted[4001];
    for (uint64_t extent = 1; extent <= 4000; extent += 1 + extent / 50) {
        struct dg_arena arena;
        struct dg_sizes sizes;
        uint32_t count = 0;
        dg_arena_init(&arena);
        cr_assert(dg_sizes_make(&arena, extent, &sizes));
        for (uint64_t size = 1; size <= extent; size++)
            wanted[size] = 0;
        for (uint64_t i = 1; i <= extent; i++)
            wanted[ceil_div(extent, i)] = 1;
        for (uint64_t size = 1; size <= extent; size++)
            if (wanted[size])
                cr_assert(count < sizes.count && sizes.size[count++] == size);
        cr_assert_eq(count, sizes.count);
        check_ranges(&sizes);
        dg_arena_free(&arena);
    }
}

Test(parts, sizes_at_the_ends)
{
    static const uint64_t extents[] = { 0, 1, 2, 4194304, 4194305, 100000007, 2147483647 };
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        struct dg_arena arena;
        struct dg_sizes sizes;
        dg_arena_init(&arena);
        cr_assert(dg_sizes_make(&arena, extents[i], &sizes));
        cr_assert_leq(sizes.count, 2 * DG_SIZES_MOST + 2);
        cr_assert_eq(sizes.size[sizes.count - 1], extents[i]);
        for (uint32_t j = 1; j < sizes.count; j++) {
            cr_assert_lt(sizes.size[j - 1], sizes.size[j]);
            uint64_t blocks = ceil_div(extents[i], sizes.size[j]);
            cr_assert_eq(sizes.size[j], ceil_div(extents[i], blocks));
        }
        check_ranges(&sizes);
        dg_arena_free(&arena);
    }
}

/* Is there any way to make `rest` of at most `tiles` tiles of first and some second size? */
static bool can_be(uint64_t rest, uint32_t first, uint32_t second, bool second_is_free)
{
    uint64_t tiles = ceil_div(rest, first);
    for (uint64_t a = 0; a <= tiles; a++)
        for (uint32_t s = second_is_free ? 1 : second; s < first && s > 0; s++) {
            if (a * first + (tiles - a) * s == rest)
                return true;
            if (!second_is_free)
                break;
        }
    return tiles * first == rest;
}

Test(parts, row_splits)
{
    for (uint64_t m = 1; m <= 70; m++)
        for (uint64_t block = 1; block <= m; block++)
            for (uint32_t rows = 1; rows <= 14 && rows <= block; rows++) {
                struct dg_row_plan plan = dg_rows_split(m, block, rows);
                uint64_t tiles = ceil_div(block, rows), blocks = ceil_div(m, block);
                uint64_t rest = m - (blocks - 1) * block;
                uint32_t first = (uint32_t)ceil_div(block, tiles);
                bool one_size = first * tiles == block;
                bool possible = first == rows && can_be(rest, first, first - 1, one_size);
                cr_assert_eq(plan.possible, possible, "%d %d %u", (int)m, (int)block, rows);
                if (!possible)
                    continue;
                const uint32_t *s = plan.size;
                cr_assert_eq(s[0], rows);
                cr_assert_lt(s[1], s[0]);
                cr_assert_eq((uint64_t)s[0] * plan.full[0] + (uint64_t)s[1] * plan.full[1], block);
                cr_assert_eq((uint64_t)s[0] * plan.last[0] + (uint64_t)s[1] * plan.last[1], rest);
                cr_assert_eq(plan.full[0] + plan.full[1], tiles);
                cr_assert_eq(plan.last[0] + plan.last[1], ceil_div(rest, rows));
                for (int i = 0; i < 2; i++)
                    cr_assert_eq(plan.count[i], (blocks - 1) * plan.full[i] + plan.last[i]);
            }
}

#define NUMBER(key, n) { key, { .kind = DG_VALUE_NUMBER, .number = n } }
static const struct dg_entry entries[] = {
    { "architecture", { .kind = DG_VALUE_TEXT, .text = "x86_64" } },
    NUMBER("mix.touch.panel.f32.256.v2.k100.p0", 1),
    NUMBER("mix.touch.panel.f32.256.v2.k100.p1", 0.5),
    NUMBER("mix.touch.panel.f32.256.v2.k300.p0", 2),
    NUMBER("mix.turn.f32.256.v1.b4.s128", 500),
    NUMBER("mix.turn.f32.256.v1.b4.s16", 60),
    NUMBER("mix.turn.f32.256.v10.b1.s16", 70),
    NUMBER("mix.turn.f32.256.v2.b6.s128", 770),
    NUMBER("mix.turn.f32.256.v2.b6.s16", 98),
    NUMBER("mix.turn.f32.256.v2.b6.s256", 1540),
    { "mix.turn.f32.256.v2.b7.s16", { .kind = DG_VALUE_NULL } },
    NUMBER("mix.turn.f32.512.v2.b6.s16", 1),
};
static const struct dg_profile profile = { .entries = entries,
                                           .entry_count = sizeof entries / sizeof *entries };

static dg_price turn_at(const struct dg_family_cells *f, unsigned v, unsigned b, uint64_t steps)
{
    const struct dg_curve *curve = dg_curve_nearest(f, v, b, 0, false);
    return dg_curve_at(f, curve, steps, true, 7 * DG_PRICE_ONE) / DG_PRICE_ONE;
}

/* Within 1/4096 cycle: slopes are rounded. */
static bool close_to(dg_price price, double cycles)
{
    dg_price wanted = dg_price_of(cycles);
    return price - wanted < 256 && wanted - price < 256;
}

Test(parts, cells)
{
    struct dg_arena arena;
    struct dg_view view;
    struct dg_family_cells f, panel, none;
    dg_arena_init(&arena);
    dg_view_init(&view, &profile, &arena, false);
    cr_assert(dg_cells_read(&view, "mix.turn.f32.256.", &f));
    cr_assert_eq(f.curve_count, 3);
    cr_assert_eq(view.read_count, 7);
    cr_assert_eq(turn_at(&f, 2, 6, 16), 98);
    cr_assert_eq(turn_at(&f, 2, 6, 72), 98 + 56 * 6);
    cr_assert_eq(turn_at(&f, 2, 6, 192), (770 + 1540) / 2);
    cr_assert_eq(turn_at(&f, 2, 6, 9), 98 - 7 * 6);
    cr_assert_eq(turn_at(&f, 10, 1, 26), 70 + 10 * 7);
    cr_assert_eq(turn_at(&f, 4, 1, 16), 60);      /* four accumulators, as 1 x 4 */
    cr_assert_eq(turn_at(&f, 11, 1, 16), 70);     /* eleven: nearer to 10 x 1 by vectors */
    cr_assert(dg_cells_read(&view, "mix.touch.panel.f32.256.", &panel));
    const struct dg_curve *plain = dg_curve_nearest(&panel, 3, 0, 0, true);
    const struct dg_curve *ahead = dg_curve_nearest(&panel, 3, 0, 1, true);
    cr_assert(plain != NULL && ahead != NULL && plain != ahead);
    static const struct { uint64_t kib; double price; } level[] = {
        { 50, 1 }, { 100, 1 }, { 200, 1.5 }, { 300, 2 }, { 3000, 2 },
    };
    for (size_t i = 0; i < sizeof level / sizeof *level; i++)
        cr_assert(close_to(dg_curve_at(&panel, plain, level[i].kib, false, 0), level[i].price));
    cr_assert_eq(dg_curve_at(&panel, ahead, 5000, false, 0), DG_PRICE_ONE / 2);
    cr_assert(dg_cells_read(&view, "mix.pass.f32.256.", &none));
    cr_assert_null(dg_curve_nearest(&none, 1, 1, 0, true));
    dg_arena_free(&arena);
}

/* A step of 6 x 2 on a chip with resources, and with rates only. */
Test(parts, steps)
{
    static const char *const fma[] = { "fma.f32.256:2" };
    static const char *const load[] = { "add.f32.256:1", "broadcast.f32.256:0.5",
                                        "load.f32.256:1", "store.f32.256:1" };
    static const char *const front[] = { "fma.f32.256:1", "load.f32.256:1",
                                         "broadcast.f32.256:1" };
#define LIST(key, l) \
    { key, { .kind = DG_VALUE_LIST, .list = l, .list_count = sizeof l / sizeof *l } }
    static const struct dg_entry with[] = {
        { "architecture", { .kind = DG_VALUE_TEXT, .text = "x86_64" } },
        NUMBER("op.fma.f32.256.per_cycle", 1), NUMBER("res.fma_unit.capacity", 2),
        LIST("res.fma_unit.users", fma), NUMBER("res.front.capacity", 2.5),
        LIST("res.front.users", front), NUMBER("res.load.capacity", 1),
        LIST("res.load.users", load),
    };
    static const struct dg_entry without[] = {
        { "architecture", { .kind = DG_VALUE_TEXT, .text = "x86_64" } },
        NUMBER("op.broadcast.f32.256.per_cycle", 0.5), NUMBER("op.fma.f32.256.per_cycle", 2),
        NUMBER("op.load.f32.256.per_cycle", 2),
    };
    static const struct { const struct dg_entry *entries; size_t count; unsigned rows, vectors;
                          double latency, step; const char *binding; } cases[] = {
        { with, 8, 6, 2, 4, 12, "fma_unit" },     /* 12 * 2 / 2 */
        { with, 8, 6, 2, 13, 13, "latency of the accumulator chain" },
        { with, 8, 12, 1, 4, 12, "fma_unit" },
        { with, 8, 1, 1, 0.5, 1.5, "load" },      /* 1 + 0.5 */
        { without, 4, 6, 2, 4, 13, "load" },      /* 6 / 0.5 + 2 / 2 */
        { without, 4, 1, 9, 4, 6.5, "load" },     /* 1 / 0.5 + 9 / 2 */
        { without, 4, 2, 2, 4, 5, "load" },
    };
    struct dg_body body;
    cr_assert(dg_body_for(dg_isa_by_name("x86_64-avx2"), DG_F32, NULL, 0, &body));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_profile p = { .entries = cases[i].entries, .entry_count = cases[i].count };
        struct dg_constants c = { .body = &body, .latency = dg_price_of(cases[i].latency) };
        struct dg_arena arena;
        struct dg_view view;
        const char *binding;
        dg_arena_init(&arena);
        dg_view_init(&view, &p, &arena, false);
        cr_assert(dg_resources_read(&view, &body, &c));
        dg_price step = dg_step_price(&c, (struct dg_tile){ cases[i].rows, cases[i].vectors },
                                      &binding);
        cr_assert(close_to(step, cases[i].step), "%zu: %f", i,
                  (double)step / (double)DG_PRICE_ONE);
        cr_assert_str_eq(binding, cases[i].binding);
        dg_arena_free(&arena);
    }
}

/* The width of issue is that of what every operation of a step takes, whatever its name. */
Test(parts, issue)
{
    static const char *const even[] = { "fma.f32.256:1", "load.f32.256:1", "broadcast.f32.256:1" };
    static const char *const uneven[] = { "fma.f32.256:1.05", "load.f32.256:1.05",
                                          "broadcast.f32.256:1.15", "add.i64.64:1.00" };
    static const char *const other[] = { "fma.f64.256:1", "load.f64.256:1",
                                         "broadcast.f64.256:1" };
    static const char *const some[] = { "fma.f32.256:1", "load.f32.256:1" };
    static const struct { struct dg_entry entry[4]; unsigned issue; } cases[] = {
        { { NUMBER("res.issue.capacity", 5), LIST("res.issue.users", even) }, 5 },
        { { NUMBER("res.f32_256_issue.capacity", 4.6), LIST("res.f32_256_issue.users", uneven) },
          4 },
        { { NUMBER("res.any.capacity", 0.2), LIST("res.any.users", even) }, 1 },
        { { NUMBER("res.issue.capacity", 1000), LIST("res.issue.users", even) }, 64 },
        { { NUMBER("res.issue.capacity", 5), LIST("res.issue.users", some) }, 0 },
        { { NUMBER("res.issue.capacity", 5), LIST("res.issue.users", other) }, 0 },
        { { NUMBER("res.a.capacity", 6), LIST("res.a.users", even),
            NUMBER("res.b.capacity", 3), LIST("res.b.users", uneven) }, 3 },
    };
    struct dg_body body;
    cr_assert(dg_body_for(dg_isa_by_name("x86_64-avx2"), DG_F32, NULL, 0, &body));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count = cases[i].entry[2].key != NULL ? 4 : 2;
        struct dg_profile p = { .entries = cases[i].entry, .entry_count = count };
        struct dg_constants c = { .body = &body };
        struct dg_arena arena;
        struct dg_view view;
        dg_arena_init(&arena);
        dg_view_init(&view, &p, &arena, false);
        dg_resources_read(&view, &body, &c);
        cr_expect_eq(c.issue, cases[i].issue, "%zu: %u", i, c.issue);
        dg_arena_free(&arena);
    }
}

Test(parts, numbers_that_do_not_fit)
{
    cr_assert_eq(dg_cost_times(UINT64_MAX, 5), DG_COST_MOST);
    cr_assert_eq(dg_cost_times(UINT64_MAX, -5), -DG_COST_MOST);
    cr_assert_eq(dg_cost_add(DG_COST_MOST, DG_COST_MOST), DG_COST_MOST);
    cr_assert_eq(dg_price_times(UINT64_MAX, INT64_MAX), DG_COST_MOST);
    cr_assert_eq(dg_price_times(3, DG_PRICE_ONE / 2), 1536);
    cr_assert_eq(dg_price_times(1, 1), 1);
    cr_assert_eq(dg_price_of(1e300), 1000000000000000);
    cr_assert_eq(dg_price_of(-1e300), -1000000000000000);
    cr_assert_eq(dg_price_of(0.5), DG_PRICE_ONE / 2);
    cr_assert_eq(dg_bytes_times(UINT64_MAX, 2), UINT64_MAX);
    cr_assert_eq(dg_bytes_add(UINT64_MAX, 2), UINT64_MAX);
}

static double intensity(uint64_t m, uint64_t n, uint64_t k)
{
    return (double)(m * n * k) / (double)(m * k + n * k + m * n);
}

/* Every m, n, k and tile, with the rules in words of their own. */
static double best_intensity(const struct dg_problem *p, const struct dg_constants *c)
{
    double best = 0;
    uint64_t lanes = c->body->lanes, wide = (p->n + lanes - 1) / lanes * lanes;
    for (unsigned r = 1; r <= p->m; r++)
        for (unsigned v = 1; v * lanes <= wide; v++) {
            if (!dg_tile_fits(p, c, (struct dg_tile){ r, v }))
                continue;
            for (uint64_t m = 1; m <= p->m; m++)
                for (uint64_t n = 1; n <= wide; n++)
                    for (uint64_t k = 1; k <= p->k; k++) {
                        bool fits = (m * k + n * k + m * n) * 4 <= c->l1_size;
                        bool whole = m % r == 0 && n % (v * lanes) == 0;
                        bool within = n <= p->n || n == v * lanes;
                        if (p->intensity_divides && (p->m % m || p->n % n || p->k % k))
                            continue;
                        if (fits && whole && within && intensity(m, n, k) > best)
                            best = intensity(m, n, k);
                    }
        }
    return best;
}

Test(parts, intensity)
{
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct small s;
        struct dg_fixed found[8];
        small_make(&s, seed);
        s.problem.tile_m = 0;
        s.problem.intensity_divides = seed % 2 > 0;
        s.c.l1_size = 600 + seed * 200;
        double best = best_intensity(&s.problem, &s.c);
        size_t count = dg_intensity_best(&s.problem, &s.c, found, 8);
        cr_assert_eq(count > 0, best > 0, "seed %d", (int)seed);
        for (size_t i = 0; i < count; i++) {
            uint64_t n = found[i].panels * found[i].tile.vectors * s.body.lanes;
            double got = intensity(found[i].mc, n, found[i].kc);
            cr_assert(got > best * 0.9999999 && got < best * 1.0000001, "seed %d", (int)seed);
            cr_assert_eq(found[i].mc % found[i].tile.rows, 0);
            cr_assert_leq((found[i].mc * found[i].kc + n * found[i].kc + found[i].mc * n) * 4,
                          s.c.l1_size);
        }
        small_free(&s);
    }
}
