/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan/intensity.h"

struct best {
    uint64_t m, n, k;            /* intensity: mnk / (mk + nk + mn) */
    struct dg_fixed *out;
    size_t count, most;
};

static uint64_t surface(uint64_t m, uint64_t n, uint64_t k)
{
    return m * k + n * k + m * n;
}

/* Above 0: the new block is better; 0: equal. */
static int compare(const struct best *best, uint64_t m, uint64_t n, uint64_t k)
{
    dg_u128 there = (dg_u128)m * n * k * surface(best->m, best->n, best->k);
    dg_u128 here = (dg_u128)best->m * best->n * best->k * surface(m, n, k);
    return there > here ? 1 : there == here ? 0 : -1;
}

static void offer(struct best *best, struct dg_tile tile, uint64_t panels, uint64_t m, uint64_t n,
                  uint64_t k)
{
    int order = best->count == 0 ? 1 : compare(best, m, n, k);
    if (order < 0)
        return;
    if (order > 0) {
        best->count = 0;
        best->m = m;
        best->n = n;
        best->k = k;
    }
    if (best->count < best->most)
        best->out[best->count++] = (struct dg_fixed){ tile, k, m, panels };
}

/* The most k that fits beside m x n, since intensity only rises with it; 0: none. */
static uint64_t longest(const struct dg_problem *p, uint64_t room, uint64_t m, uint64_t n)
{
    if (m * n >= room)
        return 0;
    uint64_t k = (room - m * n) / (m + n);
    k = k < p->k ? k : p->k;
    while (p->intensity_divides && k > 0 && p->k % k != 0)
        k--;
    return k;
}

static bool divides(const struct dg_problem *p, uint64_t part, uint64_t whole)
{
    return !p->intensity_divides || (part > 0 && whole % part == 0);
}

static void search_tile(const struct dg_problem *p, uint64_t room, struct dg_tile tile,
                        uint64_t width, struct best *best)
{
    for (uint64_t m = tile.rows; m <= p->m && m < room; m += tile.rows) {
        if (!divides(p, m, p->m))
            continue;
        for (uint64_t panels = 1; panels == 1 || panels * width <= p->n; panels++) {
            uint64_t n = panels * width;
            if (m * n >= room)                   /* soon: room is what L1 holds */
                break;
            uint64_t k = divides(p, n, p->n) ? longest(p, room, m, n) : 0;
            if (k > 0)
                offer(best, tile, panels, m, n, k);
        }
    }
}

static bool is_wanted(const struct dg_problem *p, struct dg_tile tile, uint64_t width)
{
    return (p->tile_m == 0 || p->tile_m == tile.rows) && (p->tile_n == 0 || p->tile_n == width);
}

size_t dg_intensity_best(const struct dg_problem *problem, const struct dg_constants *c,
                         struct dg_fixed *out, size_t most)
{
    struct best best = { .out = out, .most = most };
    unsigned lanes = c->body->lanes;
    uint64_t room = c->l1_size / c->body->c_bytes;
    uint64_t vectors = dg_ceil_div(problem->n, lanes);
    for (unsigned r = 1; r < DG_TILE_MOST && r <= problem->m; r++)
        for (unsigned v = 1; v < DG_TILE_MOST && v <= vectors; v++) {
            struct dg_tile tile = { r, v };
            uint64_t width = (uint64_t)v * lanes;
            if (is_wanted(problem, tile, width) && dg_tile_fits(problem, c, tile))
                search_tile(problem, room, tile, width, &best);
        }
    return best.count;
}
