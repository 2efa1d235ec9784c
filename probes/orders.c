/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/orders.h"

uint32_t *dg_order_strided(struct dg_context *ctx, size_t count, uint32_t stride)
{
    uint32_t *order = dg_alloc_array(ctx->scratch, count + 1, sizeof *order);
    for (size_t i = 0; order != NULL && i < count; i++)
        order[i] = (uint32_t)i * stride;
    if (order != NULL)
        dg_shuffle(ctx, order, count);
    return order;
}

uint32_t *dg_order_lines(struct dg_context *ctx, uint64_t bytes, uint32_t line, size_t *count)
{
    *count = (size_t)(bytes / line);
    return dg_order_strided(ctx, *count, line);
}

uint32_t *dg_order_sample(struct dg_context *ctx, uint64_t from, uint64_t to, uint32_t line,
                          size_t *count)
{
    uint64_t lines = (to - from) / line;
    if (*count > lines / 2)
        *count = (size_t)(lines / 2);
    uint32_t *order = dg_alloc_array(ctx->scratch, *count + 1, sizeof *order);
    for (size_t i = 0; order != NULL && i < *count; i++) {
        /* one line at random out of each of `count` equal parts: distinct, and evenly spread */
        uint64_t low = lines * i / *count, high = lines * (i + 1) / *count;
        order[i] = (uint32_t)(from + (low + dg_random(ctx) % (high - low)) * line);
    }
    if (order != NULL)
        dg_shuffle(ctx, order, *count);
    return order;
}

uint32_t *dg_order_pairs(struct dg_context *ctx, size_t blocks, uint32_t block, uint32_t distance)
{
    uint32_t *order = dg_alloc_array(ctx->scratch, 2 * blocks + 1, sizeof *order);
    uint32_t *base = dg_order_strided(ctx, blocks, block);
    if (order == NULL || base == NULL)
        return NULL;
    for (size_t i = 0; i < blocks; i++) {
        order[2 * i] = base[i];
        order[2 * i + 1] = base[i] + distance;
    }
    return order;
}
