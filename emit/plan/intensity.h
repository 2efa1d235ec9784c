/* SPDX-License-Identifier: Apache-2.0
 *
 * The objective `intensity`: the block m x n x k with the most operations per byte in L1,
 *
 *     maximise 2mnk / (mk + nk + mn)  with  (mk + nk + mn) * element size <= l1_size,
 *     mr | m, nr | n, k <= K, m <= M, n <= N (an M or N below one tile counts as one tile);
 *
 * the second form also demands m | M, n | N, k | K. Compared exactly, by cross multiplication. */
#ifndef DG_EMIT_PLAN_INTENSITY_H
#define DG_EMIT_PLAN_INTENSITY_H

#include "emit/plan/lattice.h"

/* Blocks of equal, highest intensity, at most `most` of them (mc, kc and panels of `tile`), widest
 * m first. Returns how many; 0: none fits. */
size_t dg_intensity_best(const struct dg_problem *problem, const struct dg_constants *c,
                         struct dg_fixed *out, size_t most);

#endif
