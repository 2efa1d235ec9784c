/* SPDX-License-Identifier: Apache-2.0
 *
 * What one core and several ones share of a stream: where its arrays lie, and how they are run. */
#ifndef DG_MICROBENCH_ENGINE_STREAM_H
#define DG_MICROBENCH_ENGINE_STREAM_H

#include "microbench/engine/internal.h"

struct stream_run {
    const struct dg_stream_entry *entry;
    struct dg_stream_state all;          /* the whole arrays, or what one stream reads of one */
    struct dg_walk walk;                 /* slice 0: whole passes */
    unsigned arrays;
    uint64_t bytes, span;                /* of one array; of all, from the first to the last */
    uint64_t from, room;                 /* part of the arena that they may lie in */
    uint64_t places;                     /* that they have had */
};

/* One for each thread, each with a part of the arena of its own. */
bool dg_stream_prepare(struct engine *e, const struct dg_stream *stream, unsigned threads,
                       struct stream_run *runs, struct dg_error *error);
/* Before a sample. Arrays that fit one stretch lie at another place for each, so that which pages
 * meet in a set, and which lines a way predictor takes for each other, is averaged. */
void dg_stream_move(const struct engine *e, struct stream_run *run);
void dg_stream_run(void *context, uint64_t amount);      /* context: a stream_run */
void dg_stream_warm(const struct stream_run *run);
/* Bytes of all arrays that one amount of work moves. */
double dg_stream_bytes(const struct stream_run *run);
uint64_t dg_stream_amount(const struct engine *e, const struct work *work, unsigned passes);

/* crew.c: on so many CPUs at once, two at least. */
bool dg_stream_crew(struct engine *e, const struct dg_stream *stream, unsigned threads,
                    struct dg_samples *out, struct dg_error *error);

#endif
