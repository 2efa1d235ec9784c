/* SPDX-License-Identifier: Apache-2.0
 * Stretches that are too short for the clock: many are timed, and their trimmed mean says what one
 * of them takes. */
#include "microbench/engine/internal.h"


#include "base/sort.h"

/* Longest undisturbed stretch. */
static const double LONGEST_SLICE_NS = 200000;

/* The mean of the middle half. */
static double trimmed_mean(double *values, size_t count)
{
    size_t from = count / 4, to = count - count / 4;
    double sum = 0;
    dg_sort_doubles(values, count);
    for (size_t i = from; i < to; i++)
        sum += values[i];
    return to > from ? sum / (double)(to - from) : 0;
}

/* Repeats that fit one undisturbed stretch. */
static uint64_t chunk(struct timed *t, unsigned repeats)
{
    struct work one = {.run = t->run, .context = t->context, .amount = 1};
    double ns = dg_work_ticks(t->e, &one) * t->e->clock.ns_per_tick;
    uint64_t fit = ns > 0 ? (uint64_t)(LONGEST_SLICE_NS / ns) : repeats;
    t->count = 0;
    return fit < 1 ? 1 : fit < repeats ? fit : repeats;
}

bool dg_timed_collect(struct timed *t, unsigned repeats, struct dg_samples *out,
                      struct dg_error *error)
{
    struct engine *e = t->e;
    struct work work = {.run = t->run, .context = t->context, .amount = chunk(t, repeats)};
    unsigned failures = 0;
    double cycles_per_tick = 0;
    for (unsigned attempts = 0; out->count < out->capacity; attempts++) {
        struct dg_sample total;
        size_t before = t->count;
        unsigned tries = attempts / (unsigned)(repeats / work.amount + 1);
        enum go_on go = dg_request_next(e, tries, failures, out->capacity, error);
        if (go != GO_ON)
            return go == GO_STOP && (dg_samples_summary(out), true);
        if (!dg_sample_once(e, &work, &total)) {
            t->count = before;
            out->rejected++;
            failures++;
            continue;
        }
        failures = 0;
        cycles_per_tick = total.cycles / total.ns * e->clock.ns_per_tick;
        if (t->count < repeats)
            continue;
        double ticks = trimmed_mean(t->ticks, t->count);
        out->sample[out->count].cycles = ticks * cycles_per_tick;
        out->sample[out->count++].ns = ticks * e->clock.ns_per_tick;
        t->count = 0;
    }
    dg_samples_summary(out);
    return true;
}
