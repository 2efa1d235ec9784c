/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/rate.h"

#include <math.h>

/* A count is clear when all smaller ones stay well below: where rates creep up to the best one,
 * noise would choose. */
struct dg_rate dg_infer_rate(const struct dg_sweep *s)
{
    const double reached = 0.97, below = 0.92;
    struct dg_rate out = { 0 };
    double before = 0;
    size_t first = s->count;
    for (size_t i = 0; i < s->count; i++)
        if (s->cycles[i] > 0)
            out.per_cycle = fmax(out.per_cycle, 1 / s->cycles[i]);
    for (size_t i = 0; i < s->count; i++)
        if (s->cycles[i] > 0 && 1 / s->cycles[i] >= reached * out.per_cycle &&
            (first == s->count || s->chains[i] < s->chains[first]))
            first = i;
    for (size_t i = 0; i < s->count; i++)
        if (s->cycles[i] > 0 && s->chains[i] < s->chains[first])
            before = fmax(before, 1 / s->cycles[i]);
    if (first < s->count && before <= below * out.per_cycle)
        out.chains = s->chains[first];
    return out;
}

/* Units take a whole cycle at least; some add two dependent ones in one, which gives 0.5. */
enum dg_latency dg_infer_latency(double chain_cycles)
{
    const double least = 0.4, near = 0.01;
    if (chain_cycles < least)
        return DG_LATENCY_NONE;
    double whole = round(chain_cycles);
    return fabs(chain_cycles - whole) <= near * chain_cycles ? DG_LATENCY_WHOLE
                                                             : DG_LATENCY_BROKEN;
}
