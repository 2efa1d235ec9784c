/* SPDX-License-Identifier: Apache-2.0
 *
 * What the profile says about the roofs over a plan, for those who compare with them later. It has
 * no part in what the plan is, but stands in the kernel's manifest: it is recorded as read like all
 * that the kernel's files are made from. */
#ifndef DG_EMIT_PLAN_ROOFS_H
#define DG_EMIT_PLAN_ROOFS_H

#include "emit/plan/plan.h"

struct dg_roofs {
    const char *profile;             /* its name, or NULL */
    const char *chip[3];             /* vendor, family, model it was measured on; NULL: unknown */
    double l1, l2, l3, dram;         /* bytes per core cycle, one core; 0: unknown */
};
void dg_plan_roofs(const struct dg_plan *plan, struct dg_view *view, struct dg_roofs *out);

#endif
