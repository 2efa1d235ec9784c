/* SPDX-License-Identifier: Apache-2.0
 *
 * Which instructions, in which registers. Three forms of one function, each made from the former:
 *
 *   nest   a tree of counted loops, tiles and straight blocks; addresses are pointer + offset,
 *          vector temporaries are virtual registers       (built by emit/lower)
 *   block  the straight-line operations of a tile part: scheduled, checked for pressure, coloured
 *   code   one list of operations, labels, comments and stamps, every register physical: what
 *          emit/write spells line by line and the interpreter runs
 *
 * Scalars (pointers, counts; 64 bits) are numbers 0 .. isa->scalar_registers - 1 everywhere: the
 * first arguments of the function arrive in 0, 1, 2, ... and the writer knows their names. */
#ifndef DG_EMIT_IR_IR_H
#define DG_EMIT_IR_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "isa/isa.h"

enum dg_ir_operand_kind {
    DG_IR_NONE,
    DG_IR_VECTOR,     /* index < isa->vector_registers: that register; above: virtual */
    DG_IR_SCALAR,     /* index: scalar register */
    DG_IR_MEMORY,     /* index: scalar register holding the pointer; value: offset in bytes */
    DG_IR_IMMEDIATE,  /* value */
    DG_IR_SLOT,       /* index: frame slot of 8 bytes */
    DG_IR_LABEL,      /* index: number of the label in this code */
};
struct dg_ir_operand {
    enum dg_ir_operand_kind kind;
    uint32_t index;
    int64_t value;
};

/* One row of the ISA table with its operands, in the order of op->operands. */
struct dg_ir_op {
    const struct dg_op *op;
    struct dg_ir_operand operand[4];
    unsigned part;             /* lanes of a _PART or SET_MASK operation, else 0 */
};

enum { DG_IR_STREAMS = 4, DG_IR_MASKS = 7, DG_IR_SLOTS = 64 };

/* ---- code: what is written and run ---- */

enum dg_ir_item_kind {
    DG_IR_OPERATION,           /* op */
    DG_IR_TARGET,              /* label `label` stands here; `hot`: head of a k-loop (align it) */
    DG_IR_COMMENT,             /* text, one line, without the comment sign */
    DG_IR_STAMP,               /* time stamp of a DG_TIMING build: every scalar and vector register
                                  keeps its value; flags may change. Else nothing. */
};
struct dg_ir_item {
    enum dg_ir_item_kind kind;
    struct dg_ir_op op;
    uint32_t label;
    bool hot;
    const char *text;
};

/* A whole function from after its entry to before its return: the writer adds entry (arguments
 * into scalars 0, 1, 2, saved registers, a frame of `slots` x 8 bytes) and return. */
struct dg_ir_code {
    const struct dg_isa *isa;
    const struct dg_ir_item *item;
    size_t count;
    unsigned arguments;                    /* scalars 0 .. arguments-1 are set at entry */
    unsigned slots, labels;
    uint64_t scalars_used, vectors_used;   /* bit i: register i is written (or an argument) */
    unsigned masks;                        /* mask registers in use, filled by SET_MASK items: */
    unsigned mask_part[DG_IR_MASKS];       /* register 1 + i holds the first mask_part[i] lanes;
                                              {k} of an operation is the one with its `part` */
    /* the register map, for the comment at the top of NAME.s: "A of the tile's first row" */
    const char *scalar_name[32], *vector_name[32];   /* NULL: not used */
};

/* The mask register that holds the first `part` lanes (1..7), 0: none does. */
unsigned dg_ir_mask(const struct dg_ir_code *code, unsigned part);
/* One item as a line of text without newline ("fma.f32.256 v0, v13, v12"); length as snprintf. */
size_t dg_ir_print(const struct dg_ir_code *code, const struct dg_ir_item *item, char *out,
                   size_t size);

/* ---- block ---- */

struct dg_ir_block {
    struct dg_ir_op *op;
    size_t count, capacity;
};

/* ---- nest ---- */

/* A count that may differ in the last pass of an enclosing loop. */
struct dg_ir_node;
struct dg_ir_count {
    uint64_t usual, last;
    const struct dg_ir_node *by;           /* the loop whose last pass selects; NULL: usual */
};

enum dg_ir_node_kind { DG_IR_LOOP, DG_IR_TILE, DG_IR_STRAIGHT };

/* Runs `child` (a list) count times. The pointers of the streams that the children move are put
 * back at the end of a pass, then each stream moves by its step: after the loop, stream s has
 * moved by count x step[s] and nothing else. */
struct dg_ir_loop {
    struct dg_ir_count count;
    int64_t step[DG_IR_STREAMS];           /* bytes per pass */
    struct dg_ir_node *child;
    bool stamp;                            /* a time stamp at the end of each pass */
    uint32_t counter, save[DG_IR_STREAMS]; /* frame slots, given by dg_ir_finish */
};

/* zero, load and first start the accumulators. zero and load both present: zero always, then load
 * in all but the first pass of `first_of`; then first, in its first pass only. Then setup (working
 * pointers), prime (loads of the first pass into pinned registers, where a pass loads for the next
 * one), `passes` times pass + pass_next, `rests` times rest + rest_next, `odds` times odd, finish.
 * pass, rest and odd are scheduled and coloured; the others keep their order. Empty blocks are left
 * out. A packing tile is one that has no accumulators. */
struct dg_ir_tile {
    struct dg_ir_block zero, load, first, setup, prime, pass, pass_next, rest, rest_next, odd;
    struct dg_ir_block finish;
    const struct dg_ir_node *first_of;
    struct dg_ir_count passes, rests, odds;       /* odds: 0 or 1 */
    uint64_t pinned;                       /* vector registers not free for temporaries */
    uint32_t virtuals;                     /* virtual registers are numbered below this */
};

struct dg_ir_node {
    enum dg_ir_node_kind kind;
    const char *comment;                   /* NULL: none */
    struct dg_ir_node *next;
    union {
        struct dg_ir_loop loop;
        struct dg_ir_tile tile;
        struct dg_ir_block straight;
    } u;
};

/* What the scheduler knows of the chip: cycles from an operation's result to its use, as the
 * accumulate operand of the next or as another one. NULL function: keep the builder's order. */
struct dg_ir_timing {
    unsigned (*latency)(void *self, const struct dg_op *op, bool accumulate);
    void *self;
    unsigned issue;                        /* operations a cycle that the schedule fills; 0: one */
};

struct dg_ir_function {
    const struct dg_isa *isa;
    struct dg_arena *arena;
    struct dg_ir_node *nest;               /* list */
    struct dg_ir_block entry;              /* before the nest: masks, first pointers */
    unsigned arguments;
    uint32_t stream[DG_IR_STREAMS];        /* scalar of each stream's pointer */
    uint32_t count, temporary;             /* scalars: of the k-loops; free for dg_ir_finish */
    uint32_t scratch_pointer;              /* scalar, free outside of k-loops: far addresses */
    unsigned masks, mask_part[DG_IR_MASKS];
    const char *scalar_name[32], *vector_name[32];
    struct dg_ir_timing timing;
    unsigned slots;                        /* frame slots in use, found by dg_ir_finish */
};

/* Nest to code: legalises far offsets and immediates, checks pressure, schedules, colours,
 * flattens. False: *e names the tile and the numbers (registers needed and there are). */
bool dg_ir_finish(struct dg_ir_function *function, struct dg_ir_code *out, struct dg_error *e);

/* ---- building ---- */

struct dg_ir_operand dg_ir_vector(uint32_t index);
struct dg_ir_operand dg_ir_scalar(uint32_t index);
struct dg_ir_operand dg_ir_memory(uint32_t pointer, int64_t offset);
struct dg_ir_operand dg_ir_immediate(int64_t value);
struct dg_ir_operand dg_ir_slot(uint32_t index);
struct dg_ir_operand dg_ir_label(uint32_t index);
/* False: no memory. op NULL (no such row) is a failure of the builder: assert before. */
bool dg_ir_add(struct dg_arena *arena, struct dg_ir_block *block, const struct dg_op *op,
               unsigned part, struct dg_ir_operand a, struct dg_ir_operand b,
               struct dg_ir_operand c);
bool dg_ir_add_all(struct dg_arena *arena, struct dg_ir_block *block, const struct dg_op *op,
                   unsigned part, const struct dg_ir_operand operands[4]);
struct dg_ir_node *dg_ir_node(struct dg_arena *arena, enum dg_ir_node_kind kind,
                              const char *comment);
/* True when an access of `bytes` at pointer + offset is one address of this target. */
bool dg_ir_reaches(const struct dg_isa *isa, unsigned bytes, int64_t offset);
/* Lanes of a vector that op works on. */
unsigned dg_ir_lanes(const struct dg_op *op);
/* Bytes that the memory operand of op touches, 0: it has none (or touches nothing). */
unsigned dg_ir_access(const struct dg_op *op, unsigned part);

/* ---- passes over one block, used by dg_ir_finish ---- */

/* Most virtual registers live at one point; ~0u: no memory. */
unsigned dg_ir_pressure(const struct dg_isa *isa, struct dg_arena *arena,
                        const struct dg_ir_block *block, uint32_t virtuals);
/* Gives each virtual register one that is not in `pinned`. False: pressure is above what is
 * free; the numbers are in *e. */
bool dg_ir_colour(const struct dg_isa *isa, struct dg_arena *arena, struct dg_ir_block *block,
                  uint32_t virtuals, uint64_t pinned, struct dg_error *e);
/* before[i * count + j]: operation i must stay before j. */
bool *dg_ir_order(struct dg_arena *arena, const struct dg_ir_block *block);
/* List scheduling that keeps the pressure at or below `registers`; leaves the order as it is
 * when it finds none. False: no memory. */
bool dg_ir_schedule(const struct dg_isa *isa, struct dg_arena *arena, struct dg_ir_block *block,
                    uint32_t virtuals, unsigned registers, const struct dg_ir_timing *timing);

#endif
