/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls a function with sentinels in the registers that it must keep and reports what it left.
 * callcheck_<arch>.S knows the offsets. */
#ifndef DG_VERIFY_RUNNER_CALLCHECK_H
#define DG_VERIFY_RUNNER_CALLCHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define DG_RED_ZONE 128
#else
#define DG_RED_ZONE 0
#endif

/* Offsets in bytes stand behind; the assembly uses them. */
struct dg_call_state {
    uint64_t stack;            /*   0  stack pointer before the call instruction, 16-byte aligned */
    uint64_t vector_state;     /*   8  x86: 1 fill ymm and look at the upper halves, 2 zmm and k */
    uint64_t saved_stack;      /*  16  of the caller */
    uint64_t stack_after;      /*  24 */
    uint64_t kept[16];         /*  32  callee-saved registers after the call */
    uint64_t control[2];       /* 160  before, after: MXCSR and x87 control word; FPCR */
    uint64_t flags;            /* 176  RFLAGS after the call */
    uint64_t x87_tags;         /* 184 */
    uint64_t upper[32];        /* 192  x86: bits 128 to 255 of every ymm after the call;
                                       AArch64: d8 to d15 after the call */
};

/* The first integer result of function(arguments[0..3]). */
uint64_t dg_callcheck(const void *function, const uint64_t arguments[4],
                      struct dg_call_state *state);
/* False: `fault` says which register or flag was changed. */
bool dg_call_state_fits(const struct dg_call_state *state, char *fault, size_t size);

#endif
