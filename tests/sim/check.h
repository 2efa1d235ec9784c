/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_TESTS_SIM_CHECK_H
#define DG_TESTS_SIM_CHECK_H

#include "base/str.h"
#include "probes/run.h"
#include "tests/sim/chips.h"

/* Runs probes on a case; false: they could not run (e). NULL ids: the ones of every chip test. */
bool sim_run(const struct sim_case *c, uint64_t seed, const char *const *ids, size_t id_count,
             struct dg_arena *arena, struct dg_probe_result *out, struct dg_error *e);

/* Verdicts on the rows of truth.def. */
enum sim_verdict {
    SIM_RIGHT,                           /* also null where it cannot be known */
    SIM_UNKNOWN,                         /* null, with a reason, though it could be found out */
    SIM_DOUBTED,                         /* wrong, confidence at most 0.9 */
    SIM_WRONG,                           /* wrong and trusted, or null without a reason */
    SIM_VERDICTS
};
enum sim_verdict sim_judge(const struct dg_answers *answers, const char *key, double low,
                           double high, bool known);
enum { SIM_TRUTHS = 0
#define TRUTH(...) + 1
#include "tests/sim/truth.def"
#undef TRUTH
};
struct sim_score { unsigned count[SIM_TRUTHS][SIM_VERDICTS]; };
/* Adds up the verdicts and writes a line about each that is not right. */
void sim_check(const struct sim_case *c, const struct dg_answers *answers, struct sim_score *score,
               struct dg_str *report);
unsigned sim_total(const struct sim_score *score, enum sim_verdict verdict);
/* A line for each field that is not always right; all fields: `every`. */
void sim_print(const struct sim_score *score, bool every, struct dg_str *report);
/* Lines about discrete fields that have one value here and another there; how many. */
unsigned sim_differ(const struct dg_answers *here, const struct dg_answers *there,
                    struct dg_str *report);

#endif
