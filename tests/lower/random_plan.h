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
/* A dtype that the ISA has; sizes 1..limit (k from 0, sometimes to 8 times that), leading
 * dimensions up to 5 more, sometimes far more. */
void random_case(struct random *random, const struct dg_isa *isa, uint64_t limit,
                 struct random_case *out);

/* Operands of a case and the C that they must give, bit for bit, gaps between rows included. */
struct random_operands {
    unsigned char *a, *b, *c, *wanted;
    unsigned char *packed;                 /* as NAME_pack_b left it; NULL: B is row-major */
    uint64_t a_size, b_size, c_size;       /* bytes, up to the last element */
};
/* Packs B by NAME_pack_b where the layout is packed, and checks the panels. */
bool random_prepare(const struct random_case *test, const struct dg_lowered *lowered,
                    struct random *random, struct dg_arena *arena, struct random_operands *out,
                    char message[512]);
/* Runs `kernel` on a copy of C and compares. run->region is filled here. *message: what differs. */
bool random_run(const struct random_case *test, const struct dg_lowered *lowered,
                const struct random_operands *data, const struct dg_ir_code *kernel,
                struct dg_ir_run *run, struct dg_arena *arena, char message[512]);

#endif
