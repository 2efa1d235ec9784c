/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks made fit for a target: offsets and immediates beyond its reach. */
#ifndef DG_EMIT_IR_LEGAL_H
#define DG_EMIT_IR_LEGAL_H

#include "emit/ir/ir.h"

/* scalar = value, in as many operations as the target needs. */
bool dg_ir_set(const struct dg_isa *isa, struct dg_arena *arena, struct dg_ir_block *block,
               uint32_t scalar, int64_t value);
/* scalar += value; value 0 adds nothing. `temporary` may be written. */
bool dg_ir_advance(const struct dg_isa *isa, struct dg_arena *arena, struct dg_ir_block *block,
                   uint32_t scalar, int64_t value, uint32_t temporary);
/* A copy of `block` in which every offset and immediate is within reach; far addresses go through
 * `pointer`, which stays set over neighbouring operations. */
bool dg_ir_legalise(const struct dg_isa *isa, struct dg_arena *arena,
                    const struct dg_ir_block *block, uint32_t pointer, uint32_t temporary,
                    struct dg_ir_block *out);
/* For k-loops, which have no room for that: true when nothing is out of reach. */
bool dg_ir_is_legal(const struct dg_isa *isa, const struct dg_ir_block *block);

#endif
