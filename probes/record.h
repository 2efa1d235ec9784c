/* SPDX-License-Identifier: Apache-2.0
 *
 * What was asked of a bench and what it gave, as texts and numbers: a probe run on a recording
 * gives the same answers as on the machine that it was taken from. */
#ifndef DG_PROBES_RECORD_H
#define DG_PROBES_RECORD_H

#include "base/arena.h"
#include "microbench/bench.h"
#include "profile/samples.h"

struct dg_recording {
    struct dg_arena *arena;
    struct dg_sample_row *item;
    size_t count, capacity;
    bool failed;                                 /* out of memory */
};

/* A bench that passes requests on to `inner` and keeps them. */
struct dg_recorder {
    const struct dg_bench *inner;
    struct dg_recording *recording;
    /* Asked before every request; true: refuse with DG_EXIT_INTERRUPTED. May be NULL. */
    bool (*interrupted)(void *);
    void *interrupted_self;
};
struct dg_bench dg_recording_bench(struct dg_recorder *recorder);

/* A bench that answers from a recording: equal requests in the order they were recorded. With
 * `then` it goes on there from the first request that the recording does not hold: a run that was
 * broken off does what it did, without measuring, and then the rest. */
struct dg_replay {
    const struct dg_sample_row *row;
    size_t count;
    size_t next;                                 /* behind the last answer */
    size_t left;                                 /* rows that have not answered yet */
    bool *used;
    const struct dg_bench *then;                 /* NULL: what is not recorded is refused */
    bool live;                                   /* `then` is being asked */
    bool over;                                   /* the recorded run was out of time here */
};
bool dg_replay_init(struct dg_replay *replay, const struct dg_sample_row *rows, size_t count,
                    struct dg_arena *arena);
struct dg_bench dg_replay_bench(struct dg_replay *replay, const struct dg_bench_info *info);
/* Rows without those that the end of the run, by interrupt or budget, refused. */
size_t dg_replay_measured(const struct dg_sample_row *rows, size_t count);

#endif
