/* SPDX-License-Identifier: Apache-2.0
 *
 * What the commands of deepgemm-gen share. */
#ifndef DG_CLI_GEN_H
#define DG_CLI_GEN_H

#include "cli/options.h"
#include "emit/plan/plan.h"
#include "emit/problem/problem.h"
#include "profile/profile.h"

/* Reads and joins what the options of gen_problem.def name, and plans; warnings about the profile
 * go to stderr. Everything lives in options->arena. */
struct dg_gen_input {
    struct dg_problem problem;
    struct dg_profile profile;
    bool strict;
    struct dg_plan_result plan;
};
bool dg_gen_plan(const struct dg_options *options, struct dg_gen_input *out, struct dg_error *e);

#endif
