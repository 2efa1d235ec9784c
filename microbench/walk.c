/* SPDX-License-Identifier: Apache-2.0 */
#include "microbench/walk.h"

#include <stddef.h>

enum { SLICE_BYTES = 1 << 20, BEYOND_CACHES = 64 << 20 };

struct dg_walk dg_walk_over(uint64_t bytes, unsigned side, uint64_t step)
{
    bool sliced = bytes * side > 2 * SLICE_BYTES;
    return (struct dg_walk){.bytes = bytes, .side = side,
                            .slice = sliced ? SLICE_BYTES / side / step * step : 0};
}

bool dg_walk_on(struct dg_walk *walk, const struct dg_walk *before)
{
    if (before == NULL || walk->bytes * walk->side < BEYOND_CACHES ||
        walk->bytes != before->bytes || walk->side != before->side ||
        walk->slice != before->slice)
        return false;
    walk->at = before->at;
    return true;
}

void dg_walk_next(struct dg_walk *walk)
{
    walk->at = walk->at + 2 * walk->slice <= walk->bytes ? walk->at + walk->slice : 0;
}
