/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of things by their distances. Pure functions. A grouping is given only with its
 * certificate: every pair inside a group is near, every pair across groups is far, and nothing lies
 * between. */
#ifndef DG_PROBES_INFER_GROUPS_H
#define DG_PROBES_INFER_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

enum { DG_GROUP_MOST = 64, DG_GROUP_LEVELS = 4 };

/* distance[i * n + j], symmetric, n at most DG_GROUP_MOST. Near: at most `near`; far: at least
 * `far`. Fills group[i] with numbers from 0, in the order of the first members; returns how many
 * groups, 0 when the certificate fails. */
size_t dg_infer_groups(const double *distance, size_t n, double near, double far, unsigned *group);

struct dg_grouping {
    double near, far;            /* the largest distance inside, the smallest across */
    size_t groups;
    unsigned group[DG_GROUP_MOST];
};
/* Every grouping that the distances show, finest first: wherever sorted distances leave a gap of
 * `gap` (a ratio above 1) and the certificate holds. Returns how many, at most
 * DG_GROUP_LEVELS. */
size_t dg_infer_levels(const double *distance, size_t n, double gap,
                       struct dg_grouping out[DG_GROUP_LEVELS]);

#endif
