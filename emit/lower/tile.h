/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of a tile: what tile.c and along.c share. */
#ifndef DG_EMIT_LOWER_TILE_H
#define DG_EMIT_LOWER_TILE_H

#include "emit/lower/internal.h"

/* What the steps of one tile are written with. */
struct tile {
    struct lower *l;
    struct dg_ir_tile *out;
    struct dg_tile shape;
    bool tail;
    unsigned part;                         /* lanes of the last vector, 0: all */
    struct dg_body_op *step;
    size_t steps;
    uint32_t a[64], b[64];                 /* virtual register that holds a row or vector now */
    uint32_t next;                         /* next virtual register */
    unsigned walked;                       /* row that the walking pointers came to */
    bool *rotated;                         /* per operation of a step: see choose_rotated */
    unsigned rotations;
    bool along;                            /* a tile along K: shape.vectors columns */
    int64_t a_step;                        /* bytes of A from step to step */
    unsigned odd;                          /* elements of the last step, 0: all are full */
};

/* The next virtual register. */
uint32_t dg_tile_fresh(struct tile *t);
uint32_t dg_tile_accumulator(const struct tile *t, unsigned row, unsigned vector);
struct dg_along dg_tile_along(const struct tile *t);
/* The row of an access to A or C: of a whole vector, or of `part` lanes. */
const struct dg_op *dg_tile_access_op(struct tile *t, enum dg_sem whole, enum dg_sem some,
                                      unsigned part);
/* Loads or stores `vector`, with a scratch register where the row asks for one. */
bool dg_tile_access(struct tile *t, struct dg_ir_block *block, const struct dg_op *op,
                    unsigned part, struct dg_ir_operand vector, struct dg_ir_operand memory);

/* along.c: accumulators from C, and C from accumulators. */
bool dg_along_load(struct tile *t, struct dg_ir_block *block);
bool dg_along_finish(struct tile *t, struct dg_ir_block *block);

#endif
