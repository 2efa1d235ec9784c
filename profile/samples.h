/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw samples beside a profile: hardware.json gives hardware.samples.json. It holds what was asked
 * of the bench and what came back, so that inference gives the same answers again anywhere. */
#ifndef DG_PROFILE_SAMPLES_H
#define DG_PROFILE_SAMPLES_H

#include "base/arena.h"
#include "base/error.h"
#include "profile/profile.h"

struct dg_sample_row {
    const char *request;             /* "loop rate fma.f32.256 chains 8" */
    const double *cycles, *ns;       /* accepted samples, both `count` long */
    size_t count, rejected;
    const char *refused;             /* why there are none; NULL when it ran */
};

struct dg_sample_claim {
    const char *key;
    struct dg_claim claim;
};

struct dg_samples_file {
    const struct dg_fact *info;      /* of the bench: clock, features, pages, seed, ... */
    size_t info_count;
    const struct dg_sample_claim *claims;
    size_t claim_count;
    const struct dg_sample_row *rows;    /* in the order they were asked */
    size_t row_count;
};

/* The name that belongs to a profile's: "x.json" gives "x.samples.json"; NULL: no memory. */
char *dg_samples_path(const char *profile_path, struct dg_arena *arena);
/* Replaces the file in one step. Numbers are written so that they read back equal. */
bool dg_samples_write(const char *path, const struct dg_samples_file *file, struct dg_error *e);
bool dg_samples_read(const char *path, struct dg_arena *arena, struct dg_samples_file *out,
                     struct dg_error *e);

#endif
