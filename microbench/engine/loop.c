/* SPDX-License-Identifier: Apache-2.0
 * Operation loops. */
#include "microbench/engine/internal.h"

#include <math.h>
#include <stdio.h>

#include "base/sort.h"

struct loop_run { const struct dg_loop_entry *entry; void *block; };

static void run(void *context, uint64_t trips)
{
    const struct loop_run *r = context;
    r->entry->run(trips, r->block);
}

/* What one call costs beside its trips: a call of one trip less a trip. Means, because a clock
 * that moves in steps is right only on average; without the largest quarter: disturbed calls are
 * longer. */
static struct dg_sample entry_cost(struct engine *e, const struct work *work)
{
    enum { CALLS = 32 };
    const double most_cycles = 400;
    struct work one = *work;
    struct dg_sample cost = {0, 0};
    const struct width *width = dg_width_for(e, work->bits);
    double calls[CALLS], sum = 0, long_run = INFINITY;
    one.amount = 1;
    dg_wake(e, width);
    for (int i = 0; i < CALLS; i++)
        calls[i] = dg_work_ticks(e, &one);
    for (int i = 0; i < 4; i++)
        long_run = fmin(long_run, dg_work_ticks(e, work));
    dg_sort_doubles(calls, CALLS);
    int kept = CALLS * 3 / 4;
    for (int i = 0; i < kept; i++)
        sum += calls[i];
    double ticks = sum / kept - long_run / (double)work->amount;
    double cycles = ticks / dg_chain_of(e, width);
    if (cycles > 0 && cycles < most_cycles) {
        cost.cycles = cycles;
        cost.ns = ticks * e->clock.ns_per_tick;
    }
    return cost;
}

static bool no_loop(const struct dg_loop *loop, struct dg_error *error)
{
    char value[128];
    snprintf(value, sizeof value, "%s%s%s", loop->op != NULL ? loop->op : "",
             loop->other != NULL ? " beside " : "", loop->other != NULL ? loop->other : "");
    return dg_fail(error, DG_EXIT_UNAVAILABLE, "loop", "a loop of this operation that runs here",
                   value, "leave the operation out: the processor or the tables lack it");
}

bool dg_engine_loop(void *self, const struct dg_loop *loop, struct dg_samples *out,
                 struct dg_error *error)
{
    struct engine *e = self;
    struct loop_run context = {NULL, e->block};
    struct work work = {.run = run, .context = &context, .amount = 1};
    dg_request_begin(e, out, 1);
    context.entry = dg_loop_find(loop, e->info.features, e->info.feature_count);
    if (context.entry == NULL)
        return no_loop(loop, error);
    unsigned other = dg_op_bits(context.entry->other);
    work.bits = dg_op_bits(context.entry->op);
    work.bits = other > work.bits ? other : work.bits;
    work.amount = dg_sample_amount(e, &work, UINT64_C(1) << 40);
    struct dg_sample overhead = entry_cost(e, &work);
    double units = (double)work.amount * context.entry->per_trip;
    return dg_sample_collect(e, &work, units, &overhead, out, error);
}
