/* SPDX-License-Identifier: Apache-2.0
 * A block that is walked again and again while a panel passes: what of it stays near. */
#include "microbench/engine/internal.h"

struct hold_run {
    struct engine *e;
    const struct dg_hold *hold;
    const struct dg_chase_entry *chase;
    const struct dg_stream_entry *stream;
    void *at;
    uint64_t passed;                             /* where in the panel it goes on */
    double ticks;                                /* of the timed walks of the last run */
};

static void read_on(const struct hold_run *r, uint64_t from, uint64_t bytes)
{
    struct dg_stream_state state = {
        .a = (uintptr_t)r->e->arena + from, .bytes = bytes / r->stream->step * r->stream->step,
        .passes = 1 };
    if (state.bytes > 0)
        r->stream->run(&state);
}

static double walk(struct hold_run *r)
{
    const struct clock *clock = &r->e->clock;
    uint64_t from = dg_clock_now(clock);
    r->at = r->chase->run(r->at, r->hold->count / DG_CHASE_LOADS);
    uint64_t to = dg_clock_now(clock);
    return dg_clock_elapsed(clock, from, to);
}

static void run_hold(void *context, uint64_t amount)
{
    struct hold_run *r = context;
    const struct dg_hold *q = r->hold;
    (void)amount;
    r->ticks = 0;
    for (unsigned i = 0; i < q->walks; i++) {
        if (r->passed + q->beside > q->bytes)
            r->passed = 0;
        read_on(r, q->from + r->passed, q->beside);
        r->passed += q->beside;
        r->ticks += walk(r);
    }
    if (q->push == 0)
        return;
    read_on(r, q->push_from, q->push);
    r->ticks = walk(r);
}

static bool inside(const struct engine *e, const struct dg_hold *q, struct dg_error *error)
{
    bool good = q->from + q->bytes <= e->arena_bytes && q->push_from + q->push <= e->arena_bytes &&
                q->beside <= q->bytes && q->count % DG_CHASE_LOADS == 0 && q->walks > 0;
    return good || dg_fail(error, DG_EXIT_UNAVAILABLE, "hold", "a block and a panel in the arena",
                           "too large", "allow more memory");
}

/* Of a run only its timed walks count. */
static void take_walks(void *context, const struct engine *e, struct dg_sample *total)
{
    const struct hold_run *r = context;
    double ns = r->ticks * e->clock.ns_per_tick;
    *total = (struct dg_sample){.cycles = ns * total->cycles / total->ns, .ns = ns};
}

bool dg_engine_hold(void *self, const struct dg_hold *hold, struct dg_samples *out,
                    struct dg_error *error)
{
    struct engine *e = self;
    struct hold_run run = {.e = e, .hold = hold, .chase = dg_chase_loop(e, false, error)};
    struct work work = {.run = run_hold, .context = &run, .amount = 1, .after = take_walks};
    const double loads = (double)hold->count * (hold->push > 0 ? 1 : hold->walks);
    dg_request_begin(e, out, 1);
    run.stream = dg_stream_find(&(struct dg_stream){.kind = DG_READ}, e->info.features,
                                e->info.feature_count);
    if (run.chase == NULL || run.stream == NULL || !inside(e, hold, error) ||
        dg_order_bad(e, hold->order, hold->count, "hold", error))
        return false;
    dg_ring_link(e, hold->order, hold->count);
    run.at = e->arena + hold->order[0];
    run_hold(&run, 1);
    bool ok = dg_sample_collect(e, &work, loads, &(struct dg_sample){0, 0}, out, error);
    dg_ring_unlink(e, hold->order, hold->count);
    return ok;
}
