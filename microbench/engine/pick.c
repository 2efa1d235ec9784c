/* SPDX-License-Identifier: Apache-2.0
 * Independent loads of a few places in L1 in turn: which of them get in each other's way. */
#include "microbench/engine/internal.h"

#include <stdio.h>

struct pick_run { const struct dg_pick_entry *entry; unsigned char *at[DG_PICKS]; };

static void run_pick(void *context, uint64_t trips)
{
    struct pick_run *r = context;
    r->entry->run(trips, r->at);
}

bool dg_engine_pick(void *self, const struct dg_pick *pick, struct dg_samples *out,
                    struct dg_error *error)
{
    struct engine *e = self;
    const struct dg_sample none = {0, 0};
    struct pick_run run = {
        .entry = dg_pick_find(pick, e->info.features, e->info.feature_count) };
    struct work work = {.run = run_pick, .context = &run, .amount = 1, .bits = pick->bits};
    char value[64];
    dg_request_begin(e, out, 1);
    snprintf(value, sizeof value, "%u of %u bits", pick->count, pick->bits);
    if (run.entry == NULL)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "pick", "a loop of such loads that runs here",
                       value, "leave it out: the processor or the tables lack it");
    for (unsigned i = 0; i < DG_PICKS; i++) {
        uint32_t offset = pick->offset[i % pick->count];
        if (offset + UINT64_C(64) > e->arena_bytes)
            return dg_fail(error, DG_EXIT_UNAVAILABLE, "pick", "places inside the arena", value,
                           "allow more memory");
        run.at[i] = e->arena + offset;
    }
    run_pick(&run, 16);
    work.amount = dg_sample_amount(e, &work, UINT64_C(1) << 40);
    double rounds = (double)work.amount * DG_PICK_LOADS / pick->count;
    return dg_sample_collect(e, &work, rounds, &none, out, error);
}
