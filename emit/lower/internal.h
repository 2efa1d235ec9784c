/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_EMIT_LOWER_INTERNAL_H
#define DG_EMIT_LOWER_INTERNAL_H

#include "emit/ir/ir.h"
#include "emit/ir/legal.h"
#include "emit/lower/lower.h"

/* Streams of dg_ir_loop.step. The tail panel of packed B has its own pointer: its k-blocks are
 * narrower than those of full panels. pack_b: A is the source, B the destination. */
enum { STREAM_A, STREAM_B, STREAM_C, STREAM_TAIL };

enum { ROW_POINTERS = 16 };

struct lower {
    const struct dg_problem *problem;
    const struct dg_plan *plan;
    const struct dg_isa *isa;
    const struct dg_body *body;
    struct dg_arena *arena;
    struct dg_error *e;
    struct dg_ir_function function;
    uint32_t scalars;                      /* given out so far */
    uint32_t step_b;                       /* working pointer into B */
    uint32_t step_a[ROW_POINTERS];         /* and into the rows of A: pointer g serves the rows */
    unsigned first_row[ROW_POINTERS];      /* from first_row[g] on */
    unsigned row_pointers;
    /* Rows too far apart for that many pointers: walk[g] goes from row to row of its pointer. */
    bool walks;
    uint32_t walk[ROW_POINTERS], stride_a;
    uint32_t ahead;                        /* prefetch pointer */
    uint32_t stride_pass, stride_rest;     /* scalars holding strides too long for an immediate */
    unsigned unroll;
    bool rotate;                           /* a pass makes the first loads of the next */
    uint64_t steps;                        /* of K, the last one perhaps partly filled */
    uint64_t tail_steps;                   /* of the tail panel */
    unsigned odd;                          /* elements of that last step, 0: all are full */
    int64_t a_step, a_row;                 /* bytes of A from step to step, from row to row */
    int64_t b_vector, panel_row;           /* of packed B a vector, and a step of a full panel */
    int64_t c_vector, c_row, panel_columns;
    int64_t head, tail_head;               /* ahead of each panel's steps: see recipes.def, flip */
    uint32_t flip;                         /* vector register of the constant that flips A */
    uint64_t line;                         /* bytes that one prefetch brings */
    int64_t tail_row;                      /* bytes of one step of the tail panel */
    uint64_t panels;                       /* full panels of the whole product */
    uint64_t ahead_bytes;                  /* prefetch pointer's move per pass, 0: no prefetch */
    int64_t ahead_distance;                /* from a panel to the next */
    struct dg_ir_node *k_loop, *m_loop, *n_loop;
    uint64_t area;                         /* rows x vectors of all tile runs, for comments */
    struct latencies { unsigned load, broadcast, chain, chain_other; } latencies;
};

bool dg_lower_no_memory(struct lower *l);
/* The next free scalar. */
bool dg_lower_scalar(struct lower *l, const char *name, uint32_t *out);
char *dg_lower_text(struct lower *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "about N cycles", of plan->cycles x share / whole. */
uint64_t dg_lower_cycles(const struct lower *l, uint64_t share, uint64_t whole);
/* In the function's entry: the mask registers of all parts that the kernel or the packer takes,
 * where the target has masks. */
bool dg_lower_masks(struct lower *l, bool kernel);
/* Elements of A in the last step of a tile along K, 0: all. */
unsigned dg_lower_odd_along(const struct lower *l);
/* U bytes of a k-loop's bump go into a register when no immediate holds them. */
bool dg_lower_stride(struct lower *l, int64_t bytes);

/* Passes of `unroll` steps in kc steps. */
uint64_t dg_lower_passes(const struct lower *l, uint64_t kc);
/* Vector registers that a tile may use: those below l->flip where A is flipped. */
unsigned dg_lower_registers(const struct lower *l);
/* In the function's entry: the constant that flips A, where the recipe has one. */
bool dg_lower_flip(struct lower *l);
/* bytes from one step to the next, for B of the tile */
int64_t dg_lower_b_row(const struct lower *l, bool tail);

/* tile.c: one tile of `rows` rows, on a full or the tail panel. */
struct dg_ir_node *dg_lower_tile(struct lower *l, unsigned rows, bool tail);
/* nest.c: the loops around the tiles. */
bool dg_lower_nest(struct lower *l);
/* pack.c */
bool dg_lower_pack(struct lower *l);
/* along.c: lanes from `by` on to lane 0 on, as the target's row has them. */
bool dg_lower_lanes_down(struct lower *l, struct dg_ir_block *block, struct dg_ir_operand to,
                         struct dg_ir_operand from, unsigned by);
/* pack_along.c: the tail panel of a tile along K. */
struct dg_ir_node *dg_lower_pack_along(struct lower *l);

static inline struct dg_ir_operand dg_lower_none(void)
{
    return (struct dg_ir_operand){ .kind = DG_IR_NONE };
}

#endif
