/* SPDX-License-Identifier: Apache-2.0
 *
 * Plan to IR: the whole kernel NAME(a, b, c) and NAME_pack_b(b, packed) as code with physical
 * registers, ready to be spelled. */
#ifndef DG_EMIT_LOWER_LOWER_H
#define DG_EMIT_LOWER_LOWER_H

#include "emit/ir/ir.h"
#include "emit/plan/plan.h"
#include "emit/problem/problem.h"

struct dg_lowered {
    struct dg_ir_code kernel;  /* arguments a, b, c in scalars 0, 1, 2 */
    struct dg_ir_code pack_b;  /* arguments b (row-major K x N, ldb), packed; only with layout.b
                                  packed */
    bool has_pack_b;
    /* Bytes of packed B: full panels of K x tile.vectors vectors one after the other, then the tail
     * panel of K x tail_vectors vectors, columns beyond N zero. 0 when K is 0. */
    uint64_t packed_b_size;
    /* Where the stamps of the kernel are: one at the start, one at the end of each pass of this
     * loop ("n_blocks", "k_blocks", "m_blocks", "tiles"; NULL: of none), one at the end; and how
     * many one call runs. The manifest tells the verifier, which needs the count exactly. */
    const char *stamp_loop;
    uint64_t stamps;
};

/* `view` gives latencies for the schedule (what it reads is recorded there); NULL: the order of the
 * recipes is kept. False: *e says what does not fit, with numbers. */
bool dg_lower(const struct dg_problem *problem, const struct dg_plan *plan, struct dg_view *view,
              struct dg_arena *arena, struct dg_lowered *out, struct dg_error *e);

#endif
