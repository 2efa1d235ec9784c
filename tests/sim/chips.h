/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated chips and what a probe must find out about each. */
#ifndef DG_TESTS_SIM_CHIPS_H
#define DG_TESTS_SIM_CHIPS_H

#include "tests/sim/sim.h"

/* One expected answer. The value may differ by `tolerance` (relative). `may_be_unknown`: no value,
 * or one of low confidence, is right too; a wrong one that is trusted never is. */
struct sim_truth {
    const char *key;
    double value, tolerance;
    bool may_be_unknown;
};

enum { SIM_TRUTHS = 20 };

struct sim_case {
    const char *title;
    struct sim_chip chip;
    struct sim_trouble trouble;
    struct sim_truth truth[SIM_TRUTHS];  /* up to the first without key */
    const char *unknown[4];              /* keys that must have no value */
    bool whole;                          /* run all, not only what --quick does */
};
extern const struct sim_case sim_cases[];
extern const size_t sim_case_count;

#endif
