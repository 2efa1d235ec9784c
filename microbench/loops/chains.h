/* SPDX-License-Identifier: Apache-2.0
 *
 * How many independent chains the rate loops of a row have: what the generator writes and what a
 * probe asks for. */
#ifndef DG_MICROBENCH_LOOPS_CHAINS_H
#define DG_MICROBENCH_LOOPS_CHAINS_H

#include <string.h>

#include "isa/isa.h"

/* `reach` as of dg_chain_reach; a loop has at most two chains less than there are registers. */
static const struct { unsigned chains, reach; } dg_chain_counts[] = {
    {1, 0}, {2, 1}, {3, 1}, {4, 0}, {5, 2}, {6, 1}, {8, 0}, {10, 2}, {12, 1}, {14, 2}, {16, 2},
    {20, 2}, {24, 2}, {28, 2}, {30, 2},
};
enum { DG_CHAIN_COUNTS = sizeof dg_chain_counts / sizeof *dg_chain_counts };

/* 0: nothing waits for a result, such as loads; 1: a result may be the next one's source; 2: a row
 * that accumulates. */
static inline unsigned dg_chain_reach(const struct dg_op *op)
{
    if (op->operands[0] == 'a' || op->operands[0] == 'h')
        return 2;
    if (strpbrk(op->operands, "ah") != NULL)
        return 1;
    return op->operands[0] == 'd' && strchr(op->operands, 'v') != NULL ? 1 : 0;
}

#endif
