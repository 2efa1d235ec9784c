/* SPDX-License-Identifier: Apache-2.0
 *
 * What the planner's tests share: profiles of tests/profiles, problems, random spaces. */
#ifndef DG_TESTS_PLAN_SETTING_H
#define DG_TESTS_PLAN_SETTING_H

#include "emit/plan/search.h"

/* A file of tests/profiles or examples, by path from the root of the source tree. */
void load(const char *path, struct dg_arena *arena, struct dg_profile *out);

struct dg_problem product(uint64_t m, uint64_t n, uint64_t k);

/* A small deterministic generator; below(s, n) gives 0 .. n - 1. */
uint64_t below(uint64_t *state, uint64_t n);

/* A lattice over a made-up chip: the cells of a profile, caches so small that every trade-off is
 * met at sizes that can be enumerated. */
struct small {
    struct dg_arena arena;
    struct dg_profile profile;
    struct dg_view view;
    struct dg_body body;
    struct dg_constants c;
    struct dg_problem problem;
    struct dg_space space;
};
void small_make(struct small *s, uint64_t seed);
/* The same problem again, after a change of s->c. */
void small_again(struct small *s);
void small_free(struct small *s);

/* A random box: down from the root, each list on its own. */
struct dg_box random_box(const struct dg_space *s, uint64_t *state);
/* A random point of a box. */
struct dg_box random_point(const struct dg_space *s, struct dg_box box, uint64_t *state);

#endif
