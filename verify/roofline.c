/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/roofline.h"

#include <math.h>
#include <stddef.h>

static double cycles_for(uint64_t bytes, double bytes_per_cycle)
{
    return bytes_per_cycle > 0 ? (double)bytes / bytes_per_cycle : 0;
}

struct dg_roofline dg_roofline_of(const struct dg_manifest *manifest, double measured_cycles,
                                  double peak)
{
    struct dg_roofline out = {.of_peak = NAN, .of_roof = NAN};
    double operations = 2 * (double)manifest->problem.m * (double)manifest->problem.n
                      * (double)manifest->problem.k;
    if (!(measured_cycles > 0) || !(peak > 0))
        return out;
    double compute = operations / peak;
    /* The port bound of the plan exceeds pure compute where loads from L1 bind. */
    struct { const char *limit; double cycles; } roofs[] = {
        {"compute", compute},
        {"l1", manifest->predicted.bound > 1.005 * compute ? manifest->predicted.bound : 0},
        {"l2", cycles_for(manifest->traffic.l2_bytes, manifest->roofs.l2)},
        {"l3", cycles_for(manifest->traffic.l3_bytes, manifest->roofs.l3)},
        {"dram", cycles_for(manifest->traffic.dram_bytes, manifest->roofs.dram)},
    };
    size_t binding = 0;
    for (size_t i = 1; i < sizeof roofs / sizeof *roofs; i++)
        if (roofs[i].cycles > roofs[binding].cycles)
            binding = i;
    out.of_peak = compute / measured_cycles;
    out.of_roof = roofs[binding].cycles / measured_cycles;
    out.limit = roofs[binding].limit;
    out.inconsistent = out.of_peak > DG_PEAK_TOLERANCE;
    return out;
}
