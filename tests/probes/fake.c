/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double clock_ghz = 2.5;

static double uniform(struct fake *f)
{
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(f->random >> 11) / 9007199254740992.0;
}

/* ---- caches ---- */

static bool hit(struct fake *f, int l, uint32_t address)
{
    uint32_t line = address / f->level[l].line, ways = f->level[l].ways;
    uint32_t sets = f->level[l].size / f->level[l].line / ways;
    uint32_t *set = f->tag[l] + (size_t)(line % sets) * ways;
    uint32_t at = 0;
    while (at < ways - 1 && set[at] != line + 1)
        at++;
    bool found = set[at] == line + 1;
    memmove(set + 1, set, at * sizeof *set);
    set[0] = line + 1;
    return found;
}

static double load(struct fake *f, uint32_t address)
{
    double latency = f->memory_latency;
    for (int l = FAKE_LEVELS - 1; l >= 0; l--)
        if (f->level[l].size > 0 && hit(f, l, address))
            latency = f->level[l].latency;
    return latency;
}

/* ---- requests ---- */

static bool may(struct fake *f, struct dg_error *e)
{
    f->requests++;
    if (f->stop_after != 0 && f->requests > f->stop_after)
        return dg_fail(e, DG_EXIT_INTERRUPTED, "", DG_RULE_INTERRUPTED, "", "");
    if (f->budget > 0 && f->requests > f->budget)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "", DG_RULE_OVER, "", "give more time");
    return true;
}

static void give(struct fake *f, struct dg_samples *out, double cycles)
{
    out->count = 0;
    out->rejected = 0;
    if (f->busy_after != 0 && f->requests > f->busy_after)
        return;
    while (out->count < out->capacity) {
        double value = cycles * (1 + f->noise * uniform(f) * uniform(f));
        out->sample[out->count++] = (struct dg_sample){ value, value / clock_ghz };
    }
}

static bool chase(void *self, const struct dg_chase *q, struct dg_samples *out, struct dg_error *e)
{
    struct fake *f = self;
    double cycles = 0;
    if (!may(f, e))
        return false;
    uint64_t steps = q->steps != 0 ? q->steps : q->count;
    for (uint64_t i = 0; i < (uint64_t)q->warm * q->count; i++)
        load(f, q->order[i % q->count]);
    for (uint64_t i = 0; i < steps; i++)
        cycles += load(f, q->order[i % q->count]) + (q->vector ? 3 + 2 : 0);
    give(f, out, cycles / (double)steps);
    return true;
}

static bool resample(void *self, const struct dg_resample *q, struct dg_samples *out,
                     struct dg_error *e)
{
    struct fake *f = self;
    double cycles = 0;
    if (!may(f, e))
        return false;
    for (uint64_t at = 0; at < q->window; at += 64)
        load(f, (uint32_t)at);
    for (size_t i = 0; i < q->count; i++)
        cycles += load(f, q->order[i]);
    give(f, out, cycles / (double)q->count);
    return true;
}

static bool evict(void *self, const struct dg_evict *q, struct dg_samples *out, struct dg_error *e)
{
    struct fake *f = self;
    if (!may(f, e))
        return false;
    load(f, q->target);
    for (size_t i = 0; i < q->count * q->passes; i++)
        load(f, q->order[i % q->count]);
    give(f, out, load(f, q->target));
    return true;
}

static bool stream(void *self, const struct dg_stream *q, struct dg_samples *out,
                   struct dg_error *e)
{
    struct fake *f = self;
    double per_byte = 1.0 / 6;
    if (!may(f, e))
        return false;
    for (int l = FAKE_LEVELS - 1; l >= 0; l--)
        if (q->bytes <= f->level[l].size)
            per_byte = (l + 1) / 32.0;
    give(f, out, per_byte);
    return true;
}

/* Operations by name: multiply-adds and multiplies share a unit, loads another, stores a third. */
static double alone(const struct fake *f, const char *op)
{
    if (strncmp(op, "fma", 3) == 0 || strncmp(op, "mul.", 4) == 0)
        return 1 / f->fma_rate;
    if (strncmp(op, "load", 4) == 0 || strncmp(op, "broadcast", 9) == 0)
        return 0.5;
    return strncmp(op, "store", 5) == 0 ? 1 : 0.25;
}

static int unit(const char *op)
{
    return strncmp(op, "fma", 3) == 0 || strncmp(op, "mul.", 4) == 0 ? 1
         : strncmp(op, "load", 4) == 0 || strncmp(op, "broadcast", 9) == 0 ? 2
         : strncmp(op, "store", 5) == 0 ? 3 : 4;
}

static bool loop(void *self, const struct dg_loop *q, struct dg_samples *out, struct dg_error *e)
{
    struct fake *f = self;
    if (!may(f, e))
        return false;
    double cycles = alone(f, q->op), latency = strncmp(q->op, "fma", 3) == 0 ? f->fma_latency : 3;
    if (q->kind == DG_LOOP_LATENCY)
        cycles = strcmp(q->op, "ref.through-vector") == 0 ? 2 * 2 : latency;
    if (q->kind == DG_LOOP_RATE && unit(q->op) == 1)
        cycles = fmax(cycles, latency / q->chains);
    if (q->kind == DG_LOOP_PAIR) {
        double a = q->count_a * cycles, b = q->count_b * alone(f, q->other);
        cycles = unit(q->op) == unit(q->other) ? a + b : fmax(a, b);
    }
    give(f, out, cycles);
    return true;
}

/* The walks of the block, what passes between them, and the walk behind what is pushed. */
static bool hold(void *self, const struct dg_hold *q, struct dg_samples *out, struct dg_error *e)
{
    struct fake *f = self;
    double cycles = 0;
    uint64_t passed = 0;
    if (!may(f, e))
        return false;
    for (unsigned walk = 0; walk < q->walks; walk++) {
        for (uint64_t at = 0; at < q->beside; at += 64)
            load(f, (uint32_t)(q->from + (passed + at) % q->bytes));
        passed += q->beside;
        for (size_t i = 0; i < q->count; i++)
            cycles += load(f, q->order[i]);
    }
    if (q->push > 0) {
        for (uint64_t at = 0; at < q->push; at += 64)
            load(f, (uint32_t)(q->push_from + at));
        cycles = 0;
        for (size_t i = 0; i < q->count; i++)
            cycles += load(f, q->order[i]);
    }
    give(f, out, cycles / (double)q->count / (q->push > 0 ? 1 : q->walks));
    return true;
}

static bool mix(void *self, const struct dg_mix *q, size_t count, struct dg_samples *out,
                struct dg_error *e)
{
    struct fake *f = self;
    if (!may(f, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        double products = q[i].vectors * q[i].rows;
        double step = fmax(products / f->fma_rate, f->fma_latency);
        give(f, &out[i], step * (double)q[i].steps + products + (q[i].call ? 5 : 0));
    }
    return true;
}

static double time_left(void *self)
{
    struct fake *f = self;
    return f->budget > 0 ? fmax(0, f->budget - f->requests) : -1;
}

void fake_open(struct fake *f)
{
    static const char *const features[] = { "sse2", "avx", "avx2", "fma" };
    for (int l = 0; l < FAKE_LEVELS; l++)
        if (f->level[l].size > 0)
            f->tag[l] = calloc(f->level[l].size / f->level[l].line, sizeof *f->tag[l]);
    f->info = (struct dg_bench_info){
        .time_source = "fake", .tick_ns = 1, .clock_hz = clock_ghz * 1e9,
        .clock_low_hz = clock_ghz * 1e9, .clock_high_hz = clock_ghz * 1e9, .chains = "", .perf = "",
        .cycle_source = "chains", .page_bytes = 4096, .memory_limit = 12 << 20, .cpus = 1,
        .features = features, .feature_count = 4 };
    f->random = 1;
    f->requests = 0;
    f->bench = (struct dg_bench){ .self = f, .info = &f->info, .chase = chase, .evict = evict,
                                  .resample = resample, .stream = stream, .loop = loop,
                                  .hold = hold, .mix = mix, .time_left = time_left };
}

void fake_close(struct fake *f)
{
    for (int l = 0; l < FAKE_LEVELS; l++)
        free(f->tag[l]);
}
