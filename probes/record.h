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

/* A bench that answers from a recording: equal requests in the order they were recorded. */
struct dg_replay {
    const struct dg_recording *recording;
    size_t *next;                                /* behind the last answer */
    bool *used;
};
bool dg_replay_init(struct dg_replay *replay, const struct dg_recording *recording,
                    struct dg_arena *arena);
struct dg_bench dg_replay_bench(struct dg_replay *replay, const struct dg_bench_info *info);

#endif
