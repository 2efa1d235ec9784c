/* SPDX-License-Identifier: Apache-2.0
 *
 * What comes along with a line that is loaded from memory. Pure functions. */
#ifndef DG_PROBES_INFER_BESIDE_H
#define DG_PROBES_INFER_BESIDE_H

#include <stdbool.h>

/* How often the line behind and the line before one of even and of odd number were nearer than
 * memory, each from 0 to 1. Of an even line the next is the other half of its pair, of an odd one
 * the one before. */
struct dg_beside { double even_next, even_before, odd_next, odd_before; };

enum dg_adjacent {
    DG_ADJACENT_NONE,            /* lines come alone */
    DG_ADJACENT_PAIR,            /* always with the other half of their pair, and with no other */
    DG_ADJACENT_NEXT, DG_ADJACENT_BEFORE, DG_ADJACENT_BOTH,  /* mostly with these neighbours */
    DG_ADJACENT_SOMETIMES,
};
enum dg_adjacent dg_infer_adjacent(const struct dg_beside *b);
/* The other half of a pair was often enough not there: no cache that a line comes through has lines
 * of two. False says nothing. */
bool dg_infer_lines_part(const struct dg_beside *b);

#endif
