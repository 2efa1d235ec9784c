/* SPDX-License-Identifier: Apache-2.0
 *
 * Prices from cells: turns of a tile, its streams, its lines. Inner to emit/plan. */
#ifndef DG_EMIT_PLAN_PRICE_H
#define DG_EMIT_PLAN_PRICE_H

#include "emit/plan/lattice.h"

/* The turns and passes of a tile at every block of K. False: out of memory. */
bool dg_column_fill(const struct dg_space *s, struct dg_tile tile, struct dg_column *out);
/* The same of a tile along K, whose steps count among its turns: `step` is 0. Where a block of K is
 * no whole number of its steps it has none: DG_COST_MOST. */
bool dg_along_fill(const struct dg_space *s, struct dg_along tile, struct dg_column *out);
/* Whether the chip reorders by itself: some turn that was measured with every load just before its
 * multiplies takes no more than its resources do. False without turns, too. */
bool dg_reorders(const struct dg_constants *c);
/* What lines cost the tile, wherever they are found from call to call. */
void dg_touches_fill(const struct dg_space *s, struct dg_tile_space *t);
/* The price of one operation on the resource that has most to do with it. */
dg_price dg_dearest(const struct dg_constants *c, enum dg_part_op part);
/* From the leaves, which are filled, to the ranges above them. */
void dg_spread_least(const struct dg_sizes *sizes, dg_cost *by_range);

#endif
