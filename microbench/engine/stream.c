/* SPDX-License-Identifier: Apache-2.0
 * Bandwidth: what fits one stretch is passed again and again, longer arrays go by in slices. */
#include "microbench/engine/stream.h"

#include <assert.h>
#include <stdio.h>

enum { PAGE = 4096 };

/* Between the arrays of two threads: prefetchers run on past the end of an array, and would fetch
 * lines that another core is writing. */
enum { APART = 64 << 10 };

void dg_stream_run(void *context, uint64_t amount)
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

double dg_stream_bytes(const struct stream_run *r)
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

static void place(const struct engine *e, struct stream_run *r, uint64_t base)
{
    uint64_t a = (uintptr_t)e->arena + base;
    r->all.a = a;
    r->all.b = a + array_offset(r->bytes, r->arrays > 2 ? 1 : 0, r->arrays);
    r->all.c = a + array_offset(r->bytes, r->arrays - 1, r->arrays);
    r->walk.at = 0;
    if (r->arrays == 3)
        dg_arena_fill(e, base, r->span);         /* sums of sums would grow without end */
}

void dg_stream_move(const struct engine *e, struct stream_run *r)
{
    if (r->walk.slice != 0)
        return;
    place(e, r, r->from + dg_arena_place(r->places++, r->room - r->span));
    dg_stream_warm(r);
}

static void lay_out(struct stream_run *r, uint64_t bytes, unsigned prefetch)
{
    unsigned streams = r->entry->streams;
    uint64_t part = bytes / streams;
    r->bytes = bytes;
    r->span = (array_offset(bytes, r->arrays, r->arrays) + PAGE - 1) / PAGE * PAGE;
    r->walk = dg_walk_over(part, r->arrays > streams ? r->arrays : streams,
                           r->entry->step / streams);
    r->all = (struct dg_stream_state){.bytes = part, .part = part, .distance = prefetch,
                                      .passes = 1};
}

bool dg_stream_prepare(struct engine *e, const struct dg_stream *stream, unsigned threads,
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
    uint64_t part = e->arena_bytes / threads / PAGE * PAGE, apart = threads > 1 ? APART : 0;
    struct stream_run run = {.entry = entry, .arrays = arrays};
    lay_out(&run, bytes < e->arena_bytes ? bytes : 0, stream->prefetch);
    snprintf(value, sizeof value, "%llu bytes, %u times", (unsigned long long)stream->bytes,
             threads);
    if (run.bytes == 0 || part < run.span + apart)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "stream", "arrays that fit the arena", value,
                       "allow more memory");
    for (unsigned i = 0; i < threads; i++) {
        runs[i] = run;
        runs[i].from = i * part;
        runs[i].room = part - apart;
        place(e, &runs[i], i * part);
    }
    return true;
}

void dg_stream_warm(const struct stream_run *r)
{
    struct dg_stream_state once = r->all;
    assert(r->entry != NULL);
    once.passes = r->walk.slice != 0 ? 1 : 3;
    r->entry->run(&once);
}

uint64_t dg_stream_amount(const struct engine *e, const struct work *work, unsigned passes)
{
    const struct stream_run *r = work->context;
    uint64_t amount = dg_sample_amount(e, work, UINT64_C(1) << 32);
    return r->walk.slice == 0 && passes > amount ? passes : amount;
}

static void before_sample(void *context, const struct engine *e)
{
    dg_stream_move(e, context);
}

static bool one_core(struct engine *e, const struct dg_stream *stream, struct dg_samples *out,
                     struct dg_error *error)
{
    struct stream_run run = {.entry = NULL};
    struct work work = {.run = dg_stream_run, .before = before_sample, .context = &run,
                        .amount = 1};
    const struct dg_sample none = {0, 0};
    struct dg_walk before = e->walked;
    bool straight = e->walked_last;
    dg_request_begin(e, out, 1);
    if (!dg_stream_prepare(e, stream, 1, &run, error))
        return false;
    if (!dg_walk_on(&run.walk, straight ? &before : NULL))
        dg_stream_warm(&run);
    work.bits = run.entry->bits;
    work.amount = dg_stream_amount(e, &work, stream->passes);
    bool ok = dg_sample_collect(e, &work, dg_stream_bytes(&run) * (double)work.amount, &none, out,
                                error);
    e->walked = run.walk;
    e->walked_last = true;
    return ok;
}

bool dg_engine_stream(void *self, const struct dg_stream *stream, struct dg_samples *out,
                      struct dg_error *error)
{
    struct engine *e = self;
    unsigned threads = stream->threads > 0 && stream->threads < e->info.cpus ? stream->threads
                                                                           : e->info.cpus;
    return threads < 2 ? one_core(e, stream, out, error)
                       : dg_stream_crew(e, stream, threads, out, error);
}
