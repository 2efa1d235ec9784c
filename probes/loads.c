/* SPDX-License-Identifier: Apache-2.0
 *
 * What loads of L1 do to each other, and how many beyond it are on their way at once. */
#include "probes/probe.h"

#include <math.h>

#include "probes/infer/steps.h"
#include "probes/orders.h"

enum { LINE = 64, PAGE = 4096, PAGE_LINES = PAGE / LINE - 1, MOST_MISSES = 96 };

/* Cold lines in no order, over few pages; their last lines stay free for translations. */
static void misses(struct dg_context *ctx)
{
    enum { PAGES = 4, STEP = 1 };
    double cycles[MOST_MISSES];
    uint32_t line[PAGES * PAGE_LINES];
    for (uint32_t i = 0; i < PAGES * PAGE_LINES; i++)
        line[i] = i / PAGE_LINES * PAGE + i % PAGE_LINES * LINE;
    for (size_t n = 1; n <= MOST_MISSES; n += STEP) {
        struct dg_measure m;
        struct dg_fetch q = { .to = PAGES * PAGE, .repeats = 24, .timed = line, .timed_count = n };
        dg_shuffle(ctx, line, PAGES * PAGE_LINES);
        if (!dg_read_fetch(ctx, &q, 3, &m)) {
            dg_refused(ctx, "core.misses", "count");
            return;
        }
        cycles[n - 1] = m.cycles.low;
    }
    size_t found = dg_infer_misses(cycles, MOST_MISSES);
    if (found == 0)
        dg_cannot(ctx, "core.misses", "count", DG_UNRELIABLE,
                  "the time of more and more loads has no clear step",
                  "run again on a quiet machine");
    else
        dg_say(ctx, &(struct dg_number){
            .key = "core.misses", .unit = "count", .value = (double)found,
            .low = (double)(found - 1), .high = (double)(found + 1), .confidence = 0.8,
            .samples = MOST_MISSES,
            .method = "loads of cold lines, one more at a time, until their time steps up by a "
                      "latency" });
}

static bool read_pair(struct dg_context *ctx, uint32_t first, uint32_t second, unsigned bits,
                      bool store, double *cycles)
{
    struct dg_measure m;
    struct dg_pick q = { .offset = { first, second }, .count = 2, .bits = bits, .store = store };
    bool ok = dg_read_pick(ctx, &q, 3, &m);
    *cycles = m.cycles.low;
    return ok;
}

static void alias(struct dg_context *ctx)
{
    double same, apart;
    if (!read_pair(ctx, 2 * PAGE, 3 * PAGE, 64, true, &same) ||
        !read_pair(ctx, 2 * PAGE, 3 * PAGE + 1088, 64, true, &apart)) {
        dg_refused(ctx, "core.alias.4096", "cycles");
        return;
    }
    dg_say(ctx, &(struct dg_number){
        .key = "core.alias.4096", .unit = "cycles", .value = same - apart, .low = same - apart,
        .high = same - apart, .confidence = 0.9, .samples = 6,
        .method = "a store and a load in turn, 4096 bytes apart against 5184" });
}

/* Where in L1 a line lies is not told by its address alone on many cores: pairs at random. */
static void conflicts(struct dg_context *ctx)
{
    enum { PAIRS = 96 };
    static const char *const hashed = "which pairs of lines collide is not told by their addresses";
    double cycles[PAIRS];
    uint32_t l1 = (uint32_t)dg_known(ctx, "l1_size", 32768), lines = l1 / 2 / LINE;
    for (size_t i = 0; i < PAIRS; i++) {
        uint32_t a = (uint32_t)(dg_random(ctx) % lines);
        uint32_t b = (a + 1 + (uint32_t)(dg_random(ctx) % (lines - 1))) % lines;
        if (!read_pair(ctx, a * LINE, b * LINE, 64, false, &cycles[i])) {
            dg_refused(ctx, "core.conflict.share", "ratio");
            dg_refused(ctx, "l1_banks", "count");
            dg_refused(ctx, "l1_bank_width_bits", "bits");
            return;
        }
    }
    struct dg_conflicts_seen seen = dg_infer_conflicts(cycles, PAIRS);
    const char *reason = seen.share > 0 ? hashed : "no pair of loads of different lines collides";
    const char *help = "type the values into the profile if a plan needs them";
    dg_cannot(ctx, "l1_banks", "count", DG_UNAVAILABLE, reason, help);
    dg_cannot(ctx, "l1_bank_width_bits", "bits", DG_UNAVAILABLE, reason, help);
    if (seen.share == 0) {
        dg_cannot(ctx, "core.conflict.share", "ratio", DG_UNAVAILABLE, reason,
                  "nothing: that is how the processor works");
        return;
    }
    double spread = 2 * sqrt(seen.share * (1 - seen.share) / PAIRS);
    dg_say(ctx, &(struct dg_number){
        .key = "core.conflict.share", .unit = "ratio", .value = seen.share,
        .low = fmax(0.0001, seen.share - spread), .high = seen.share + spread, .confidence = 0.9,
        .samples = PAIRS,
        .method = "96 pairs of lines drawn at random, the same bytes of each loaded in turn" });
    dg_say(ctx, &(struct dg_number){
        .key = "core.conflict.cost", .unit = "cycles", .value = seen.cost, .low = seen.cost,
        .high = seen.cost, .confidence = 0.9, .samples = PAIRS,
        .method = "extra of a pair that collides over the usual pair" });
}

void dg_probe_loads(struct dg_context *ctx)
{
    if (ctx->quick)
        return;
    misses(ctx);
    if (!ctx->stopped)
        alias(ctx);
    if (!ctx->stopped)
        conflicts(ctx);
}
