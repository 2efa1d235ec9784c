/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine opened for a test, and parts of hosts that several tests need. */
#ifndef DG_TESTS_MICROBENCH_OPENED_H
#define DG_TESTS_MICROBENCH_OPENED_H

#include <criterion/criterion.h>
#include <string.h>

#include "microbench/engine/engine.h"

enum { SAMPLES = 9, SMALL = 16 << 20 };
static struct dg_sample storage[4 * SAMPLES];

static inline struct dg_samples room(unsigned set)
{
    return (struct dg_samples){.sample = storage + set * SAMPLES, .capacity = SAMPLES};
}

static inline struct dg_bench open_with(const struct dg_host *host, double budget)
{
    struct dg_engine_options options = {
        .host = host, .cpu = -1, .memory = SMALL, .patience_seconds = 0.05,
        .budget_seconds = budget,
    };
    struct dg_bench bench;
    struct dg_error error = {0};
    cr_assert(dg_engine_open(&options, &bench, &error), "%s: %s: %s", error.where, error.rule,
              error.value);
    return bench;
}

static inline uint64_t real_ns(void)
{
    struct dg_host host;
    dg_host_system(&host, NULL);
    return host.monotonic_ns(&host);
}

static inline bool fake_mask(struct dg_host *host, struct dg_cpus *out)
{
    (void)host;
    memset(out, 0, sizeof *out);
    dg_cpus_add(out, 3);
    dg_cpus_add(out, 5);
    return true;
}

#endif
