/* SPDX-License-Identifier: Apache-2.0
 *
 * The build-time program that writes loops.S and table.c for one architecture. */
#ifndef DG_MICROBENCH_LOOPS_GENERATE_H
#define DG_MICROBENCH_LOOPS_GENERATE_H

#include <stdbool.h>
#include <stdio.h>

#include "isa/isa.h"

enum { TEXT = 512, MAX_OPERANDS = 4 };

/* The tables of table.c, collected apart and written at the end. */
enum table {
    TABLE_LOOPS, TABLE_MIXES, TABLE_STREAMS, TABLE_CHASES, TABLE_PICKS, TABLE_CODES, TABLE_ABSENT,
    TABLE_COUNT,
};

struct gen {
    const char *architecture;
    bool x86;
    FILE *s;                                   /* loops.S */
    FILE *table[TABLE_COUNT];                  /* bodies of the tables */
    FILE *declarations;
    unsigned functions;                        /* names dg_loop_0, dg_loop_1, ... */
    unsigned labels;
};

/* An operand of one instance: a vector register, a place in the block, or text as it stands. */
struct operand {
    int vector;                                /* -1: not a vector */
    int offset;                                /* in the block; -1: use text */
    bool crossing;                             /* half of it lies before that place */
    char text[48];
};

/* text.c */
unsigned gen_scalars(const struct gen *g);     /* scalar registers for chains */
const char *gen_scalar(const struct gen *g, unsigned index);
const char *gen_scalar_constant(const struct gen *g);
unsigned gen_memory(const char *dtype);        /* where rows of it load from in the block */
/* Fills the row's template; false when it holds something unknown. */
bool gen_render(const struct gen *g, const struct dg_op *op, const struct operand *operands,
                char out[TEXT]);
bool gen_line(struct gen *g, const struct dg_op *op, const struct operand *operands);
/* Label and declaration; its number. The features are those of its entry. */
unsigned gen_begin(struct gen *g, const char *prototype, const char *features);
void gen_end(struct gen *g, unsigned number);
/* Saves and loads what an operation loop of this vector length uses, and undoes it. */
void gen_enter(struct gen *g, const char *dtype, unsigned bits, unsigned registers);
void gen_leave(struct gen *g, unsigned bits);
void gen_count_down(struct gen *g, const char *label);
void gen_vector_name(const struct gen *g, unsigned bits, unsigned index, char out[8]);
bool gen_writes(const struct dg_op *op, int *operand);      /* the register operand it writes */
void gen_features(char out[TEXT], const struct dg_op *a, const struct dg_op *b);
void gen_key(const struct dg_op *op, char out[64]);
bool gen_first_of_key(const struct dg_isa *isa, const struct dg_op *op);

/* ops.c, pairs.c, mixes.c, streams.c */
void gen_operations(struct gen *g, const struct dg_isa *isa);
void gen_pairs(struct gen *g, const struct dg_isa *isa);
void gen_mixes(struct gen *g, const struct dg_isa *isa);
void gen_streams(struct gen *g);
void gen_chases(struct gen *g);
void gen_references(struct gen *g);
void gen_picks(struct gen *g);                 /* places.c */
void gen_codes(struct gen *g);
void gen_paces(struct gen *g);
/* One instance of a rate loop: chain `index`, register `reg` of its kind, constants at the top. */
bool gen_rate_instance(struct gen *g, const struct dg_op *op, unsigned registers, unsigned reg,
                       unsigned index, bool chained);
bool gen_is_vector(const struct dg_op *op);

#endif
