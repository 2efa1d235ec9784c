/* SPDX-License-Identifier: Apache-2.0
 *
 * What blocks that are walked again and again say about caches while other memory passes. Pure
 * functions. */
#ifndef DG_PROBES_INFER_KEEP_H
#define DG_PROBES_INFER_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Walks of blocks of rising sizes: how much longer a load of each takes beside a panel than alone.
 * The largest block before the first that takes more than `part` longer; 0: the first does. */
uint64_t dg_infer_resident(const uint64_t *size, const double *ratio, size_t count, double part);

/* A block in use in an upper cache, seen while a panel passes by. Cycles of a load. */
struct dg_keeps {
    double hit;                                  /* nothing passes */
    double near;                                 /* what passes stays in the lower cache */
    double far;                                  /* what passes fills the lower cache ... */
    double turns;                                /* ... so often, in `walks` walks */
    unsigned walks;
    double lost;                                 /* a line that is in neither cache */
    double lower;                                /* a line that is in the lower one */
    double pushed;                               /* once, after the block was pushed out of the
                                                    upper one; 0: not tried */
};
/* INCLUSIVE: lines in use in the upper cache are lost when the lower one has been filled anew.
 * VICTIM: they are not, and are in the lower one when they leave the upper one. NEITHER: they are
 * not, and are in neither then. KEPT: they are not lost, the rest is not known. */
enum dg_inclusion { DG_INCLUSION_UNKNOWN, DG_INCLUSIVE, DG_VICTIM, DG_NEITHER, DG_KEPT };
enum dg_inclusion dg_infer_inclusion(const struct dg_keeps *k);

#endif
