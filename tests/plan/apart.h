/* SPDX-License-Identifier: Apache-2.0
 *
 * The model of a plan's cost a second time, for one plan and as plainly as can be, written apart
 * from emit/plan: what the searched optimum is checked against. */
#ifndef DG_TESTS_PLAN_APART_H
#define DG_TESTS_PLAN_APART_H

#include "emit/plan/lattice.h"

/* One point of the lattice in plain numbers. */
struct choice {
    unsigned rows, vectors;
    uint64_t kc, mc, panels;                      /* panels of an N block */
    bool tiles_outer, prefetch;
};

struct verdict {
    bool possible;
    dg_cost cost;
    uint32_t loads, bodies, reuse, vectors, loops;
    bool prefetch;
};

/* t: the tile's entry in the space, for the prices of its turns. */
struct verdict judge(const struct dg_space *s, const struct dg_tile_space *t,
                     const struct choice *c);

#endif
