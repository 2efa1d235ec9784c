/* SPDX-License-Identifier: Apache-2.0
 *
 * Two profiles, value by value: of one chip measured twice, or of two chips. */
#ifndef DG_PROFILE_COMPARE_H
#define DG_PROFILE_COMPARE_H

#include "base/arena.h"
#include "base/str.h"
#include "profile/profile.h"

enum dg_verdict {
    DG_IMPROVED, DG_WORSE,               /* beyond intervals and noise */
    DG_CHANGED,                          /* beyond them, where more is neither better nor worse */
    DG_DIFFERS,                          /* discrete and not equal: never on one chip */
    DG_WITHIN_NOISE,                     /* equal, or intervals and noise cover it */
    DG_INCOMPARABLE,                     /* one of them has no value */
    DG_VERDICT_COUNT
};
extern const char *const dg_verdict_names[DG_VERDICT_COUNT];

struct dg_difference {
    const char *key, *unit;
    const struct dg_value *a, *b;        /* NULL: absent or null */
    double change;                       /* (b - a) / a of numbers; 0 where there is none */
    enum dg_verdict verdict;
    const char *why;                     /* of DG_INCOMPARABLE: what the file without it says */
};

struct dg_comparison {
    struct dg_difference *row;           /* keys that either knows, in strcmp order */
    size_t count;
    size_t of[DG_VERDICT_COUNT];
};

/* What shows that the two are not of one chip (and both emulated or not): a text such as
 * "model: 17 and 1", in the arena; NULL: nothing does. What one of them does not state, shows
 * nothing. */
const char *dg_profile_other_chip(const struct dg_profile *a, const struct dg_profile *b,
                                  struct dg_arena *arena);

/* What two runs on one quiet machine may differ by without meaning anything, as a part of the
 * value, by unit. */
double dg_noise_of(const char *unit);

/* `noise` is a part of the value, for all keys; below 0: by unit. False: no memory. */
bool dg_profile_compare(const struct dg_profile *a, const struct dg_profile *b, double noise,
                        struct dg_arena *arena, struct dg_comparison *out);
/* One screen: lines for those of each verdict that changed most, but for what is within noise, and
 * a line with the counts. `all`: a line for each. */
void dg_compare_print(const struct dg_comparison *comparison, bool all, struct dg_str *out);
/* {"schema": "deepgemm-compare/1", ...}; name_a and name_b: the files. */
void dg_compare_json(const struct dg_comparison *comparison, const char *name_a,
                     const char *name_b, const char *other_chip, struct dg_str *out);

#endif
