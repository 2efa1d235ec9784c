/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of deepgemm-probe. */
#ifndef DG_CLI_PROBE_H
#define DG_CLI_PROBE_H

#include "cli/options.h"
#include "profile/profile.h"

/* cli/probe_run.c: measures; the command `run`. */
bool dg_probe_command_run(const struct dg_options *options, struct dg_error *e);

/* cli/probe_summary.c: one screen about a profile. */
void dg_probe_summary(const struct dg_profile *profile);

#endif
