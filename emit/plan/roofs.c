/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan/roofs.h"

/* Bytes per core cycle: the cell, or the scalar that stands in for it, GB/s at the plan's clock. */
static double bandwidth(const struct dg_profile *profile, const char *cell, const char *scalar,
                        bool cell_in_cycles, double clock_hz)
{
    double value = dg_profile_number(profile, cell, 0);
    bool in_cycles = value > 0 && cell_in_cycles;
    if (value <= 0 && scalar != NULL)
        value = dg_profile_number(profile, scalar, 0);
    if (value <= 0 || in_cycles)
        return value > 0 ? value : 0;
    return clock_hz > 0 ? value * 1e9 / clock_hz : 0;
}

void dg_plan_roofs(const struct dg_plan *plan, const struct dg_view *view, struct dg_roofs *out)
{
    const struct dg_profile *profile = view->profile;
    double clock = (double)plan->clock_hz;
    out->profile = dg_profile_text(profile, "name");
    out->l1 = bandwidth(profile, "bw.l1.read.1", NULL, true, clock);
    out->l2 = bandwidth(profile, "bw.l2.read.1", "l1_to_l2_bandwidth_gbps", true, clock);
    out->l3 = bandwidth(profile, "bw.l3.read.1", NULL, false, clock);
    out->dram = bandwidth(profile, "bw.dram.read.1", "l2_to_dram_bandwidth_gbps", false, clock);
}
