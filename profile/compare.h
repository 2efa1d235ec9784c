/* SPDX-License-Identifier: Apache-2.0
 *
 * Two profiles of one chip, or of two. */
#ifndef DG_PROFILE_COMPARE_H
#define DG_PROFILE_COMPARE_H

#include "base/arena.h"
#include "base/str.h"
#include "profile/profile.h"

struct dg_difference {
    const char *key;
    const struct dg_value *a, *b;        /* NULL: absent or null */
    bool discrete;                       /* must agree in two runs on one chip */
    double relative;                     /* |a - b| / the larger; 0 for discrete values */
    bool conflict;                       /* discrete, both known, and not equal */
};

/* The keys whose values differ, in strcmp order. False: no memory. */
bool dg_profile_compare(const struct dg_profile *a, const struct dg_profile *b,
                        struct dg_arena *arena, struct dg_difference **out, size_t *count);
/* One line for each difference of more than `tolerance` or in a discrete value. */
void dg_compare_print(const struct dg_difference *differences, size_t count, double tolerance,
                      struct dg_str *out);

#endif
