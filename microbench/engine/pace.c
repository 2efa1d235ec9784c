/* SPDX-License-Identifier: Apache-2.0
 * The clock as it goes: a chain of known length runs without a break, and its time is noted slice
 * by slice. Nothing is thrown away, because how the clock changes is what is asked. */
#include "microbench/engine/internal.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/sort.h"

/* One CPU of those that run. */
struct pacer {
    struct engine *e;
    const struct dg_pace *pace;
    const struct dg_loop_entry *loop;
    uint64_t trips;                      /* a slice */
    double cycles;                       /* of a slice */
    atomic_uint *ready;
    atomic_bool *go;
    pthread_t thread;
    unsigned cpu;
    size_t count;
    double *ns;                          /* of the slices */
};

static void run_slices(struct pacer *p)
{
    const struct clock *clock = &p->e->clock;
    uint64_t from = dg_clock_now(clock);
    while (p->pace->warm_ns > 0 &&
           dg_clock_elapsed(clock, from, dg_clock_now(clock)) * clock->ns_per_tick <
           (double)p->pace->warm_ns)
        p->loop->run(p->trips, p->e->block);
    from = dg_clock_now(clock);
    for (size_t i = 0; i < p->count; i++) {
        p->loop->run(p->trips, p->e->block);
        uint64_t to = dg_clock_now(clock);
        p->ns[i] = dg_clock_elapsed(clock, from, to) * clock->ns_per_tick;
        from = to;
    }
}

/* Waits asleep: an idle core is what the clock rises from. */
static void *pacer_run(void *context)
{
    struct pacer *p = context;
    struct dg_host *host = p->e->clock.host;
    struct timespec idle = {.tv_sec = (time_t)(p->pace->idle_ns / 1000000000),
                            .tv_nsec = (long)(p->pace->idle_ns % 1000000000)};
    if (p->cpu != p->e->info.cpu)
        host->pin(host, p->cpu);
    if (p->pace->idle_ns > 0)
        nanosleep(&idle, NULL);
    atomic_fetch_sub(p->ready, 1);
    while (atomic_load(p->ready) > 0 && !atomic_load(p->go))
        continue;
    run_slices(p);
    return NULL;
}

/* Cycles of a trip: those of its chain, when the chain is what the loop waits for. 0: it is not. */
static double trip_cycles(struct engine *e, const struct dg_loop_entry *loop, uint64_t trips)
{
    enum { TRIES = 9 };
    const struct width *width = dg_width_for(e, dg_op_bits(loop->op));
    double tried[TRIES];
    for (int i = 0; i < TRIES; i++) {
        double ticks_per_cycle = dg_wake(e, width);
        tried[i] = dg_run_ticks(e, loop, trips) / ticks_per_cycle / (double)trips;
    }
    dg_sort_doubles(tried, TRIES);
    double usual = tried[TRIES / 2], exact = round(usual / loop->per_trip) * loop->per_trip;
    return exact > 0 && fabs(usual / exact - 1) <= 0.02 ? exact : 0;
}

static const struct dg_loop_entry *pace_loop(const struct engine *e, unsigned bits)
{
    char name[32] = DG_REF_MULTIPLY;
    struct dg_loop want = {.kind = DG_LOOP_LATENCY, .op = name};
    if (bits > 0)
        snprintf(name, sizeof name, DG_REF_PACE "%u", bits);
    return dg_loop_find(&want, e->info.features, e->info.feature_count);
}

static void start_all(struct pacer *p, unsigned threads)
{
    unsigned started = 1, cpu = 0;
    for (; started < threads; started++) {
        p[started].cpu = dg_next_cpu(p->e, &cpu);
        if (pthread_create(&p[started].thread, NULL, pacer_run, &p[started]) != 0)
            break;
    }
    if (started < threads)
        atomic_store(p->go, true);       /* fewer than asked for: do not wait for them */
    pacer_run(p);
    for (unsigned i = 1; i < started; i++)
        pthread_join(p[i].thread, NULL);
}

static void combine(const struct pacer *p, unsigned threads, struct dg_samples *out)
{
    for (out->count = 0; out->count < out->capacity; out->count++) {
        double ns = 0;
        for (unsigned t = 0; t < threads; t++)
            ns += p[t].ns[out->count] / threads;
        out->sample[out->count] = (struct dg_sample){p->cycles, ns};
    }
    dg_samples_summary(out);
}

static bool no_pace(struct dg_error *error, const char *rule, unsigned bits)
{
    char value[32];
    snprintf(value, sizeof value, "%u bits", bits);
    return dg_fail(error, DG_EXIT_UNAVAILABLE, "pace", rule, value,
                   "leave it out: the processor or the tables lack it");
}

static bool run_pace(struct engine *e, const struct dg_pace *pace, unsigned threads,
                     struct pacer *p, struct dg_samples *out, struct dg_error *error)
{
    const struct dg_loop_entry *loop = pace_loop(e, pace->bits);
    atomic_uint ready = threads;
    atomic_bool go = false;
    if (loop == NULL)
        return no_pace(error, "a chain beside vectors of this width", pace->bits);
    double ticks_per_cycle = dg_chain_now(e), slice = (double)pace->slice_ns / e->clock.ns_per_tick;
    uint64_t trips = dg_trips_for(e, loop, slice / ticks_per_cycle, ticks_per_cycle);
    double cycles = trip_cycles(e, loop, dg_trips_for(e, loop, 20000, ticks_per_cycle));
    if (cycles == 0 || !e->agree)
        return no_pace(error, "a chain that the loop waits for, beside the vectors", pace->bits);
    for (unsigned i = 0; i < threads; i++) {
        double *ns = calloc(out->capacity, sizeof *ns);
        p[i] = (struct pacer){.e = e, .pace = pace, .loop = loop, .trips = trips, .ns = ns,
                              .cycles = cycles * (double)trips, .ready = &ready, .go = &go,
                              .cpu = e->info.cpu, .count = ns != NULL ? out->capacity : 0};
        if (ns == NULL)
            return no_pace(error, "memory for the slices", pace->bits);
    }
    start_all(p, threads);
    if (atomic_load(&go))
        return no_pace(error, "a thread for each CPU", pace->bits);
    combine(p, threads, out);
    return true;
}

bool dg_engine_pace(void *self, const struct dg_pace *pace, struct dg_samples *out,
                    struct dg_error *error)
{
    struct engine *e = self;
    unsigned threads = pace->threads > 0 && pace->threads < e->info.cpus ? pace->threads
                                                                         : e->info.cpus;
    dg_request_begin(e, out, 1);
    if (dg_request_next(e, 0, 0, out->capacity, error) == GO_FAIL)
        return false;
    struct pacer *p = calloc(threads, sizeof *p);
    bool ok = p != NULL ? run_pace(e, pace, threads, p, out, error)
                        : no_pace(error, "memory for the threads", pace->bits);
    for (unsigned i = 0; p != NULL && i < threads; i++)
        free(p[i].ns);
    free(p);
    return ok;
}
