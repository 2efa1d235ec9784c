/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/beside.h"

#include <math.h>

/* What is nearly never seen is an accident, and what is nearly always seen has missed by one. */
static const double hardly = 0.2, mostly = 0.5, always = 0.85;

enum dg_adjacent dg_infer_adjacent(const struct dg_beside *b)
{
    double paired = fmin(b->even_next, b->odd_before);
    double others = fmax(b->even_before, b->odd_next);
    bool next = fmin(b->even_next, b->odd_next) > mostly;
    bool before = fmin(b->even_before, b->odd_before) > mostly;
    if (fmax(fmax(b->even_next, b->odd_before), others) < hardly)
        return DG_ADJACENT_NONE;
    if (paired > always && others < hardly)
        return DG_ADJACENT_PAIR;
    if (next && before)
        return DG_ADJACENT_BOTH;
    return next ? DG_ADJACENT_NEXT : before ? DG_ADJACENT_BEFORE : DG_ADJACENT_SOMETIMES;
}

bool dg_infer_lines_part(const struct dg_beside *b)
{
    return fmin(b->even_next, b->odd_before) < 0.75;
}
