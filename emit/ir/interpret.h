/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs finished code on bounds-checked memory, for every target, without an assembler. */
#ifndef DG_EMIT_IR_INTERPRET_H
#define DG_EMIT_IR_INTERPRET_H

#include "emit/ir/ir.h"

enum { DG_IR_REGIONS = 4, DG_IR_LINE = 64 };

/* One operand in memory, exactly as large as declared: an access outside every region ends the
 * run. The interpreter chooses its address; reads of it cost nothing else. */
struct dg_ir_region {
    const char *name;
    unsigned char *data;
    uint64_t size;
    bool writable;
    uint64_t lines;            /* out: distinct lines touched */
    uint64_t reads, writes;    /* out: accesses */
    unsigned char *touched;    /* one byte a line; NULL: not counted */
};

struct dg_ir_run {
    struct dg_ir_region region[DG_IR_REGIONS];
    unsigned regions;          /* region i is argument i of the function */
    uint64_t limit;            /* operations; 0: none (a fault may run for ever) */
    uint64_t operations;       /* out: executed */
    uint64_t stamps;           /* out: time stamps passed */
    uint64_t *times;           /* NULL, or one per item of the code: how often it ran */
};

/* Vector registers start as NaN, scalars and slots as an address that no region has. False: *e
 * names the item, the access and the region nearest to it, or the operation limit. */
bool dg_ir_interpret(const struct dg_ir_code *code, struct dg_ir_run *run,
                     struct dg_arena *arena, struct dg_error *e);

#endif
