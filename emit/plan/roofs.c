/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan/roofs.h"

/* Bytes per core cycle: the cell, or the scalar that stands in for it, GB/s at the plan's clock. No
 * default: a roof that nobody measured is none. */
static double bandwidth(struct dg_view *view, const char *cell, const char *scalar,
                        bool cell_in_cycles, double clock_hz)
{
    double value;
    bool has_cell = dg_view_cell(view, cell, &value) && value > 0;
    if (has_cell && cell_in_cycles)
        return value;
    if (!has_cell && (scalar == NULL || !dg_view_cell(view, scalar, &value) || value <= 0))
        return 0;
    return clock_hz > 0 ? value * 1e9 / clock_hz : 0;
}

static const char *fact(const struct dg_profile *profile, const char *key)
{
    const struct dg_value *value = dg_profile_fact(profile, key);
    return value != NULL && value->kind == DG_VALUE_TEXT && value->text[0] != '\0' ? value->text
                                                                                 : NULL;
}

void dg_plan_roofs(const struct dg_plan *plan, struct dg_view *view, struct dg_roofs *out)
{
    double clock = (double)plan->clock_hz;
    out->profile = dg_profile_text(view->profile, "name");
    out->chip[0] = fact(view->profile, "vendor");
    out->chip[1] = fact(view->profile, "family");
    out->chip[2] = fact(view->profile, "model");
    out->l1 = bandwidth(view, "bw.l1.read.1", NULL, true, clock);
    out->l2 = bandwidth(view, "bw.l2.read.1", "l1_to_l2_bandwidth_gbps", true, clock);
    out->l3 = bandwidth(view, "bw.l3.read.1", NULL, false, clock);
    out->dram = bandwidth(view, "bw.dram.read.1", "l2_to_dram_bandwidth_gbps", false, clock);
}
