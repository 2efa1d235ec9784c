/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether one body of mixes takes the cycles of another. Pure. */
#ifndef DG_PROBES_INFER_LIKE_H
#define DG_PROBES_INFER_LIKE_H

#include <stdbool.h>
#include <stddef.h>

/* True when the cycles of equal shapes differ by 0.25 % at most in their median, and by more than
 * 1 % in one of eight at most. Cells without a value (0) are left out; fewer than four are too
 * few. */
bool dg_infer_like(const double *cycles, const double *other, size_t count);

#endif
