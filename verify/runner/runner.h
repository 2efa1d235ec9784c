/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one kernel through every check of numbers and of the calling convention, in a process that
 * may crash or hang: the caller reads lines from a pipe and keeps a time limit. The sources of this
 * folder are compiled into the verifier and, from texts that it carries, into a static program for
 * another architecture; they need libc and include/deepgemm/kernel_args.h only.
 *
 * Lines, fields apart by tabs:
 *   at CHECK              this check begins (a crash or a hang belongs to it)
 *   ok CHECK DETAIL       done and passed
 *   fail CHECK DETAIL     done and failed
 *   skip CHECK REASON     not done here
 *   numbers WORST BOUND CHECKED   largest error against its bound, elements compared so far
 *   end FAILURES          nothing follows */
#ifndef DG_VERIFY_RUNNER_RUNNER_H
#define DG_VERIFY_RUNNER_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deepgemm/kernel_args.h"
#include "verify/runner/elements.h"

enum dg_run_layout { DG_RUN_PACKED, DG_RUN_ROW_MAJOR, DG_RUN_COL_MAJOR };

/* C[m,n] = A[m,k] * B[k,n] + beta * C, beta 0 or 1. */
struct dg_run_kernel {
    const struct dg_run_dtype *dtype;
    uint64_t m, n, k;
    uint64_t lda, ldb, ldc;               /* elements; ldb: of the source when B is packed */
    int beta;
    enum dg_run_layout layout_b;
    uint64_t packed_size;                 /* what the manifest says, bytes */
    uint64_t packed_alignment;
    unsigned vector_state;                /* x86: 0 SSE only, 1 AVX, 2 AVX-512; else 0 */
    void (*call)(const void *a, const void *b, void *c);
    int (*ex)(const struct dg_kernel_args *);
    size_t (*packed_b_size)(void);        /* NULL unless packed */
    void (*pack_b)(const void *b, void *packed);
};

struct dg_run_options {
    int out;                              /* file descriptor of the lines */
    uint64_t seed;
    uint64_t work;                        /* multiply-adds that repeated calls may spend */
};

/* Detail of the failed check when nothing could be called: no fault of the kernel. */
#define DG_NO_MEMORY "no memory for the operands"

/* Returns the number of failed checks. */
int dg_run_checks(const struct dg_run_kernel *kernel, const struct dg_run_options *options);

#endif
