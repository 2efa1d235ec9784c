/* SPDX-License-Identifier: Apache-2.0
 *
 * How a clock is distributed and how it rises. Pure functions. */
#ifndef DG_PROBES_INFER_PACE_H
#define DG_PROBES_INFER_PACE_H

#include <stdbool.h>
#include <stddef.h>

#include "microbench/bench.h"

/* Clocks in steps of a thousandth, from 1 MHz to 20 GHz. */
enum { DG_CLOCK_BINS = 9904 };
struct dg_clocks { unsigned count[DG_CLOCK_BINS]; unsigned long total; };
void dg_clocks_add(struct dg_clocks *clocks, double hz);
/* The clock under which `part` of the samples were taken; 0 when there are none. */
double dg_clocks_quantile(const struct dg_clocks *clocks, double part);

/* Slices of a run from idle on, each with its cycles and its time. `first`: clock of the first
 * slice; `sustained`: of the second half; `ns`: of the slices at the start that are more than
 * 1 % slower (one alone was interrupted), at least of one. False: too few slices. */
struct dg_ramp { double first, sustained, low, high, ns; };
bool dg_infer_ramp(const struct dg_sample *slice, size_t count, struct dg_ramp *out);

#endif
