/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan/lattice.h"

/* The next larger size with fewer blocks. */
static uint64_t next_size(uint64_t extent, uint64_t size)
{
    if (size >= DG_SIZES_MOST && extent / size > DG_SIZES_MOST)
        return dg_ceil_div(extent, DG_SIZES_MOST);
    return dg_ceil_div(extent, dg_ceil_div(extent, size) - 1);
}

/* Where to cut low..high, which are not equal. */
static uint32_t middle(const uint64_t *size, uint32_t low, uint32_t high)
{
    uint64_t square = size[low] * size[high];
    uint32_t from = low, to = high - 1;
    while (from < to) {
        uint32_t at = from + (to - from) / 2 + 1;
        if (size[at] * size[at] <= square)
            from = at;
        else
            to = at - 1;
    }
    return from;
}

static void grow(const uint64_t *size, struct dg_range *range, uint32_t count)
{
    uint32_t used = 1;
    range[0] = (struct dg_range){ 0, count - 1, 0, 0 };
    for (uint32_t i = 0; i < used; i++) {
        if (range[i].low == range[i].high)
            continue;
        uint32_t at = middle(size, range[i].low, range[i].high);
        range[i].left = used;
        range[used++] = (struct dg_range){ range[i].low, at, 0, 0 };
        range[i].right = used;
        range[used++] = (struct dg_range){ at + 1, range[i].high, 0, 0 };
    }
}

bool dg_sizes_make(struct dg_arena *arena, uint64_t extent, struct dg_sizes *out)
{
    uint32_t count = 1;
    for (uint64_t size = 1; size < extent; size = next_size(extent, size))
        count++;
    uint64_t *sizes = dg_alloc_array(arena, count, sizeof *sizes);
    struct dg_range *ranges = dg_alloc_array(arena, 2 * (size_t)count - 1, sizeof *ranges);
    if (sizes == NULL || ranges == NULL)
        return false;
    sizes[0] = extent < 1 ? extent : 1;
    for (uint32_t i = 1; i < count; i++)
        sizes[i] = next_size(extent, sizes[i - 1]);
    grow(sizes, ranges, count);
    *out = (struct dg_sizes){ sizes, count, ranges, 2 * count - 1 };
    return true;
}

bool dg_sizes_one(struct dg_arena *arena, uint64_t size, struct dg_sizes *out)
{
    uint64_t *sizes = dg_alloc_array(arena, 1, sizeof *sizes);
    struct dg_range *ranges = dg_alloc_array(arena, 1, sizeof *ranges);
    if (sizes == NULL || ranges == NULL)
        return false;
    sizes[0] = size;
    *out = (struct dg_sizes){ sizes, 1, ranges, 1 };
    return true;
}

uint32_t dg_sizes_leaf(const struct dg_sizes *sizes, uint32_t index)
{
    uint32_t at = 0;
    while (sizes->range[at].low != sizes->range[at].high) {
        const struct dg_range *range = &sizes->range[at];
        at = index <= sizes->range[range->left].high ? range->left : range->right;
    }
    return at;
}

/* rest rows as out[0] tiles of `first` rows and out[1] of *second, as few tiles as can be. Where
 * *second is 0 it is free: b tiles that together lack d rows have first - d / b of them, so b is a
 * divisor of d, the largest there is. */
static bool split_rest(uint64_t rest, uint32_t first, uint32_t *second, uint32_t out[2])
{
    uint64_t tiles = dg_ceil_div(rest, first), lacking = tiles * first - rest;
    uint64_t smaller = lacking < tiles ? lacking : tiles;
    if (*second != 0)                             /* first - 1: each lacks one */
        smaller = lacking;
    else
        while (smaller > 1 && lacking % smaller != 0)
            smaller--;
    if (smaller > tiles)
        return false;
    if (*second == 0 && smaller > 0)
        *second = first - (uint32_t)(lacking / smaller);
    out[0] = (uint32_t)(tiles - smaller);
    out[1] = (uint32_t)smaller;
    return true;
}

struct dg_row_plan dg_rows_split(uint64_t m, uint64_t block, uint32_t rows)
{
    struct dg_row_plan plan = { 0 };
    uint64_t tiles = dg_ceil_div(block, rows), blocks = dg_ceil_div(m, block);
    uint32_t first = (uint32_t)dg_ceil_div(block, tiles);
    uint64_t short_by = first * tiles - block;    /* tiles that have a row less */
    uint32_t second = short_by > 0 ? first - 1 : 0;
    if (first != rows || tiles > UINT32_MAX)
        return plan;
    plan.full[0] = (uint32_t)(tiles - short_by);
    plan.full[1] = (uint32_t)short_by;
    uint64_t rest = m - (blocks - 1) * block;
    if (rest == block) {
        plan.last[0] = plan.full[0];
        plan.last[1] = plan.full[1];
    } else if (!split_rest(rest, first, &second, plan.last)) {
        return plan;
    }
    plan.possible = true;
    plan.size[0] = first;
    plan.size[1] = second;
    for (int i = 0; i < 2; i++)
        plan.count[i] = (blocks - 1) * plan.full[i] + plan.last[i];
    return plan;
}
