/* SPDX-License-Identifier: Apache-2.0
 *
 * Random problems with random plans, not only those that the planner would choose, and a run of
 * the lowered code in the interpreter against a plain reference. */
#ifndef DG_TESTS_LOWER_RANDOM_PLAN_H
#define DG_TESTS_LOWER_RANDOM_PLAN_H

#include "emit/ir/interpret.h"
#include "emit/lower/lower.h"

struct random { uint64_t state; };
uint64_t random_next(struct random *random);
/* low .. high, both included */
uint64_t random_in(struct random *random, uint64_t low, uint64_t high);

struct random_case {
    struct dg_problem problem;
    struct dg_plan plan;
    char text[256];                        /* what it is, for messages */
};
/* Sizes 1..limit (k from 0), leading dimensions up to 5 more. */
void random_case(struct random *random, const struct dg_isa *isa, uint64_t limit,
                 struct random_case *out);

/* Packs B by NAME_pack_b where the layout is packed, runs the kernel, compares every element of C
 * (and the gaps between its rows) bit for bit. *message: what differs. */
bool random_check(const struct random_case *test, const struct dg_lowered *lowered,
                  struct random *random, struct dg_arena *arena, char message[512]);

#endif
