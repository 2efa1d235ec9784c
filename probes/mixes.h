/* SPDX-License-Identifier: Apache-2.0
 *
 * What the mix probes share: shapes that fit the registers, and runs of a batch of mixes. Every one
 * of them loads `vectors` vectors and broadcasts `rows` elements a step, multiplies each vector
 * with each element into an accumulator, and stores the accumulators after the last step. */
#ifndef DG_PROBES_MIXES_H
#define DG_PROBES_MIXES_H

#include "microbench/bodies.h"
#include "probes/context.h"

struct dg_shape { unsigned vectors, rows; };

/* A body on a target, and the caches around it. */
struct dg_mix_frame {
    struct dg_mix_form form;
    const char *dtype;                           /* of the body */
    unsigned bits;                               /* of a vector */
    unsigned bytes, element;                     /* of the stream a vector, of a row a step */
    double l1, l2, line;                         /* bytes */
};
enum { DG_MIX_FRAMES = 32 };
/* Bodies that run here: the first one is f32 at the widest vectors, the one that streams are
 * measured under; then the others, and those of narrower targets. 0: none. */
size_t dg_mix_frames(struct dg_context *ctx, struct dg_mix_frame out[DG_MIX_FRAMES]);
/* The first of them; false: nothing here to run mixes with. */
bool dg_mix_frame(struct dg_context *ctx, struct dg_mix_frame *out);
bool dg_shape_fits(const struct dg_mix_frame *frame, struct dg_shape shape);
/* Most rows that fit beside `vectors`; 0: none. */
unsigned dg_shape_rows(const struct dg_mix_frame *frame, unsigned vectors);
/* A turn inside L1 whose accumulators are stored, C in L2. */
struct dg_mix dg_mix_turn(const struct dg_mix_frame *frame, struct dg_shape shape, uint64_t steps);
/* Bytes of L1 that its streams hold. */
double dg_mix_resident(const struct dg_mix_frame *frame, const struct dg_mix *mix);
/* Turns that make a sample of about `cycles`. */
uint64_t dg_mix_turns(const struct dg_mix *mix, double cycles);

enum { DG_TURN_CYCLES = 60000 };                 /* of a sample: about 20 us resolve 0.2 % */
/* The cells of all shapes by steps, every `stride`th of these: mix.turn, mix.pass; and mix.call. */
void dg_turn_cells(struct dg_context *ctx, const struct dg_mix_frame *frame, unsigned samples,
                   unsigned stride);
void dg_pass_cells(struct dg_context *ctx, const struct dg_mix_frame *frame, unsigned samples,
                   unsigned stride);
void dg_call_cell(struct dg_context *ctx, const struct dg_mix_frame *frame, unsigned samples);

#endif
