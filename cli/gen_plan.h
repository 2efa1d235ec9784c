/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_CLI_GEN_PLAN_H
#define DG_CLI_GEN_PLAN_H

#include "cli/gen.h"

/* `deepgemm-gen plan`: prints the plan on stdout, as text (every term, what binds, the runner-up,
 * the gap, what was read and assumed) or as JSON. */
bool dg_cli_gen_plan(const struct dg_gen_input *in, bool json, struct dg_error *e);
/* Prints the plan for the profile beside the plan for a changed one: profile/change.h says how
 * `settings` are written. */
bool dg_cli_gen_what_if(const struct dg_gen_input *in, const char *settings, bool json,
                        struct dg_error *e);

#endif
