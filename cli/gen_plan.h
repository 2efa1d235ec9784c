/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_CLI_GEN_PLAN_H
#define DG_CLI_GEN_PLAN_H

#include <stdbool.h>

#include "base/error.h"
#include "emit/plan/plan.h"
#include "emit/problem/problem.h"

/* `deepgemm-gen plan`: plans and prints on stdout, as text (every term, what binds, the runner-up,
 * the gap, what was read and assumed) or as JSON. */
bool dg_cli_gen_plan(const struct dg_problem *problem, const struct dg_profile *profile,
                     bool strict, bool json, struct dg_error *e);

#endif
