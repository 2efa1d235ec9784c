/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/tlb.h"

#include <math.h>

#include "probes/infer/stats.h"

/* Less than this is no translation: a hit in any second level costs several cycles, and a chase in
 * L1 repeats within hundredths. One set that is full in a TLB of many still shows. */
static const double nothing = 0.25;

static size_t first_above(const struct dg_tlb_reach *r, size_t from, double extra)
{
    size_t i = from;
    while (i < r->count && r->extra[i] <= extra)
        i++;
    return i;
}

/* Median over the pages in [low, high]; 0: none was looked at. */
static double middle(const struct dg_tlb_reach *r, double low, double high)
{
    enum { MOST = 64 };
    double values[MOST];
    size_t count = 0;
    for (size_t i = 0; i < r->count && count < MOST; i++)
        if (r->pages[i] >= low && r->pages[i] <= high)
            values[count++] = r->extra[i];
    return count == 0 ? 0 : dg_stat_of(values, count).median;
}

struct dg_tlb dg_infer_tlb(const struct dg_tlb_reach *r)
{
    const double flat = 1.3, step = 1.5;
    struct dg_tlb out = { 0 };
    size_t i = first_above(r, 0, nothing);
    if (i == 0 || i == r->count)
        return out;
    out.first = r->pages[i - 1];
    out.first_next = r->pages[i];
    /* all of them miss from twice the entries on, whatever the replacement is */
    double cost = middle(r, 2.0 * out.first, 4.0 * out.first);
    if (cost <= nothing)
        return out;
    size_t j = first_above(r, i, fmax(flat * cost, cost + 1));
    double flat_to = r->pages[j - 1];
    if (flat_to < 4.0 * out.first)
        return out;
    out.cost = middle(r, 2.0 * out.first, 0.7 * flat_to);
    if (j == r->count)
        return out;
    double last = r->extra[r->count - 1];
    if (last < step * cost || r->pages[r->count - 1] < step * flat_to)
        return out;
    out.second = r->pages[j - 1];
    size_t half = first_above(r, j, (cost + last) / 2);
    out.second_next = r->pages[half < r->count ? half : r->count - 1];
    out.walk = middle(r, step * out.second, r->pages[r->count - 1]);
    return out;
}
