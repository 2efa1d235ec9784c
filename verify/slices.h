/* SPDX-License-Identifier: Apache-2.0
 *
 * Core cycles of a long call from time stamps inside it. The hypervisor takes a core away every
 * millisecond or so for tens of microseconds, so that every long call holds gaps and no call is
 * clean; but each slice of a few microseconds is clean in most calls. The sum over slices of the
 * median over calls is the time on the core. Pure: stamps in, cycles out. */
#ifndef DG_VERIFY_SLICES_H
#define DG_VERIFY_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_slices {
    const uint64_t *stamps;      /* calls x (slices + 1), in ticks */
    const double *per_tick;      /* core cycles a tick, one a call; NaN: a call to leave out */
    size_t calls, slices;
};

struct dg_slice_sum {
    double cycles;               /* of one call */
    double low, high;            /* the same sum of lower and upper quartiles */
    uint64_t accepted, rejected; /* slices */
};

enum { DG_SLICE_CALLS_LEAST = 5 };

/* False: fewer than DG_SLICE_CALLS_LEAST calls are left, or no memory. A stamp that does not
 * follow the one before it rejects its slice. */
bool dg_slices_sum(const struct dg_slices *slices, struct dg_slice_sum *out);

/* Sorts and picks: fraction 0.5 is the median. The array must not be empty. */
double dg_quantile(double *values, size_t count, double fraction);

#endif
