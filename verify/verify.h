/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a kernel right, busy, near the roof? Three rulers for the kernels that a path names. */
#ifndef DG_VERIFY_VERIFY_H
#define DG_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "verify/report.h"

struct dg_verify_options {
    bool emulate;                /* --qemu */
    const char *qemu;            /* its command, words apart by blanks; NULL: chosen here */
    const char *cc, *as;         /* programs for this machine; NULL: found in PATH */
    uint64_t seed;
    double timeout;              /* seconds for the checks of one kernel; 0: from M x N x K */
    bool timing_only;            /* no checks, no verdict */
    bool timing;                 /* the second and third ruler */
    double quiet_seconds;        /* how long to wait for a quiet core, for one kernel */
    unsigned rounds;             /* undisturbed ones wanted */
    int cpu;                     /* pinned while timing; -1: the first one allowed */
};

/* Fills the report with one entry a kernel and gives the exit code that follows from it; *e is set
 * when that is not 0. */
enum dg_exit dg_verify(const char *path, const struct dg_verify_options *options,
                       struct dg_arena *arena, struct dg_verify_report *out, struct dg_error *e);

#endif
