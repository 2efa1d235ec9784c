/* SPDX-License-Identifier: Apache-2.0
 *
 * Which operations make one step of a tile: recipes per dtype and form. The planner counts them,
 * the lowering turns each into one IR operation; nothing else states them. Needs no libc. */
#ifndef DG_EMIT_BODY_BODY_H
#define DG_EMIT_BODY_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "emit/problem/problem.h"
#include "isa/isa.h"

/* A tile: `rows` rows of A by `vectors` vectors of B. */
struct dg_tile { unsigned rows, vectors; };

enum dg_role { DG_NONE, DG_ACC, DG_A, DG_B };   /* accumulator (row, vector), A row, B vector */
struct dg_body_operand { enum dg_role role; unsigned row, vector; };

/* One operation of a k-step: row of the ISA table and its operands in terms of the tile. Memory
 * operands are the stream of role A (row i at this k) or B (vector j of this k). */
struct dg_body_op {
    const struct dg_op *op;
    struct dg_body_operand operand[3];
};

struct dg_body {
    const char *name;            /* "f32-outer" */
    const struct dg_isa *isa;
    enum dg_dtype dtype;
    const char *element;         /* "f32" */
    unsigned element_bytes, lanes, k_step;    /* k advanced by one step */
    const struct dg_op *load, *broadcast, *store, *zero, *add;
    const struct dg_op *chain;   /* the operation that carries the accumulator */
};

/* False when there is no recipe for this dtype, or the ISA lacks one of its operations. */
bool dg_body_for(const struct dg_isa *isa, enum dg_dtype dtype, struct dg_body *out);
/* The operations of one step in program order; returns their count (out may be NULL). */
size_t dg_body_step(const struct dg_body *body, struct dg_tile tile, struct dg_body_op *out,
                    size_t capacity);
/* Vector registers live at the most crowded point of the step. */
unsigned dg_body_registers(const struct dg_body *body, struct dg_tile tile);

#endif
