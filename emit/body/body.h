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

/* accumulator (row, vector), A row, B vector, the constant that flips A, free for one operation */
enum dg_role { DG_NONE, DG_ACC, DG_A, DG_B, DG_FLIP, DG_SCRATCH };
struct dg_body_operand { enum dg_role role; unsigned row, vector; };

/* One operation of a step: row of the ISA table and its operands in terms of the tile. Memory
 * operands are the stream of role A (row i at this k) or B (vector j of this k). */
struct dg_body_op {
    const struct dg_op *op;
    struct dg_body_operand operand[4];
};

enum { DG_GROUP_MOST = 4 };

/* A recipe (recipes.def) for a target. A step takes `group` elements of K: K is counted in steps,
 * of which the last may be partly filled. */
struct dg_body {
    const char *name;            /* "f32-outer" */
    const struct dg_isa *isa;
    enum dg_dtype dtype;
    const char *mix;             /* body of the profile's mix cells */
    const char *element, *c, *source;         /* dtypes: of sums, C in memory, the packer's B */
    unsigned lanes, group;
    unsigned a_bytes, b_bytes, c_bytes;       /* element of A, lane of packed B, element of C */
    unsigned sum_bytes;                       /* of an accumulator's lane */
    const struct dg_op *load, *broadcast, *store, *zero;
    const struct dg_op *flip;    /* of a row of A, after its broadcast; NULL: none */
    const struct dg_op *chain;   /* the operation that carries the accumulator */
    const struct dg_op *folded;  /* broadcast and multiply in one, for tiles of one vector; NULL */
    const struct dg_op *along;   /* multiply of vectors along K; NULL: lanes cannot be added up */
    const struct dg_op *part[DG_GROUP_MOST];  /* [n]: broadcast of the first n of a group, n > 0 */
    char features[160];          /* all that a kernel needs, comma separated */
};

/* False when there is no recipe for this dtype, or the ISA lacks one of its operations, or the chip
 * one of their features. features NULL: of a chip that has them all. */
bool dg_body_for(const struct dg_isa *isa, enum dg_dtype dtype, const char *const *features,
                 size_t feature_count, struct dg_body *out);
/* The operations of one step in program order; returns their count (out may be NULL). */
size_t dg_body_step(const struct dg_body *body, struct dg_tile tile, struct dg_body_op *out,
                    size_t capacity);
/* Vector registers live at the most crowded point of the step. */
unsigned dg_body_registers(const struct dg_body *body, struct dg_tile tile);

/* A tile along K: `rows` rows of A by `columns` columns of B, both by vectors of K elements, with
 * an accumulator for each pair whose lanes are added up at the end. Its step takes `lanes` of K. */
struct dg_along { unsigned rows, columns; };
/* As above; a column stands where a step has a vector of B. */
size_t dg_body_along_step(const struct dg_body *body, struct dg_along tile,
                          struct dg_body_op *out, size_t capacity);
unsigned dg_body_along_registers(struct dg_along tile);
/* Sums stand in vectors by rows, `pitch` lanes from row to row: a power of two. */
unsigned dg_along_pitch(unsigned columns);
/* Whether a lane of such vectors holds a sum: those of all rows are counted on. */
bool dg_along_holds(struct dg_along tile, unsigned lane);
/* FOLD operations of one level, 1 and up, at the end of a tile. */
unsigned dg_along_folds(struct dg_along tile, unsigned lanes, unsigned level);

/* Steps of k elements: ceil(k / group). */
static inline uint64_t dg_body_steps(const struct dg_body *body, uint64_t k)
{
    return k / body->group + (k % body->group != 0);
}

/* Bytes of A that one step of a row takes. */
static inline unsigned dg_body_a_step(const struct dg_body *body)
{
    return body->group * body->a_bytes;
}

#endif
