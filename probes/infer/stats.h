/* SPDX-License-Identifier: Apache-2.0
 *
 * Order statistics of small sets. Pure functions. */
#ifndef DG_PROBES_INFER_STATS_H
#define DG_PROBES_INFER_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sort.h"

struct dg_stat {
    size_t count;
    double min, low, median, high, max;          /* low, high: quartiles */
};

/* Sorts `values`; all zero when there are none. Quantiles are interpolated. */
struct dg_stat dg_stat_of(double *values, size_t count);
/* Of those within 1.5 % of the smallest alone: where a machine falls into one of several states for
 * the length of a sample (how a loop meets a scheduler), the state in which it is fastest. */
struct dg_stat dg_stat_fastest(double *values, size_t count);
void dg_stat_add(struct dg_stat *stat, double value);
/* Of sorted values, 0 <= q <= 1. */
double dg_quantile(const double *sorted, size_t count, double q);
/* Pool adjacent violators: the nearest non-decreasing sequence (least squares), in place. */
void dg_isotonic(double *values, size_t count);
/* |a - b| <= part * the larger of the two. */
bool dg_near(double a, double b, double part);

#endif
