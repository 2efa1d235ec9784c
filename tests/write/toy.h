/* SPDX-License-Identifier: Apache-2.0
 *
 * A small kernel by hand, for tests of the text that need no planner: one row of A times B with
 * one whole vector and three lanes of columns. Uses a saved scalar, a saved vector, a slot. */
#ifndef DG_TESTS_WRITE_TOY_H
#define DG_TESTS_WRITE_TOY_H

#include "emit/write/source.h"

enum { TOY_K = 5, TOY_PART = 3 };

struct toy {
    struct dg_problem problem;
    struct dg_plan plan;
    struct dg_term_value terms[2];
    struct dg_ir_item run_items[40], pack_items[8];
    struct dg_ir_code run, pack;
    struct dg_kernel kernel;
};
void toy_make(struct toy *toy, const char *isa, const char *name);

#endif
