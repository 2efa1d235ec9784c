/* SPDX-License-Identifier: Apache-2.0
 *
 * L1 data cache. Ways and set stride by conflict chases (the index of an L1 lies within the page
 * or within a huge page), size as their product, checked by chases just below and above it; line
 * by pairs of loads; latencies by chases well inside. */
#include "probes/probe.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "probes/infer/cache.h"
#include "probes/infer/rate.h"
#include "probes/orders.h"
#include "probes/vector.h"

static const uint32_t strides[] = { 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072,
                                    262144 };
enum { STRIDES = sizeof strides / sizeof *strides, MOST_LINES = 40, LOADS = 2048 };

struct memory {
    /* the least latency of all repeats: disturbances only add */
    double latency[STRIDES * MOST_LINES];
    size_t strides;
};

static double read_conflict(struct dg_context *ctx, uint32_t stride, unsigned lines)
{
    struct dg_measure reading;
    uint32_t *order = dg_order_strided(ctx, lines, stride);
    struct dg_chase q = { .order = order, .count = lines, .steps = LOADS, .warm = 16 };
    if (order == NULL || !dg_read_chase(ctx, &q, 5, &reading))
        return 0;
    return reading.cycles.min;
}

/* Rows end after a few misses: what follows decides nothing. */
static bool read_row(struct dg_context *ctx, struct memory *m, size_t s)
{
    double *row = m->latency + s * MOST_LINES, hit = 0;
    unsigned missed = 0;
    for (unsigned k = 1; k <= MOST_LINES; k++) {
        double cycles = missed >= 3 ? row[k - 2] : read_conflict(ctx, strides[s], k);
        if (cycles <= 0)
            return false;
        double *cell = &row[k - 1];
        *cell = *cell == 0 ? cycles : fmin(*cell, cycles);
        hit = hit == 0 ? *cell : fmin(hit, *cell);
        missed += *cell > 1.25 * hit;
    }
    return true;
}

static bool read_conflicts(struct dg_context *ctx, struct memory *m)
{
    m->strides = 0;
    for (size_t s = 0; s < STRIDES; s++) {
        if ((uint64_t)strides[s] * MOST_LINES > ctx->bench->info->memory_limit)
            break;
        if (!read_row(ctx, m, s))
            return false;
        m->strides = s + 1;
    }
    return m->strides > 0;
}

static bool chase_lines(struct dg_context *ctx, uint64_t bytes, uint32_t line, bool vector,
                        struct dg_measure *out)
{
    struct dg_chase q = { .steps = LOADS, .warm = 4, .vector = vector };
    uint32_t *order = dg_order_lines(ctx, bytes, line, &q.count);
    q.order = order;
    if (q.steps < 2 * q.count)
        q.steps = 2 * q.count;
    return order != NULL && dg_read_chase(ctx, &q, 9, out);
}

/* A cache of `size` holds 7/8 of it and not 3/2 of it. */
static bool size_holds(struct dg_context *ctx, double size, double latency)
{
    struct dg_measure below, above;
    return chase_lines(ctx, (uint64_t)(size * 7 / 8), 64, false, &below) &&
           chase_lines(ctx, (uint64_t)(size * 3 / 2), 64, false, &above) &&
           below.cycles.min < 1.15 * latency && above.cycles.min > 1.25 * latency;
}

/* So many lines stay and one more does not: what another number of ways excludes. */
static const char *certificate_of(struct dg_context *ctx, const struct memory *m,
                                  const struct dg_ways *ways)
{
    struct dg_str text;
    const double *row = m->latency;
    for (size_t s = 0; s < m->strides && strides[s] != ways->set_stride; s++)
        row += MOST_LINES;
    dg_str_init(&text, ctx->arena);
    dg_str_format(&text, "%u lines %u bytes apart: ", ways->ways, ways->set_stride);
    dg_str_fixed(&text, row[ways->ways - 1], 2);
    dg_str_format(&text, " cycles a load; %u lines: ", ways->ways + 1);
    dg_str_fixed(&text, row[ways->ways], 2);
    return dg_str_text(&text);
}

static double say_sizes(struct dg_context *ctx, const struct memory *m, double latency)
{
    static const char *const method =
        "chases over lines a fixed stride apart: fewest lines that leave the cache, by stride";
    static const char *const help = "run again on a quiet machine, or with huge pages allowed";
    struct dg_conflicts conflicts = { strides, m->strides, MOST_LINES, m->latency };
    struct dg_ways ways = dg_infer_ways(&conflicts);
    double size = (double)ways.ways * ways.set_stride;
    if (ways.ways == 0 || !size_holds(ctx, size, latency)) {
        const char *reason = ways.ways == 0 ? "no stride gave a clear number of ways"
                                            : "ways times set stride is not the size that holds";
        dg_cannot(ctx, "l1_ways", "count", DG_UNRELIABLE, reason, help);
        dg_cannot(ctx, "l1_set_stride", "bytes", DG_UNRELIABLE, reason, help);
        dg_cannot(ctx, "l1_size", "bytes", DG_UNRELIABLE, reason, help);
        return 0;
    }
    struct dg_number number = { .key = "l1_ways", .unit = "count", .method = method,
                                .value = ways.ways, .low = ways.ways, .high = ways.ways,
                                .confidence = ways.confidence, .samples = 1,
                                .certificate = certificate_of(ctx, m, &ways) };
    dg_say(ctx, &number);
    dg_say_exact(ctx, "l1_set_stride", "bytes", method, ways.set_stride, ways.confidence);
    dg_say_exact(ctx, "l1_size", "bytes", "ways times set stride, checked by chases of that size",
                 size, ways.confidence);
    return size;
}

static void say_line(struct dg_context *ctx, double size)
{
    static const uint32_t distance[] = { 8, 16, 32, 64, 128, 256, 512 };
    enum { DISTANCES = sizeof distance / sizeof *distance, BLOCK = 1024 };
    double latency[DISTANCES];
    /* four times the lines that the sets of these blocks can hold: every first load misses */
    size_t blocks = (size_t)fmax(128, 4 * size / BLOCK);
    for (size_t i = 0; i < DISTANCES; i++) {
        struct dg_measure reading;
        uint32_t *order = dg_order_pairs(ctx, blocks, BLOCK, distance[i]);
        struct dg_chase q = { .order = order, .count = 2 * blocks, .steps = 4 * blocks, .warm = 2 };
        if (order == NULL || !dg_read_chase(ctx, &q, 7, &reading)) {
            dg_refused(ctx, "l1_line_size", "bytes");
            return;
        }
        latency[i] = reading.cycles.low;
    }
    uint32_t line = dg_infer_line(distance, latency, DISTANCES);
    if (line == 0)
        dg_cannot(ctx, "l1_line_size", "bytes", DG_UNRELIABLE,
                  "loads beside a loaded line cost the same at every distance",
                  "run again on a quiet machine");
    else
        dg_say_exact(ctx, "l1_line_size", "bytes",
                     "pairs of loads: nearest distance at which the second misses too", line, 1);
}

static void say_latency(struct dg_context *ctx, double size, const struct dg_measure *scalar)
{
    struct dg_measure vector;
    struct dg_stat cycles = scalar->cycles;
    if (dg_infer_latency(cycles.median) == DG_LATENCY_WHOLE)
        cycles.median = round(cycles.median);
    cycles.low = fmin(cycles.low, cycles.median);
    cycles.high = fmax(cycles.high, cycles.median);
    dg_say_stat(ctx, "l1_latency", "cycles", "chase inside a quarter of the cache, to the whole "
                "cycle where one is near", &cycles, 1);
    if (!chase_lines(ctx, (uint64_t)(size / 4), 64, true, &vector)) {
        dg_refused(ctx, "l1_vector_latency", "cycles");
        return;
    }
    dg_say_vector_latency(ctx, "l1_vector_latency", &vector);
}

static void say_effective(struct dg_context *ctx, double size, double latency)
{
    double held = 0;
    unsigned long samples = 0;
    for (unsigned sixteenths = 8; sixteenths <= 20; sixteenths++) {
        struct dg_measure reading;
        double bytes = size / 16 * sixteenths;
        if (!chase_lines(ctx, (uint64_t)bytes, 64, false, &reading))
            return;
        samples += reading.samples;
        if (reading.cycles.min > 1.05 * latency)
            break;
        held = bytes;
    }
    if (held > 0)
        dg_say(ctx, &(struct dg_number){
            .key = "l1_effective_size", .unit = "bytes", .value = held, .low = held,
            .high = held + size / 16, .confidence = 1, .samples = samples,
            .method = "largest footprint whose chase stays within 5 % of the L1 latency" });
}

void dg_probe_l1(struct dg_context *ctx)
{
    struct dg_measure reading;
    if (*ctx->carry == NULL)
        *ctx->carry = dg_alloc(ctx->arena, sizeof(struct memory));
    struct memory *m = *ctx->carry;
    /* 4 KiB lie inside every L1 of a processor with vectors */
    if (m == NULL || !chase_lines(ctx, 4096, 64, false, &reading) || !read_conflicts(ctx, m)) {
        if (!ctx->stopped) {
            dg_refused(ctx, "l1_size", "bytes");
            dg_refused(ctx, "l1_latency", "cycles");
        }
        return;
    }
    double size = say_sizes(ctx, m, reading.cycles.min);
    bool assumed;
    if (size == 0)
        size = dg_known_or_claimed(ctx, "l1_size", 16384, &assumed);
    if (ctx->stopped)
        return;
    say_line(ctx, size);
    say_latency(ctx, size, &reading);
    say_effective(ctx, size, reading.cycles.min);
}
