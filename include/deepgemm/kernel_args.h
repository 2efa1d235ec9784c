/* SPDX-License-Identifier: Apache-2.0
 *
 * The argument block of NAME_ex. Each generated header carries the same text under the same guard,
 * so that headers mix with one another and with this file. */
#include <stddef.h>
#include <stdint.h>
#ifndef DG_KERNEL_ARGS_1
#define DG_KERNEL_ARGS_1
struct dg_kernel_args {
    size_t size;             /*   0  sizeof(struct dg_kernel_args), set by the caller */
    const void *a;           /*   8 */
    const void *b;           /*  16  as layout.b says; packed B is 64-byte aligned */
    void *c;                 /*  24 */
    const void *bias;        /*  32  this and the next: NULL unless the header asks for them */
    const void *scales;      /*  40 */
    const void *zero_points; /*  48 */
    const void *residual;    /*  56 */
    const void *mask;        /*  64 */
    void *workspace;         /*  72 */
    double alpha;            /*  80  read only by kernels generated with alpha any */
    double beta;             /*  88  read only by kernels generated with beta any */
    size_t m;                /*  96  rows, for kernels with a run-time M; else 0 or M */
    uint32_t part;           /* 104  this caller computes part `part` of `parts` */
    uint32_t parts;          /* 108  0 counts as 1 */
    uint64_t *stamps;        /* 112  time stamps of a DG_TIMING build; NULL: none wanted */
    size_t stamp_capacity;   /* 120  how many fit; further ones are dropped */
};
#endif
