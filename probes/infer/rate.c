/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/rate.h"

#include <math.h>

struct dg_rate dg_infer_rate(const struct dg_sweep *s)
{
    struct dg_rate out = { 0 };
    for (size_t i = 0; i < s->count; i++)
        if (s->cycles[i] > 0)
            out.per_cycle = fmax(out.per_cycle, 1 / s->cycles[i]);
    for (size_t i = 0; i < s->count; i++)
        if (s->cycles[i] > 0 && 1 / s->cycles[i] >= 0.97 * out.per_cycle &&
            (out.chains == 0 || s->chains[i] < out.chains))
            out.chains = s->chains[i];
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
