/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan without the planner: one block, tiles of a fixed size. */
#ifndef DG_TESTS_WRITE_HAND_H
#define DG_TESTS_WRITE_HAND_H

#include "emit/plan/plan.h"

struct hand {
    struct dg_problem problem;
    struct dg_profile profile;
    struct dg_plan_result plan;
    struct dg_entry entries[2];
    struct dg_value latency;
};
/* `k_blocks` equal blocks of K but for the last. */
void hand_make(struct hand *hand, const char *isa, const char *name, uint64_t m, uint64_t n,
               uint64_t k, unsigned k_blocks, struct dg_arena *arena);

#endif
