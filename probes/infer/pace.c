/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/pace.h"

#include <math.h>

#include "probes/infer/stats.h"

static const double LEAST_HZ = 1e6, STEP = 1e-3;

void dg_clocks_add(struct dg_clocks *clocks, double hz)
{
    double bin = hz > 0 ? round(log(hz / LEAST_HZ) / STEP) : -1;
    if (!(bin >= 0 && bin < DG_CLOCK_BINS))
        return;
    clocks->count[(size_t)bin]++;
    clocks->total++;
}

double dg_clocks_quantile(const struct dg_clocks *clocks, double part)
{
    double wanted = part * (double)clocks->total, sum = 0;
    if (clocks->total == 0)
        return 0;
    size_t bin = 0;
    for (; bin < DG_CLOCK_BINS - 1; bin++) {
        sum += clocks->count[bin];
        if (sum > 0 && sum >= wanted)
            break;
    }
    return LEAST_HZ * exp((double)bin * STEP);
}

static double clock_of(const struct dg_sample *slice)
{
    return slice->ns > 0 ? 1e9 * slice->cycles / slice->ns : 0;
}

bool dg_infer_ramp(const struct dg_sample *slice, size_t count, struct dg_ramp *out)
{
    enum { LEAST = 8, MOST = 64 };
    double late[MOST], at = 0;
    size_t kept = 0;
    if (count < LEAST || count > MOST)
        return false;
    for (size_t i = count / 2; i < count; i++)
        late[kept++] = clock_of(&slice[i]);
    struct dg_stat s = dg_stat_of(late, kept);
    /* whatever interrupts a slice makes it look slower, never faster */
    *out = (struct dg_ramp){ .first = clock_of(&slice[0]), .sustained = s.high, .low = s.low,
                             .high = s.max, .ns = slice[0].ns };
    /* as long as two slices in a row are slow: one alone was interrupted */
    for (size_t i = 0; i + 1 < count && fmax(clock_of(&slice[i]), clock_of(&slice[i + 1])) <
                                            0.99 * s.high; i++) {
        at += slice[i].ns;
        out->ns = at + slice[i + 1].ns;
    }
    return s.high > 0;
}
