/* SPDX-License-Identifier: Apache-2.0
 * Samples: work between two chains, checks of the core's state behind it, and the rules by which
 * a run is thrown away. Every wait and every repetition is bounded. */
#include "microbench/engine/internal.h"

#include <math.h>

static bool same_usage(const struct dg_usage *a, const struct dg_usage *b)
{
    return a->switches == b->switches && a->faults == b->faults;
}

double dg_work_ticks(const struct engine *e, const struct work *work)
{
    uint64_t from = dg_clock_now(&e->clock);
    work->run(work->context, work->amount);
    uint64_t to = dg_clock_now(&e->clock);
    return dg_clock_elapsed(&e->clock, from, to);
}

/* The sustained clock while probing: a slow average, and how far it went. */
static void note_clock(struct engine *e, double ticks_per_cycle)
{
    double hz = 1e9 / (ticks_per_cycle * e->clock.ns_per_tick);
    e->info.clock_hz += (hz - e->info.clock_hz) / 64;
    e->info.clock_low_hz = fmin(e->info.clock_low_hz, hz);
    e->info.clock_high_hz = fmax(e->info.clock_high_hz, hz);
}

bool dg_sample_once(struct engine *e, const struct work *work, struct dg_sample *total)
{
    const uint64_t fresh_ns = 300000;
    struct dg_usage usage[2];
    double counted[2] = {0, 0};
    struct width *width = dg_width_in_turn(e, work->bits, e->clock_moves);
    struct checks before = width->last;
    if (e->host.monotonic_ns(&e->host) - before.at_ns > fresh_ns + 4 * (uint64_t)e->target_ns)
        before = dg_checks_now(e, width, dg_wake(e, width));
    int cpu = e->host.current_cpu(&e->host);
    e->host.usage(&e->host, &usage[0]);
    double first = dg_wake(e, width);
    bool counts = e->counter.believed && dg_counter_read(e, &counted[0]);
    double ticks = dg_work_ticks(e, work);
    counts = counts && dg_counter_read(e, &counted[1]);
    double second = dg_chain_of(e, width);
    width->last = dg_checks_now(e, width, second);
    e->host.usage(&e->host, &usage[1]);
    if (!same_usage(&usage[0], &usage[1]) || e->host.current_cpu(&e->host) != cpu) {
        e->state.rejected_usage++;
        return false;
    }
    if (!e->agree || !dg_chains_quiet(e, width, &before, first, second, &width->last))
        return false;
    total->ns = ticks * e->clock.ns_per_tick;
    total->cycles = counts ? counted[1] - counted[0] - e->counter.overhead
                           : ticks / (0.5 * (first + second));
    note_clock(e, 0.5 * (first + second));
    e->clock_moves -= e->clock_moves % DG_CLOCK_MOVES;
    e->state.accepted++;
    return ticks > 0;
}

uint64_t dg_sample_amount(const struct engine *e, const struct work *work, uint64_t most)
{
    struct work probe = *work;
    double target = e->target_ns / e->clock.ns_per_tick;
    for (probe.amount = 1; probe.amount < most; probe.amount *= 2) {
        double ticks = dg_work_ticks(e, &probe);
        /* The second time: the first one may have been cold. */
        if (ticks >= target / 8 && (ticks = dg_work_ticks(e, &probe)) >= target / 8) {
            double amount = ceil((double)probe.amount * fmax(target / ticks, 1));
            return amount < (double)most ? (uint64_t)amount : most;
        }
    }
    return most;
}

void dg_request_begin(struct engine *e, struct dg_samples *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i].count = out[i].rejected = 0;
    e->request_ns = e->progress_ns = e->host.monotonic_ns(&e->host);
    e->waited_ns = 0;
    e->walked_last = false;
    e->clock_moves = 0;
}

static enum go_on fail_request(struct dg_error *error, enum dg_exit code, const char *rule,
                               const char *todo)
{
    dg_fail(error, code, "measuring", rule, "", todo);
    return GO_FAIL;
}

enum go_on dg_request_next(struct engine *e, unsigned attempts, unsigned failures, size_t capacity,
                        struct dg_error *error)
{
    enum { FREE_FAILURES = 8, LONGEST_SHIFT = 6 };
    const uint64_t nap_ns = 500000, progress_every_ns = 100000000;
    uint64_t now = e->host.monotonic_ns(&e->host);
    if (e->deadline_ns != 0 && now >= e->deadline_ns)
        return fail_request(error, DG_EXIT_UNAVAILABLE, DG_RULE_OVER,
                            "give more time, or fewer probes");
    if (e->progress != NULL && now - e->progress_ns >= progress_every_ns) {
        e->progress_ns = now;
        if (!e->progress(e->progress_context, (double)(now - e->request_ns) * 1e-9))
            return fail_request(error, DG_EXIT_INTERRUPTED, DG_RULE_INTERRUPTED, "");
    }
    if (!e->agree)
        return attempts > 0 ? GO_STOP : GO_ON;
    if (attempts >= 8 * capacity + 64)
        return GO_STOP;
    if (failures > 0 && failures % FREE_FAILURES == 0) {
        unsigned shift = failures / FREE_FAILURES - 1;
        uint64_t nap = nap_ns << (shift < LONGEST_SHIFT ? shift : LONGEST_SHIFT);
        if (e->waited_ns + nap > e->patience_ns)
            return GO_STOP;
        e->host.pause(&e->host, nap);
        e->waited_ns += nap;
        e->state.waited_seconds += (double)nap * 1e-9;
    }
    return GO_ON;
}

bool dg_sample_collect(struct engine *e, const struct work *work, double units,
                    const struct dg_sample *overhead, struct dg_samples *out,
                    struct dg_error *error)
{
    unsigned failures = 0;
    for (unsigned attempts = 0; out->count < out->capacity; attempts++) {
        struct dg_sample total;
        enum go_on go = dg_request_next(e, attempts, failures, out->capacity, error);
        if (go != GO_ON)
            return go == GO_STOP && (dg_samples_summary(out), true);
        if (work->before != NULL)
            work->before(work->context, e);
        if (!dg_sample_once(e, work, &total)) {
            out->rejected++;
            failures++;
            continue;
        }
        failures = 0;
        if (work->after != NULL)
            work->after(work->context, e, &total);
        out->sample[out->count].cycles = (total.cycles - overhead->cycles) / units;
        out->sample[out->count++].ns = (total.ns - overhead->ns) / units;
    }
    dg_samples_summary(out);
    return true;
}
