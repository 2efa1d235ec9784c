/* SPDX-License-Identifier: Apache-2.0
 * Cold lines: flushed, walked over at a slow pace, then some others are timed. What came near
 * meanwhile was brought by prefetchers. */
#include "microbench/engine/internal.h"

#include <stdio.h>
#include <stdlib.h>

/* Lines of 32 bytes and more; a longer one is flushed twice. */
enum { FLUSH_STEP = 32, CHAIN_CYCLES = 3, PLACE_BYTES = 65536, PLACES = 192,
       LAST_LINE = 4032 };

#if defined(__x86_64__)
#define CAN_FLUSH true
static inline void flush(const unsigned char *at)
{
    __asm__ volatile("clflush (%0)" : : "r"(at) : "memory");
}
static inline void settle(void)
{
    __asm__ volatile("mfence\n\tlfence" : : : "memory");
}
#elif defined(__aarch64__)
#define CAN_FLUSH true
static inline void flush(const unsigned char *at)
{
    __asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
}
static inline void settle(void)
{
    __asm__ volatile("dsb sy\n\tisb" : : : "memory");
}
#else
#define CAN_FLUSH false
static inline void flush(const unsigned char *at)
{
    (void)at;
}
static inline void settle(void)
{
}
#endif

struct fetch_run {
    struct timed timed;
    const struct dg_fetch *fetch;
    uint64_t random, moved;                      /* everything lies so much further on now */
    const unsigned char **walk, **ahead;         /* addresses of the order and of the timed loads */
};

static inline uint64_t load(const unsigned char *at)
{
    return *(const volatile uint64_t *)(const void *)at;
}

/* Dependent multiplications that take about so many cycles; the compiler knows no factor. */
static inline uint64_t wait_on(uint64_t x, uint64_t factor, unsigned cycles)
{
    for (unsigned i = 0; i < cycles; i += CHAIN_CYCLES)
        x *= factor;
    return x;
}

/* Each load's address waits for the load and the chain before it: by nothing, which neither the
 * compiler nor the processor can know. */
static void walk(const struct fetch_run *r)
{
    uint64_t x = 0, none = 0, factor = 3;
    __asm__ volatile("" : "+r"(none), "+r"(factor));
    for (size_t i = 0; i < r->fetch->count; i++)
        x = wait_on(load(r->walk[i] + r->moved + (x & none)), factor, r->fetch->gap);
    x = wait_on(x, factor, r->fetch->rest);
    __asm__ volatile("" : : "r"(x) : "memory");
}

static void load_ahead(const struct fetch_run *r, uint64_t bits)
{
    for (size_t k = 0; k < r->fetch->timed_count; k++)
        load((const unsigned char *)((uintptr_t)(r->ahead[k] + r->moved) | bits));
}

static void flush_all(const struct fetch_run *r)
{
    const unsigned char *arena = r->timed.e->arena + r->moved;
    uint32_t step = r->fetch->step > 0 ? r->fetch->step : FLUSH_STEP;
    for (uint32_t at = r->fetch->from; at < r->fetch->to; at += step)
        flush(arena + at);
    settle();
}

/* Places all over the arena. */
static uint64_t place(const struct fetch_run *r, uint64_t number)
{
    uint64_t all = (r->timed.e->arena_bytes - r->fetch->to) / PLACE_BYTES + 1;
    return number * all / PLACES * PLACE_BYTES;
}

/* In no order: places at even distances would be a pattern of their own. */
static void move(struct fetch_run *r)
{
    r->random = r->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    r->moved = place(r, (r->random >> 33) % PLACES);
}

/* Every repeat at another place, which was flushed long before: neither the flush nor what was
 * walked there has left a trace in a prefetcher. */
static void run_fetch(void *context, uint64_t repeats)
{
    struct fetch_run *r = context;
    struct engine *e = r->timed.e;
    for (uint64_t i = 0; i < repeats; i++) {
        if (r->fetch->count == 0) {
            load_ahead(r, LAST_LINE);
            settle();
        }
        walk(r);
        uint64_t from = dg_clock_now(&e->clock);
        load_ahead(r, 0);
        uint64_t to = dg_clock_now(&e->clock);
        r->timed.ticks[r->timed.count++] = dg_clock_elapsed(&e->clock, from, to);
        flush_all(r);
        move(r);
    }
}

static bool inside(const struct engine *e, const struct dg_fetch *q, struct dg_error *error)
{
    bool good = CAN_FLUSH && q->to <= e->arena_bytes && q->from < q->to && q->timed_count > 0;
    for (size_t i = 0; i < q->count; i++)
        good &= q->order[i] + UINT64_C(8) <= e->arena_bytes;
    for (size_t i = 0; i < q->timed_count; i++)
        good &= q->timed[i] + UINT64_C(8) <= e->arena_bytes;
    if (good)
        return true;
    return dg_fail(error, DG_EXIT_UNAVAILABLE, "fetch",
                   CAN_FLUSH ? "places inside the arena" : "an instruction that flushes a line", "",
                   CAN_FLUSH ? "allow more memory" : "nothing: the processor lacks it");
}

bool dg_engine_fetch(void *self, const struct dg_fetch *fetch, struct dg_samples *out,
                     struct dg_error *error)
{
    struct engine *e = self;
    unsigned repeats = fetch->repeats > 0 ? fetch->repeats : 1;
    struct fetch_run run = {.timed = {.e = e, .run = run_fetch, .context = &run}, .fetch = fetch};
    dg_request_begin(e, out, 1);
    if (!inside(e, fetch, error))
        return false;
    run.walk = calloc(fetch->count + 1, sizeof *run.walk);
    run.ahead = calloc(fetch->timed_count + 1, sizeof *run.ahead);
    run.timed.ticks = calloc(2 * (size_t)repeats, sizeof *run.timed.ticks);
    bool ok = run.walk != NULL && run.ahead != NULL && run.timed.ticks != NULL;
    for (size_t i = 0; ok && i < fetch->count; i++)
        run.walk[i] = e->arena + fetch->order[i];
    for (size_t i = 0; ok && i < fetch->timed_count; i++)
        run.ahead[i] = e->arena + fetch->timed[i];
    for (uint64_t i = 0; ok && i < PLACES; i++) {
        run.moved = place(&run, i);
        flush_all(&run);
    }
    ok = ok ? dg_timed_collect(&run.timed, repeats, out, error)
            : dg_fail(error, DG_EXIT_UNAVAILABLE, "fetch", "memory for the samples", "none left",
                      "free memory");
    free(run.timed.ticks);
    free(run.ahead);
    free(run.walk);
    return ok;
}
