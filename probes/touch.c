/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams from beyond L2 under computing turns (mix.touch): what each new line costs, by how large
 * a region it comes from. Time of the turn with the stream moving through the region, less the
 * same turn with the stream at rest, over the lines that are new. */
#include "probes/probe.h"

#include <math.h>

#include "probes/mixes.h"

enum { KEY = 96, MOST = 16 };
/* KiB; those beyond L2 and within the memory that may be used are measured */
static const uint64_t regions[] = { 1024, 2048, 4096, 6144, 8192, 12288, 16384, 32768, 49152 };
enum { REGIONS = sizeof regions / sizeof *regions };
static const double sample_cycles = 60000;

struct batch {
    struct dg_mix mix[MOST];                     /* [0]: the stream at rest */
    uint64_t region[MOST];                       /* KiB */
    size_t count;
};

static size_t usable(const struct dg_context *ctx, const struct dg_mix_frame *f, uint64_t out[])
{
    size_t count = 0;
    for (size_t i = 0; i < REGIONS; i++) {
        double bytes = (double)regions[i] * 1024;
        /* --quick: every other region */
        bool asked = !ctx->quick || i % 2 == 1 || i == REGIONS - 1;
        if (asked && bytes > 1.5 * f->l2 && bytes <= (double)ctx->bench->info->memory_limit / 3)
            out[count++] = regions[i];
    }
    return count;
}

/* `per_turn`: new lines a turn. */
static void run(struct dg_context *ctx, const struct batch *b, double per_turn, const char *prefix,
                const char *suffix, const char *method)
{
    struct dg_measure m[MOST] = { 0 };
    if (b->count < 2 || ctx->stopped ||
        !dg_read_mixes(ctx, b->mix, b->count, ctx->quick ? 5 : 7, m) || m[0].samples == 0)
        return;
    for (size_t i = 1; i < b->count; i++) {
        char key[KEY];
        if (m[i].samples == 0)
            continue;
        dg_format(key, sizeof key, "%s.k%llu%s", prefix, (unsigned long long)b->region[i], suffix);
        dg_say(ctx, &(struct dg_number){
            .key = key, .unit = "cycles",
            .value = (m[i].cycles.median - m[0].cycles.median) / per_turn,
            .low = (m[i].cycles.low - m[0].cycles.high) / per_turn,
            .high = (m[i].cycles.high - m[0].cycles.low) / per_turn,
            .confidence = 1, .samples = m[i].samples, .method = method });
    }
}

/* Turns that walk the region once, or make a sample. */
static uint64_t turns_for(const struct dg_mix *mix, double region, double turn)
{
    uint64_t walk = turn > 0 ? (uint64_t)ceil(region / turn) : 1;
    uint64_t least = dg_mix_turns(mix, sample_cycles);
    return walk > least ? walk : least;
}

static void panel(struct dg_context *ctx, const struct dg_mix_frame *f, unsigned vectors,
                  const uint64_t *region, size_t count, bool prefetch)
{
    enum { REPEAT = 4 };
    char prefix[KEY];
    struct batch b = { .count = 0 };
    struct dg_shape shape = { vectors, dg_shape_rows(f, vectors) };
    uint64_t tile = (uint64_t)vectors * f->bytes;
    /* a panel that L2 holds and L1 does not: a quarter of L2, at most 128 KiB */
    uint64_t steps = (uint64_t)fmin(f->l2 / 4, 131072) / tile / 4 * 4, bytes = steps * tile;
    struct dg_mix rest = dg_mix_turn(f, shape, steps);
    rest.prefetch = prefetch;
    rest.s_repeat = REPEAT;
    rest.turns = turns_for(&rest, 0, 0);
    b.mix[b.count++] = rest;
    for (size_t i = 0; i < count; i++) {
        struct dg_mix mix = rest;
        mix.s_turn = bytes;
        mix.s_region = region[i] * 1024 / bytes * bytes;
        mix.turns = turns_for(&mix, (double)mix.s_region * REPEAT, (double)bytes);
        b.region[b.count] = region[i];
        b.mix[b.count++] = mix;
    }
    dg_format(prefix, sizeof prefix, "mix.touch.panel.f32.%u.v%u", f->bits, vectors);
    run(ctx, &b, (double)bytes / f->line / REPEAT, prefix, prefetch ? ".p1" : ".p0",
        prefetch ? "panels used four times each, the next one prefetched over the steps"
                 : "panels used four times each, moving through the region");
}

static void rows(struct dg_context *ctx, const struct dg_mix_frame *f, unsigned vectors,
                 const uint64_t *region, size_t count)
{
    enum { STEPS = 256 };
    char prefix[KEY];
    struct batch b = { .count = 0 };
    struct dg_shape shape = { vectors, dg_shape_rows(f, vectors) };
    struct dg_mix rest = dg_mix_turn(f, shape, STEPS);
    uint64_t bytes = rest.row_stride * shape.rows;
    rest.turns = turns_for(&rest, 0, 0);
    b.mix[b.count++] = rest;
    for (size_t i = 0; i < count; i++) {
        struct dg_mix mix = rest;
        mix.r_turn = bytes;
        mix.r_region = region[i] * 1024 / bytes * bytes;
        mix.turns = turns_for(&mix, (double)mix.r_region, (double)bytes);
        b.region[b.count] = region[i];
        b.mix[b.count++] = mix;
    }
    dg_format(prefix, sizeof prefix, "mix.touch.rows.f32.%u.b%u", f->bits, shape.rows);
    run(ctx, &b, (double)(STEPS * f->element * shape.rows) / f->line, prefix, "",
        "new rows on each turn, moving through the region");
}

static void store(struct dg_context *ctx, const struct dg_mix_frame *f, const uint64_t *region,
                  size_t count)
{
    enum { STEPS = 64, VECTORS = 2 };
    char prefix[KEY];
    struct batch b = { .count = 0 };
    struct dg_shape shape = { VECTORS, dg_shape_rows(f, VECTORS) };
    struct dg_mix rest = dg_mix_turn(f, shape, STEPS);
    uint64_t tile = (uint64_t)VECTORS * f->bytes;
    rest.turns = turns_for(&rest, 0, 0);
    b.mix[b.count++] = rest;
    for (size_t i = 0; i < count; i++) {
        struct dg_mix mix = rest;
        mix.c_region = region[i] * 1024 / shape.rows / tile * tile;
        mix.c_row_stride = mix.c_region / 128 * 128 + 64;
        mix.turns = turns_for(&mix, (double)mix.c_region, (double)tile);
        b.region[b.count] = region[i];
        b.mix[b.count++] = mix;
    }
    dg_format(prefix, sizeof prefix, "mix.touch.store.f32.%u", f->bits);
    run(ctx, &b, (double)tile * shape.rows / f->line, prefix, "",
        "accumulators stored to new lines on each turn, moving through the region");
}

void probe_touch(struct dg_context *ctx)
{
    struct dg_mix_frame f;
    uint64_t region[REGIONS];
    if (!dg_mix_frame(ctx, &f))
        return;
    size_t count = usable(ctx, &f, region);
    for (unsigned v = 1; v <= 4 && !ctx->stopped; v++) {
        if (dg_shape_rows(&f, v) == 0)
            break;
        panel(ctx, &f, v, region, count, false);
        panel(ctx, &f, v, region, count, true);
        rows(ctx, &f, v, region, count);
    }
    if (dg_shape_rows(&f, 2) > 0)
        store(ctx, &f, region, count);
}
