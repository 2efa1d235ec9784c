/* SPDX-License-Identifier: Apache-2.0
 *
 * Orders of chases. All return an array of the context's scratch arena, or NULL without memory. */
#ifndef DG_PROBES_ORDERS_H
#define DG_PROBES_ORDERS_H

#include "probes/context.h"

/* `count` offsets `stride` apart, shuffled. */
uint32_t *dg_order_strided(struct dg_context *ctx, size_t count, uint32_t stride);
/* Every line of [0, bytes), shuffled. */
uint32_t *dg_order_lines(struct dg_context *ctx, uint64_t bytes, uint32_t line, size_t *count);
/* At most `count` distinct lines of [from, to), spread evenly, shuffled. */
uint32_t *dg_order_sample(struct dg_context *ctx, uint64_t from, uint64_t to, uint32_t line,
                          size_t *count);
/* Pairs: a load at each block, then one `distance` behind it; blocks shuffled. */
uint32_t *dg_order_pairs(struct dg_context *ctx, size_t blocks, uint32_t block, uint32_t distance);

#endif
