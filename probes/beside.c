/* SPDX-License-Identifier: Apache-2.0
 *
 * What comes along with a line from memory: its neighbours are looked at one by one. Whatever is
 * behind L1 has no longer lines where the other half of a pair was left in memory; where it always
 * comes along, longer lines and a prefetcher that completes pairs look alike. */
#include "probes/probe.h"

#include <math.h>

#include "probes/infer/beside.h"

enum { PAGE = 4096, GAP = 120, REST = 900, LOOKS = 16, FARTHEST = 8 };

static bool timed(struct dg_context *ctx, uint32_t line, uint32_t loaded, uint32_t looked_at,
                  double *cycles)
{
    struct dg_measure m;
    struct dg_fetch q = { .to = 2 * PAGE, .step = line, .order = &loaded, .count = 1, .gap = GAP,
                          .rest = REST, .repeats = 1, .timed = &looked_at, .timed_count = 1 };
    bool ok = dg_read_fetch(ctx, &q, 1, &m);
    *cycles = m.cycles.median;
    return ok;
}

/* What a line that was just loaded takes, and one far from any: the middle of a few. */
static bool read_ends(struct dg_context *ctx, uint32_t line, double *near, double *memory)
{
    enum { TRIES = 7 };
    double short_ones[TRIES], long_ones[TRIES];
    for (unsigned i = 0; i < TRIES; i++) {
        uint32_t at = (uint32_t)(dg_random(ctx) % (PAGE / line / 4)) * line;
        if (!timed(ctx, line, at, at, &short_ones[i]) ||
            !timed(ctx, line, at, at + PAGE + PAGE / 2, &long_ones[i]))
            return false;
    }
    *near = dg_stat_of(short_ones, TRIES).median;
    *memory = dg_stat_of(long_ones, TRIES).median;
    return *memory > 2 * *near;
}

/* Neighbours at all distances in no order, and each time only one: a prefetcher would learn which
 * one is looked at. Those next to the line count. */
static bool read_neighbours(struct dg_context *ctx, uint32_t line, double limit,
                            struct dg_beside *out)
{
    unsigned looks[2][2] = { { 0 } }, there[2][2] = { { 0 } };   /* by odd, by next */
    const uint32_t lines = PAGE / line;
    const uint32_t farthest = lines / 2 - 1 < FARTHEST ? lines / 2 - 1 : FARTHEST;
    const unsigned most = 32 * LOOKS;
    unsigned enough = 0;
    for (unsigned i = 0; i < most && enough < 4; i++) {
        uint32_t from = farthest + (uint32_t)(dg_random(ctx) % (lines - 2 * farthest));
        bool odd = from % 2 != 0, next = dg_random(ctx) % 2 != 0, beside = dg_random(ctx) % 4 == 0;
        uint32_t far = beside ? 1 : 2 + (uint32_t)(dg_random(ctx) % (farthest - 1));
        double cycles;
        if (!timed(ctx, line, from * line, (next ? from + far : from - far) * line, &cycles))
            return false;
        if (!beside || looks[odd][next] >= LOOKS)
            continue;
        there[odd][next] += cycles < limit;
        enough += ++looks[odd][next] == LOOKS;
    }
    *out = (struct dg_beside){ (double)there[0][1] / LOOKS, (double)there[0][0] / LOOKS,
                               (double)there[1][1] / LOOKS, (double)there[1][0] / LOOKS };
    return enough == 4;
}

static const char *const lines[] = { "l2_line_size", "l3_line_size" };
enum { LINES = sizeof lines / sizeof *lines };

static void cannot(struct dg_context *ctx, enum dg_status status, const char *reason,
                   const char *help)
{
    for (size_t i = 0; i < LINES; i++)
        dg_cannot(ctx, lines[i], "bytes", status, reason, help);
}

static void say_lines(struct dg_context *ctx, uint32_t line, const struct dg_beside *b)
{
    if (!dg_infer_lines_part(b)) {
        cannot(ctx, DG_UNAVAILABLE, "lines come in pairs: by a prefetcher, or because two of L1 "
               "are one line there", "type the value into the profile if a plan needs it");
        return;
    }
    for (size_t i = 0; i < LINES; i++) {
        /* the last level has no line where there is none */
        bool there = i == 0 || dg_known(ctx, "l3_effective_size", 0) > 0;
        if (there)
            dg_say_exact(ctx, lines[i], "bytes", "the other half of a pair of L1 lines stays in "
                         "memory when one is loaded", line, 0.9);
        else
            dg_cannot(ctx, lines[i], "bytes", DG_UNAVAILABLE, "no last level was found",
                      "nothing if the chip has none; else run again on a quiet machine");
    }
}

void dg_probe_beside(struct dg_context *ctx)
{
    static const char *const names[] = {
        [DG_ADJACENT_NONE] = "none", [DG_ADJACENT_PAIR] = "pair", [DG_ADJACENT_NEXT] = "next",
        [DG_ADJACENT_BEFORE] = "before", [DG_ADJACENT_BOTH] = "both",
        [DG_ADJACENT_SOMETIMES] = "sometimes" };
    uint32_t line = (uint32_t)dg_known(ctx, "l1_line_size", 0);
    double near = 0, memory = 0;
    struct dg_beside b;
    if (ctx->quick || line == 0) {
        cannot(ctx, DG_UNAVAILABLE,
               line > 0 ? "left out by --quick" : "the line of L1 is not known",
               line > 0 ? "run without --quick" : "run again on a quiet machine");
        return;
    }
    if (!read_ends(ctx, line, &near, &memory) ||
        !read_neighbours(ctx, line, 0.5 * (near + memory), &b)) {
        if (memory > 0 && !ctx->stopped)
            cannot(ctx, DG_UNRELIABLE, "a load from memory takes no longer than one that is near",
                   "run again on a quiet machine");
        for (size_t i = 0; memory == 0 && i < LINES && !ctx->stopped; i++)
            dg_refused(ctx, lines[i], "bytes");
        return;
    }
    dg_say_text(ctx, "prefetch.adjacent", "a line is loaded from memory, then one at a time of its "
                "neighbours at any distance is timed", names[dg_infer_adjacent(&b)]);
    say_lines(ctx, line, &b);
}
