/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs probes until their answers agree: in shuffled order, again and again, spread in time. */
#ifndef DG_PROBES_RUN_H
#define DG_PROBES_RUN_H

#include "base/error.h"
#include "microbench/bench.h"
#include "probes/answers.h"
#include "probes/claims/claims.h"

struct dg_probe_progress {
    const char *title;                           /* of the probe that runs now */
    unsigned repeat;                             /* 1 the first time */
    unsigned done, of;                           /* probes that have run, of all that will */
    double seconds_left;                         /* typical quiet time of what is to come */
};

struct dg_probe_options {
    const char *architecture;                    /* of this build: "x86_64" */
    bool quick;                                  /* what f32 planning reads */
    bool thorough;                               /* more samples, and more repeats must agree */
    const char *const *only, *const *skip;       /* ids; NULL: all, none */
    size_t only_count, skip_count;
    uint64_t seed;                               /* of the order; fixed in tests and replays */
    /* For waits until the core is quiet; NULL: none. patience: seconds for them in all. */
    void (*pause)(void *self, double seconds);
    void *pause_self;
    double patience;
    /* Called before each probe, for progress; may be NULL. */
    void (*progress)(void *self, const struct dg_probe_progress *progress);
    void *progress_self;
};

struct dg_probe_result {
    struct dg_answers answers;                   /* one per key */
    struct dg_facts facts;                       /* for `environment` */
    bool incomplete;                             /* stopped before every probe had run once */
    bool interrupted;
};

/* What would run: the ids asked for and those they need, less those to be skipped; [i] belongs to
 * dg_probes[i] (probes/probe.h), which has DG_PROBE_COUNT rows. False: an unknown id, or nothing
 * is left. */
bool dg_probes_wanted(const struct dg_probe_options *options, bool *wanted, struct dg_error *e);
/* How often probe i runs when its repeats agree. */
unsigned dg_probe_repeats(const struct dg_probe_options *options, size_t i);

/* False only when nothing can be done: an unknown id, no memory. Probes that cannot measure give
 * answers with reasons. All of *out lives in the arena. */
bool dg_probes_run(const struct dg_bench *bench, const struct dg_claims *claims,
                   const struct dg_probe_options *options, struct dg_arena *arena,
                   struct dg_probe_result *out, struct dg_error *e);

#endif
