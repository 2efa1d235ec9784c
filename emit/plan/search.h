/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact search: boxes of the lattice are cut until they are points, and a box whose lower bound is
 * not below the best point is left out whole. Nothing else is left out. */
#ifndef DG_EMIT_PLAN_SEARCH_H
#define DG_EMIT_PLAN_SEARCH_H

#include "emit/plan/lattice.h"

struct dg_found {
    bool found;
    struct dg_box point;
    dg_cost cost;
    struct dg_simplicity simple;
};

struct dg_search_count { uint64_t points, priced; };

/* The cheapest plan, and the cheapest one with another tile (not `found` where there is none). */
bool dg_search_cheapest(const struct dg_space *s, struct dg_found *best, struct dg_found *other,
                        struct dg_search_count *count, struct dg_error *e);
/* Of all plans that cost at most `limit` the one whose tile loads least for a multiply, so asks
 * least of all that was not measured; then without prefetch, with the fewest tiles, the widest, in
 * the fewest loops. By cost only last, which is noise at this scale: two profiles of one chip shall
 * give one plan. */
bool dg_search_simplest(const struct dg_space *s, dg_cost limit, struct dg_found *best,
                        struct dg_search_count *count, struct dg_error *e);

#endif
