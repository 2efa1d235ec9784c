/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of one kernel: NAME.s in GNU syntax and NAME.h. */
#ifndef DG_EMIT_WRITE_SOURCE_H
#define DG_EMIT_WRITE_SOURCE_H

#include "base/arena.h"
#include "emit/ir/ir.h"
#include "emit/plan/plan.h"
#include "emit/problem/problem.h"

/* All that the texts are made from. */
struct dg_kernel {
    const char *tool_version;
    const struct dg_problem *problem;
    const struct dg_plan *plan;
    const struct dg_ir_code *run;        /* arguments a, b, c */
    const struct dg_ir_code *pack;       /* arguments b, packed; NULL: B is not packed */
    uint64_t packed_b_size;              /* bytes; 0 without pack */
    const char *profile_name, *profile_hash;   /* as in the manifest */
    const char *debug_name;              /* the source's name in line numbers; NULL: none */
};

enum { DG_PACKED_ALIGNMENT = 64 };

/* NULL: no memory, or there are no kernels for this architecture. */
const char *dg_source_text(const struct dg_kernel *kernel, struct dg_arena *arena);
const char *dg_header_text(const struct dg_kernel *kernel, struct dg_arena *arena);
/* The problem as options of deepgemm-gen: "--isa x86_64-avx2 --m 64 ...". */
const char *dg_options_text(const struct dg_kernel *kernel, struct dg_arena *arena);
/* "row_major", as configurations and options spell it. */
const char *dg_layout_text(enum dg_layout layout);
/* Predicted core cycles of a call, rounded. */
uint64_t dg_kernel_cycles(const struct dg_plan *plan);

#endif
