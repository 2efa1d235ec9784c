/* SPDX-License-Identifier: Apache-2.0
 *
 * struct dg_bench on this machine's hardware. */
#ifndef DG_MICROBENCH_ENGINE_ENGINE_H
#define DG_MICROBENCH_ENGINE_ENGINE_H

#include "microbench/bench.h"
#include "microbench/host/host.h"

struct dg_engine_options {
    const struct dg_host *host;      /* readers; NULL: this machine's */
    int cpu;                         /* CPU to pin to; -1: one of those allowed is chosen */
    double budget_seconds;           /* requests fail when it is over; <= 0: no limit */
    double patience_seconds;         /* longest wait for a quiet core per request; 0: 0.25 */
    uint64_t memory;                 /* most bytes of the arena; 0: 256 MiB; limits may say less */
    bool no_huge_pages;              /* ask for small pages */
    bool no_perf;                    /* do not try counters */
    /* Called now and then while a request runs, at most about every 100 ms; NULL: not. Returning
     * false ends the request with an error (an interrupt). */
    bool (*progress)(void *context, double seconds_in_request);
    void *progress_context;
};

/* What stands behind info, for reports and tests. */
struct dg_engine_state {
    unsigned long accepted, rejected_clock, rejected_usage, rejected_peak, rejected_wide;
    unsigned long rejected_delay;
    double waited_seconds;
    bool agree;                      /* the chains have integer ratios: cycles mean something */
    const char *memory_source;       /* what limits the arena: "default", "free memory", ... */
    double tick_hz;
    const char *perf_help;           /* why counters are not used, and what would; NULL: they are */
};

/* False: no CPU to pin to, no memory, no usable clock. The bench keeps pointing into memory that
 * dg_engine_close frees. */
bool dg_engine_open(const struct dg_engine_options *options, struct dg_bench *out,
                    struct dg_error *e);
void dg_engine_close(struct dg_bench *bench);
const struct dg_engine_state *dg_engine_state(const struct dg_bench *bench);

/* The state gate for other timers (the verifier's): times `work`, whose widest vectors have so
 * many bits, between the same checks. One
 * undisturbed run's core cycles and nanoseconds, or false when this run was disturbed. */
bool dg_engine_time(const struct dg_bench *bench, unsigned bits, void (*work)(void *context),
                    void *context, struct dg_sample *out);
/* The same for work of many milliseconds, which is always interrupted: context switches and faults
 * within it are let pass. Only for a caller that takes the time apart itself (time stamps). */
bool dg_engine_time_long(const struct dg_bench *bench, unsigned bits,
                         void (*work)(void *context), void *context, struct dg_sample *out);

#endif
