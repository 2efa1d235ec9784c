/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a row of readings steps. Pure functions. */
#ifndef DG_PROBES_INFER_STEPS_H
#define DG_PROBES_INFER_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Index of the first rate that is within `part` of the largest one. */
size_t dg_infer_knee(const double *rate, size_t count, double part);

/* Readings of the lines ahead of a walk, the nearest first: how many of them are nearer than
 * memory without a gap, and how many of these are in L1. `l1` is a reading of a line in L1,
 * `memory` one of a line that nothing has brought. */
struct dg_reach { size_t l1, any; };
struct dg_reach dg_infer_reach(const double *cycles, size_t count, double l1, double memory);

/* cycles[i]: time of i + 1 independent loads from beyond the caches. It rises slowly while all are
 * on their way at once, and by a latency when one must wait. 0: no such step. */
size_t dg_infer_misses(const double *cycles, size_t count);

/* Rates by rising size: the last size before the rate falls for good below `part` of the best.
 * 0: it never falls. */
uint64_t dg_infer_window(const uint64_t *size, const double *rate, size_t count, double part);

/* The size of the instruction cache from windows of straight code of different instructions: [low,
 * high) of each, where the rate falls. Decoded instructions are counted, not their bytes, so what
 * ends at the same size for all is the cache itself. 0: they do not agree, or there is only one. */
uint64_t dg_infer_code_cache(const uint64_t *low, const uint64_t *high, size_t count);

/* Readings of pairs: those that are more than 15 % over the usual one collide. */
struct dg_conflicts_seen { double usual, share, cost; };
struct dg_conflicts_seen dg_infer_conflicts(const double *cycles, size_t count);

#endif
