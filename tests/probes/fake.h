/* SPDX-License-Identifier: Apache-2.0
 *
 * A small made-up machine behind struct dg_bench, for the runner and the probes: LRU caches that
 * execute the chases, resources that bound the loops. tests/sim has the full one. */
#ifndef DG_TESTS_PROBES_FAKE_H
#define DG_TESTS_PROBES_FAKE_H

#include "microbench/bench.h"

enum { FAKE_LEVELS = 3 };

struct fake {
    /* what it is */
    struct { uint32_t size, ways, line; double latency; } level[FAKE_LEVELS];
    double memory_latency;
    double fma_latency, fma_rate;                /* a cycle */
    double noise;                                /* relative, one-sided */
    unsigned stop_after;                         /* requests until the interrupt; 0: none */
    unsigned busy_after;                         /* until no sample is undisturbed; 0: never */
    double budget;                               /* requests until it is over; 0: none */
    /* state */
    struct dg_bench_info info;
    uint32_t *tag[FAKE_LEVELS];                  /* [set * ways + age], 0 newest; line + 1 */
    uint64_t random;
    unsigned requests;
    struct dg_bench bench;
};

void fake_open(struct fake *fake);
void fake_close(struct fake *fake);

#endif
