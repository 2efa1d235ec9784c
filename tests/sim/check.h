/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_TESTS_SIM_CHECK_H
#define DG_TESTS_SIM_CHECK_H

#include "base/str.h"
#include "probes/run.h"
#include "tests/sim/chips.h"

/* Runs probes on a case; false: they could not run (e). NULL ids: the ones of every chip test. */
bool sim_run(const struct sim_case *c, uint64_t seed, const char *const *ids, size_t id_count,
             struct dg_arena *arena, struct dg_probe_result *out, struct dg_error *e);
/* Lines about what is not as the truth says; how many. */
unsigned sim_check(const struct sim_case *c, const struct dg_answers *answers,
                   struct dg_str *report);

#endif
