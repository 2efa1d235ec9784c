/* SPDX-License-Identifier: Apache-2.0
 *
 * Times kernels round robin in one process, so that they share the state of the machine. Runs in a
 * child; what it finds goes out as lines:
 *   peak OPERATIONS_A_CYCLE OP     re-measured rate of the multiply-add, for each operation named
 *   kernel I CYCLES LOW HIGH WALL_NS ACCEPTED REJECTED METHOD   CYCLES nan: not determined
 *   rounds GOOD DROPPED SECONDS    blocks of samples: kept, and left out as disturbed
 *   gate CLOCK USAGE PEAK WIDE     samples thrown away, by what was seen
 *   source TEXT                    of core cycles
 *   end */
#ifndef DG_VERIFY_ROUNDS_H
#define DG_VERIFY_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "emit/write/manifest.h"

struct dg_rounds_kernel {
    const struct dg_manifest *manifest;
    const char *shared;          /* linked NAME.o */
    const char *timing;          /* linked timing build; NULL: there is none */
};

struct dg_rounds_job {
    const struct dg_rounds_kernel *kernels;
    size_t count;
    int cpu;                     /* -1: any */
    double patience;             /* seconds in all, waiting for quiet included */
    unsigned rounds;             /* undisturbed ones wanted */
};

/* How a kernel was timed; the number goes out as METHOD. */
enum dg_rounds_method { DG_BY_SAMPLES, DG_BY_SLICES, DG_BY_CALLS };

/* A dg_child_start. */
int dg_rounds_child(void *job, int out);

#endif
