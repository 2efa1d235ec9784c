/* SPDX-License-Identifier: Apache-2.0
 *
 * Which product is wanted: C[m,n] = A[m,k] * B[k,n] (+ C). Checked: every value in this struct is
 * in range. Needs no libc; reading YAML and flags (reader.h) does. */
#ifndef DG_EMIT_PROBLEM_PROBLEM_H
#define DG_EMIT_PROBLEM_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

enum dg_dtype {
    DG_F32, DG_F64, DG_F16, DG_BF16, DG_U8S8, DG_S8S8, DG_S4S4, DG_INT4, DG_INT2, DG_DTYPE_COUNT
};
enum dg_layout { DG_ROW_MAJOR, DG_COL_MAJOR, DG_PACKED };
enum dg_objective { DG_OBJECTIVE_CYCLES, DG_OBJECTIVE_INTENSITY };

struct dg_problem {
    char name[128];              /* symbol prefix; default gemm_DTYPE_MxNxK */
    char target[64];             /* "" = any profile */
    char isa[32];                /* "auto" or a target name of isa/ */
    enum dg_dtype dtype;
    uint64_t m, n, k;            /* m, n >= 1; k >= 0 (C = beta * C) */
    enum dg_layout layout_a, layout_b, layout_c;
    uint64_t lda, ldb, ldc;      /* elements; ldb: of the row-major source when B is packed */
    int beta;                    /* 0 or 1 */
    enum dg_objective objective;
    bool intensity_divides;      /* the variant m | M, n | N, k | K */
    uint32_t tile_m, tile_n;     /* rows and columns of the register tile; 0: any */
    bool enable_debug;
    bool workspace;              /* a plan that needs a workspace may be taken */
    char output_dir[512];        /* codegen.output_dir; "" = the current folder */
};

extern const char *const dg_dtype_names[DG_DTYPE_COUNT];   /* canonical: "f32", "f16", "int4" */
/* Elements of the operands in memory, by name and in bytes; `sum`: what products are added in. */
struct dg_dtype_row { const char *a, *b, *c, *sum; unsigned a_bytes, b_bytes, c_bytes; };
extern const struct dg_dtype_row dg_dtypes[DG_DTYPE_COUNT];
/* Largest K for which no sum of products leaves its type, C's old value aside. */
uint64_t dg_k_most(enum dg_dtype dtype);

#endif
