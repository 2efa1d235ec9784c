/* SPDX-License-Identifier: Apache-2.0
 * Bandwidth: what fits one stretch is passed again and again, longer arrays go by in slices. */
#include "microbench/engine/internal.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAGE = 4096 };

struct stream_run {
    const struct dg_stream_entry *entry;
    struct dg_stream_state all;          /* the whole arrays, or what one stream reads of one */
    struct dg_walk walk;
    unsigned arrays;
};

static void run_stream(void *context, uint64_t amount)
{
    struct stream_run *r = context;
    struct dg_stream_state part = r->all;
    if (r->walk.slice == 0) {
        part.passes = amount;
        r->entry->run(&part);
        return;
    }
    for (uint64_t i = 0; i < amount; i++) {
        part = r->all;
        part.a += r->walk.at;
        part.b += r->walk.at;
        part.c += r->walk.at;
        part.bytes = r->walk.slice;
        part.passes = 1;
        r->entry->run(&part);
        dg_walk_next(&r->walk);
    }
}

/* Bytes of all arrays that one amount of work moves. */
static double stream_bytes(const struct stream_run *r)
{
    return (double)r->walk.side * (double)(r->walk.slice != 0 ? r->walk.slice : r->walk.bytes);
}

/* Arrays one behind the other. Their starts share a page's offsets evenly: a load whose low bits
 * equal those of a store in flight may wait for it. */
static uint64_t array_offset(uint64_t bytes, unsigned array, unsigned arrays)
{
    uint64_t stagger = PAGE / arrays / 64 * 64 + 64;
    return array * ((bytes + PAGE - 1) / PAGE * PAGE + stagger);
}

static uint64_t run_span(uint64_t bytes, unsigned arrays)
{
    return (array_offset(bytes, arrays, arrays) + PAGE - 1) / PAGE * PAGE;
}

static void place(struct stream_run *r, struct engine *e, uint64_t base, uint64_t bytes,
                  unsigned prefetch)
{
    unsigned streams = r->entry->streams;
    uint64_t a = (uintptr_t)e->arena + base, part = bytes / streams;
    r->all = (struct dg_stream_state){
        .a = a, .bytes = part, .part = part, .distance = prefetch, .passes = 1,
        .b = a + array_offset(bytes, r->arrays > 2 ? 1 : 0, r->arrays),
        .c = a + array_offset(bytes, r->arrays - 1, r->arrays),
    };
    r->walk = dg_walk_over(part, r->arrays > streams ? r->arrays : streams,
                           r->entry->step / streams);
}

static bool prepare(struct engine *e, const struct dg_stream *stream, unsigned threads,
                    struct stream_run *runs, struct dg_error *error)
{
    char value[64];
    const struct dg_stream_entry *entry =
        dg_stream_find(stream, e->info.features, e->info.feature_count);
    unsigned arrays = dg_traffic_arrays(stream->kind);
    snprintf(value, sizeof value, "kind %d, step %u", (int)stream->kind, stream->step);
    if (entry == NULL)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "stream", "a stream loop of this step", value,
                       "choose a step that the tables have");
    uint64_t bytes = stream->bytes / arrays / entry->step * entry->step;
    uint64_t span = run_span(bytes, arrays);
    snprintf(value, sizeof value, "%llu bytes, %u times", (unsigned long long)stream->bytes,
             threads);
    if (bytes == 0 || bytes > e->arena_bytes || span > e->arena_bytes / threads)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "stream", "arrays that fit the arena", value,
                       "allow more memory");
    for (unsigned i = 0; i < threads; i++) {
        runs[i] = (struct stream_run){.entry = entry, .arrays = arrays};
        place(&runs[i], e, i * span, bytes, stream->prefetch);
    }
    if (arrays == 3)
        dg_arena_fill(e, 0, span * threads);        /* sums of sums would grow without end */
    return true;
}

static void warm(struct stream_run *r)
{
    struct dg_stream_state once = r->all;
    assert(r->entry != NULL);
    once.passes = r->walk.slice != 0 ? 1 : 3;
    r->entry->run(&once);
}

static uint64_t stream_amount(struct engine *e, struct work *work, const struct stream_run *r,
                              unsigned passes)
{
    uint64_t amount = dg_sample_amount(e, work, UINT64_C(1) << 32);
    return r->walk.slice == 0 && passes > amount ? passes : amount;
}

static bool one_core(struct engine *e, const struct dg_stream *stream, struct dg_samples *out,
                     struct dg_error *error)
{
    struct stream_run run = {.entry = NULL};
    struct work work = {run_stream, &run, 1};
    const struct dg_sample none = {0, 0};
    struct dg_walk before = e->walked;
    bool straight = e->walked_last;
    dg_request_begin(e, out, 1);
    if (!prepare(e, stream, 1, &run, error))
        return false;
    if (!dg_walk_on(&run.walk, straight ? &before : NULL))
        warm(&run);
    work.amount = stream_amount(e, &work, &run, stream->passes);
    bool ok = dg_sample_collect(e, &work, stream_bytes(&run) * (double)work.amount, &none, out,
                                error);
    e->walked = run.walk;
    e->walked_last = true;
    return ok;
}

/* --- several cores --- */

struct crew {
    struct engine *e;
    unsigned threads, wanted;
    atomic_uint ready, done;
    atomic_bool stop;
};

struct member {
    struct crew *crew;
    struct stream_run *run;
    pthread_t thread;
    unsigned cpu, count;
    size_t rejected;
    struct dg_sample *sample;            /* per byte */
};

/* One slice between two chains of this core. */
static bool member_sample(struct member *m, const struct work *work, struct dg_sample *out)
{
    const struct engine *e = m->crew->e;
    struct dg_host *host = e->clock.host;
    struct dg_usage before, after;
    host->usage(host, &before);
    double first = dg_chain_now(e), ticks = dg_work_ticks(e, work), second = dg_chain_now(e);
    host->usage(host, &after);
    double bytes = stream_bytes(m->run) * (double)work->amount;
    out->cycles = ticks / (0.5 * (first + second)) / bytes;
    out->ns = ticks * e->clock.ns_per_tick / bytes;
    return fabs(first - second) <= 0.01 * first && before.switches == after.switches &&
           before.faults == after.faults && ticks > 0 && e->agree;
}

/* Everybody goes on until everybody has enough, so that the load stays the same; bounded. */
static void *member_run(void *context)
{
    struct member *m = context;
    struct crew *crew = m->crew;
    struct engine *e = crew->e;
    struct dg_host *host = e->clock.host;
    struct work work = {run_stream, m->run, 1};
    bool told = false;
    if (m->cpu != e->info.cpu)
        host->pin(host, m->cpu);
    warm(m->run);
    work.amount = stream_amount(e, &work, m->run, 1);
    atomic_fetch_add(&crew->ready, 1);
    while (atomic_load(&crew->ready) < crew->threads && !atomic_load(&crew->stop))
        sched_yield();
    for (unsigned i = 0; !atomic_load(&crew->stop); i++) {
        bool keep = m->count < crew->wanted;
        struct dg_sample sample;
        if (!member_sample(m, &work, &sample))
            m->rejected++;
        else if (keep)
            m->sample[m->count++] = sample;
        if (!told && (m->count >= crew->wanted || i > 8 * crew->wanted + 64 || !e->agree)) {
            told = true;
            atomic_fetch_add(&crew->done, 1);
        }
        if (atomic_load(&crew->done) >= crew->threads)
            break;
    }
    return NULL;
}

/* Rates add up: 1 / sum of 1 / (time per byte). */
static void combine(const struct member *members, unsigned threads, struct dg_samples *out)
{
    size_t count = out->capacity;
    for (unsigned t = 0; t < threads; t++) {
        count = members[t].count < count ? members[t].count : count;
        out->rejected += members[t].rejected;
    }
    for (size_t i = 0; i < count; i++) {
        double cycles = 0, ns = 0;
        for (unsigned t = 0; t < threads; t++) {
            cycles += 1 / members[t].sample[i].cycles;
            ns += 1 / members[t].sample[i].ns;
        }
        out->sample[i] = (struct dg_sample){1 / cycles, 1 / ns};
    }
    out->count = count;
    dg_samples_summary(out);
}

unsigned dg_next_cpu(const struct engine *e, unsigned *from)
{
    while (*from < DG_CPUS_MAX && (!dg_cpus_have(&e->allowed, *from) || *from == e->info.cpu))
        ++*from;
    return (*from)++;
}

/* This thread is the last member; the others start first. */
static bool run_crew(struct engine *e, struct crew *crew, struct member *members,
                     struct dg_error *error)
{
    unsigned started = 0, cpu = 0;
    bool ok = true;
    for (; started + 1 < crew->threads && ok; started += ok) {
        members[started].cpu = dg_next_cpu(e, &cpu);
        ok = pthread_create(&members[started].thread, NULL, member_run, &members[started]) == 0;
    }
    if (ok)
        member_run(&members[started]);
    else
        dg_fail(error, DG_EXIT_UNAVAILABLE, "stream", "a thread for each allowed CPU",
                "pthread_create failed", "raise the limit on processes (ulimit -u)");
    atomic_store(&crew->stop, true);
    for (unsigned i = 0; i < started; i++)
        pthread_join(members[i].thread, NULL);
    return ok;
}

static bool many_cores(struct engine *e, const struct dg_stream *stream, unsigned threads,
                       struct dg_samples *out, struct dg_error *error)
{
    struct crew crew = {.e = e, .threads = threads, .wanted = (unsigned)out->capacity};
    dg_request_begin(e, out, 1);
    if (dg_request_next(e, 0, 0, out->capacity, error) == GO_FAIL)
        return false;
    struct stream_run *runs = calloc(threads, sizeof *runs);
    struct member *members = calloc(threads, sizeof *members);
    struct dg_sample *samples = calloc(threads * out->capacity, sizeof *samples);
    bool ok = runs != NULL && members != NULL && samples != NULL;
    if (!ok)
        dg_fail(error, DG_EXIT_UNAVAILABLE, "stream", "memory for the threads", "none left",
                "free memory");
    ok = ok && prepare(e, stream, threads, runs, error);
    for (unsigned i = 0; ok && i < threads; i++)
        members[i] = (struct member){.crew = &crew, .run = &runs[i], .cpu = e->info.cpu,
                                     .sample = samples + i * out->capacity};
    ok = ok && run_crew(e, &crew, members, error);
    if (ok)
        combine(members, threads, out);
    free(samples);
    free(members);
    free(runs);
    return ok;
}

bool dg_engine_stream(void *self, const struct dg_stream *stream, struct dg_samples *out,
                   struct dg_error *error)
{
    struct engine *e = self;
    unsigned threads = stream->threads > 0 && stream->threads < e->info.cpus ? stream->threads
                                                                           : e->info.cpus;
    return threads < 2 ? one_core(e, stream, out, error)
                       : many_cores(e, stream, threads, out, error);
}
