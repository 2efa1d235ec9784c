/* SPDX-License-Identifier: Apache-2.0
 * Pointer chases, evict-and-time, cold refill. */
#include "microbench/engine/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST_SLICE_NS = 200000 };

bool dg_order_bad(struct engine *e, const uint32_t *order, size_t count, const char *where,
                  struct dg_error *error)
{
    char value[64];
    for (size_t i = 0; i < count; i++)
        if (order[i] % 8 != 0 || (uint64_t)order[i] + 64 > e->arena_bytes) {
            snprintf(value, sizeof value, "%u", order[i]);
            return !dg_fail(error, DG_EXIT_UNAVAILABLE, where,
                            "offsets that are multiples of 8 inside the arena", value,
                            "allow more memory");
        }
    if (count == 0)
        return !dg_fail(error, DG_EXIT_INTERNAL, where, "an order of at least one offset", "0",
                        "");
    return false;
}

void dg_ring_link(struct engine *e, const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *next = e->arena + order[i + 1 < count ? i + 1 : 0];
        *(void **)(void *)(e->arena + order[i]) = next;
    }
}

/* Pointers read as floats could be denormal: the pattern comes back. */
void dg_ring_unlink(struct engine *e, const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dg_arena_fill(e, order[i], 8);
}

const struct dg_chase_entry *dg_chase_loop(const struct engine *e, bool vector,
                                           struct dg_error *error)
{
    const struct dg_chase_entry *entry =
        dg_chase_find(vector, e->info.features, e->info.feature_count);
    if (entry == NULL)
        dg_fail(error, DG_EXIT_UNAVAILABLE, "chase", "a load that runs here",
                vector ? "vector" : "scalar", "leave it out");
    return entry;
}

static uint64_t trips_of(uint64_t loads)
{
    return loads / DG_CHASE_LOADS + (loads % DG_CHASE_LOADS != 0);
}

struct chase_run { const struct dg_chase_entry *entry; void *at; };

static void run_chase(void *context, uint64_t trips)
{
    struct chase_run *r = context;
    r->at = r->entry->run(r->at, trips);
}

/* Long enough to time, short enough to fall between interruptions. */
static uint64_t chase_trips(const struct engine *e, struct work *work, uint64_t steps)
{
    double slice = LONGEST_SLICE_NS > 4 * e->target_ns ? LONGEST_SLICE_NS : 4 * e->target_ns;
    uint64_t wanted = trips_of(steps), least = dg_sample_amount(e, work, UINT64_C(1) << 40);
    double most = (double)least * slice / e->target_ns;
    if (wanted < least)
        return least;
    return (double)wanted <= most ? wanted : (uint64_t)most;
}

bool dg_engine_chase(void *self, const struct dg_chase *chase, struct dg_samples *out,
                  struct dg_error *error)
{
    struct engine *e = self;
    struct chase_run context = {dg_chase_loop(e, chase->vector, error), NULL};
    struct work work = {.run = run_chase, .context = &context, .amount = 1};
    const struct dg_sample none = {0, 0};
    dg_request_begin(e, out, 1);
    if (context.entry == NULL || dg_order_bad(e, chase->order, chase->count, "chase", error))
        return false;
    work.bits = context.entry->bits;
    dg_ring_link(e, chase->order, chase->count);
    context.at = e->arena + chase->order[0];
    for (unsigned pass = 0; pass < chase->warm; pass++)
        run_chase(&context, trips_of(chase->count));
    work.amount = chase_trips(e, &work, chase->steps != 0 ? chase->steps : chase->count);
    bool ok = dg_sample_collect(e, &work, (double)work.amount * DG_CHASE_LOADS, &none, out, error);
    dg_ring_unlink(e, chase->order, chase->count);
    return ok;
}

/* --- evict and time --- */

struct evict_run {
    struct timed timed;
    const struct dg_evict *evict;
    const struct dg_chase_entry *entry;
    void *at;
};

static inline void touch(const unsigned char *at)
{
    (void)*(const volatile uint64_t *)(const void *)at;
}

static void run_evict(void *context, uint64_t repeats)
{
    struct evict_run *r = context;
    const struct engine *e = r->timed.e;
    const struct clock *clock = &e->clock;
    const unsigned char *target = e->arena + r->evict->target;
    for (uint64_t i = 0; i < repeats; i++) {
        /* Another line of the same page: the page's translation is near when the load is timed.
         * Never the same one again, or a prefetcher learns that the target follows; none of the
         * nearest, which may come along with the target. */
        uint32_t line = 4 + (uint32_t)(r->timed.count * 29 % 60);
        const unsigned char *beside =
            e->arena + ((r->evict->target & ~UINT32_C(63)) ^ 64 * line);
        touch(target);
        r->at = r->entry->run(r->at, trips_of((uint64_t)r->evict->count * r->evict->passes));
        touch(beside);
        uint64_t from = dg_clock_now(clock);
        touch(target);
        uint64_t to = dg_clock_now(clock);
        r->timed.ticks[r->timed.count++] = dg_clock_elapsed(clock, from, to);
    }
}

bool dg_engine_evict(void *self, const struct dg_evict *evict, struct dg_samples *out,
                  struct dg_error *error)
{
    struct engine *e = self;
    struct evict_run context = {.timed = {.e = e, .run = run_evict, .context = &context},
                                .evict = evict};
    unsigned repeats = evict->repeats > 0 ? evict->repeats : 1;
    dg_request_begin(e, out, 1);
    context.entry = dg_chase_loop(e, false, error);
    if (context.entry == NULL || dg_order_bad(e, evict->order, evict->count, "evict", error) ||
        dg_order_bad(e, &evict->target, 1, "evict target", error))
        return false;
    context.timed.ticks = calloc(2 * (size_t)repeats, sizeof *context.timed.ticks);
    if (context.timed.ticks == NULL)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "evict", "memory for the samples", "none left",
                       "free memory");
    dg_ring_link(e, evict->order, evict->count);
    context.at = e->arena + evict->order[0];
    bool ok = dg_timed_collect(&context.timed, repeats, out, error);
    dg_ring_unlink(e, evict->order, evict->count);
    free(context.timed.ticks);
    return ok;
}

/* --- cold refill --- */

struct resample_run {
    struct engine *e;
    const struct dg_resample *resample;
    const struct dg_stream_entry *stream;
    void *at;
};

/* Dependent loads; the pages of those to come are touched ahead by independent ones. */
static void run_resample(void *context, uint64_t amount)
{
    enum { AHEAD = 12, PAGE = 4096, LINE = 4032, OTHER_LINE = 3968 };
    struct resample_run *r = context;
    const uint32_t *order = r->resample->order;
    size_t count = r->resample->count, ahead = AHEAD % count;
    void *at = r->at;
    (void)amount;
    for (size_t i = 0; i < count; i++) {
        uint32_t page = order[ahead] & ~(uint32_t)(PAGE - 1);
        touch(r->e->arena + page + ((order[ahead] & LINE) == LINE ? OTHER_LINE : LINE));
        ahead = ahead + 1 < count ? ahead + 1 : 0;
        at = *(void *volatile *)at;
    }
    r->at = at;
}

/* What passes pushes out the lines of the sample before. The chain is timed anew behind it. */
static void stream_window(void *context, const struct engine *unused)
{
    struct resample_run *r = context;
    struct dg_stream_state state = {
        .a = (uintptr_t)r->e->arena,
        .bytes = r->resample->window / r->stream->step * r->stream->step, .passes = 1,
    };
    (void)unused;
    if (state.bytes > 0)
        r->stream->run(&state);
    r->e->width[0].last = dg_checks_now(r->e, &r->e->width[0], dg_chain_now(r->e));
}

bool dg_engine_resample(void *self, const struct dg_resample *resample, struct dg_samples *out,
                        struct dg_error *error)
{
    struct engine *e = self;
    struct resample_run run = {
        .e = e, .resample = resample,
        .stream = dg_stream_find(&(struct dg_stream){.kind = DG_READ}, e->info.features,
                                 e->info.feature_count),
    };
    struct work work = {.run = run_resample, .context = &run, .amount = 1,
                        .before = stream_window};
    dg_request_begin(e, out, 1);
    if (run.stream == NULL || resample->window > e->arena_bytes)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "resample", "a window inside the arena",
                       "too large", "allow more memory");
    if (dg_order_bad(e, resample->order, resample->count, "resample", error))
        return false;
    dg_ring_link(e, resample->order, resample->count);
    run.at = e->arena + resample->order[0];
    bool ok = dg_sample_collect(e, &work, (double)resample->count, &(struct dg_sample){0, 0}, out,
                                error);
    dg_ring_unlink(e, resample->order, resample->count);
    return ok;
}
