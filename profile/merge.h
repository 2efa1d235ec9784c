/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles of many machines of one kind to one: medians, and which machine stands apart where. */
#ifndef DG_PROFILE_MERGE_H
#define DG_PROFILE_MERGE_H

#include "base/arena.h"
#include "base/error.h"
#include "profile/profile.h"

struct dg_merge_file {
    const char *path;                    /* for errors */
    const char *label;                   /* how outliers name it; without folders */
    struct dg_profile profile;
};

/* Numbers become medians with the interval that the machines span, outliers left out; discrete
 * values must be equal in two thirds of the machines that know them, or they are unreliable; of
 * `isa` stands what all have. A value is an outlier when it lies further from the median than the
 * noise of its unit and 3.5 times the usual deviation, or is a discrete value of the minority;
 * environment.outliers lists them as "KEY LABEL VALUE, median VALUE", environment.machines counts
 * the files, and of the environment else stands what is equal in all.
 *
 * Refused (DG_EXIT_INPUT): files of different chips. Everything of *out lives in the arena, or in
 * the files' profiles. */
bool dg_profile_merge(const struct dg_merge_file *files, size_t count, const char *name,
                      struct dg_arena *arena, struct dg_profile *out, struct dg_error *e);

#endif
