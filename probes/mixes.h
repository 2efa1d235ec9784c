/* SPDX-License-Identifier: Apache-2.0
 *
 * What the mix probes share: shapes that fit the registers, and runs of a batch of mixes. Every one
 * of them loads `vectors` vectors and broadcasts `rows` elements a step, multiplies each vector
 * with each element into an accumulator, and stores the accumulators after the last step. */
#ifndef DG_PROBES_MIXES_H
#define DG_PROBES_MIXES_H

#include "probes/context.h"

struct dg_shape { unsigned vectors, rows; };

struct dg_mix_frame {
    unsigned bits, bytes;                        /* of a vector */
    unsigned registers;
    unsigned element;                            /* bytes */
    double l1, l2, line;                         /* bytes */
};
/* False: nothing here to run mixes with; the reason is in ctx->last. */
bool dg_mix_frame(struct dg_context *ctx, struct dg_mix_frame *out);
/* The accumulators, what is held over a step (its vectors, or its broadcasts if these are fewer)
 * and one register for the others in turn. */
bool dg_shape_fits(const struct dg_mix_frame *frame, struct dg_shape shape);
/* Most rows that fit beside `vectors`; 0: none. */
unsigned dg_shape_rows(const struct dg_mix_frame *frame, unsigned vectors);
/* A turn inside L1 whose accumulators are stored, C in L2. */
struct dg_mix dg_mix_turn(const struct dg_mix_frame *frame, struct dg_shape shape, uint64_t steps);
/* Bytes of L1 that its streams hold. */
double dg_mix_resident(const struct dg_mix_frame *frame, const struct dg_mix *mix);
/* Turns that make a sample of about `cycles`. */
uint64_t dg_mix_turns(const struct dg_mix *mix, double cycles);

#endif
