/* SPDX-License-Identifier: Apache-2.0
 *
 * The third ruler: measured cycles against what the chip could do at best. Pure. */
#ifndef DG_VERIFY_ROOFLINE_H
#define DG_VERIFY_ROOFLINE_H

#include <stdbool.h>

#include "emit/write/manifest.h"

#define DG_PEAK_TOLERANCE 1.02   /* more than this share of the peak is an inconsistency */

struct dg_roofline {
    double of_peak, of_roof;     /* NaN: not known */
    const char *limit;           /* the roof that is lowest: "compute", "l1", "l2", "l3", "dram" */
    bool inconsistent;
};

/* `peak`: operations a cycle, two for each multiply-add. */
struct dg_roofline dg_roofline_of(const struct dg_manifest *manifest, double measured_cycles,
                                  double peak);

#endif
