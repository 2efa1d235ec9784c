/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams from beyond L2 under computing turns (mix.touch): what each new line costs, by how large
 * a region it comes from. Time of the turn with the stream moving through the region, less the
 * same turn with the stream at rest, over the lines that are new. */
#include "probes/probe.h"

#include <math.h>
#include <string.h>

#include "probes/mixes.h"

enum { KEY = 96, MOST = 16, FEW_SAMPLES = 11, SAMPLES = 41 };
/* KiB; those beyond L2 and within the memory that may be used are measured */
static const struct { uint64_t kib; bool few; } regions[] = {
    { 1024, false }, { 2048, true }, { 4096, true }, { 6144, false }, { 8192, true },
    { 12288, false }, { 16384, true }, { 32768, false }, { 49152, true },
};
enum { REGIONS = sizeof regions / sizeof *regions };
/* A sample walks a stretch of the region: a mix goes on where it stopped, so that all samples
 * together walk it several times, and a long sample would meet a disturbance every time. */
static const double longest_cycles = 1e6;
static const double sample_cycles = 60000;

struct batch {
    struct dg_mix mix[MOST];                     /* [0]: the stream at rest */
    char key[MOST][KEY];
    size_t count;
};

/* How much of it is measured; --quick and narrow vectors have `few`. */
struct scope {
    bool few;
    unsigned samples;
    uint64_t region[REGIONS];                    /* KiB */
    size_t count;
};

static void scope_of(const struct dg_context *ctx, const struct dg_mix_frame *f, bool few,
                     struct scope *out)
{
    *out = (struct scope){ .few = few, .samples = few ? FEW_SAMPLES : SAMPLES };
    for (size_t i = 0; i < REGIONS; i++) {
        double bytes = (double)regions[i].kib * 1024;
        if ((regions[i].few || !few) && bytes > 1.5 * f->l2 &&
            bytes <= (double)ctx->bench->info->memory_limit / 3)
            out->region[out->count++] = regions[i].kib;
    }
}

static void add(const struct dg_context *ctx, struct batch *b, const struct dg_mix *mix,
                uint64_t region, const char *prefix, const char *suffix)
{
    if (b->count == MOST)
        return;
    b->mix[b->count] = *mix;
    dg_format(b->key[b->count], KEY, "%s.k%llu%s", prefix, (unsigned long long)region, suffix);
    b->count += !dg_settled(ctx, b->key[b->count]);
}

static void start(struct batch *b, const struct dg_mix *rest)
{
    b->mix[0] = *rest;
    b->count = 1;
}

/* `per_turn`: new lines a turn. Lower quartiles: a disturbance of one turn in a hundred would be
 * several cycles a line. */
static void run(struct dg_context *ctx, const struct batch *b, unsigned samples, double per_turn,
                const char *method)
{
    struct dg_measure m[MOST] = { 0 };
    if (b->count < 2 || ctx->stopped || !dg_read_mixes(ctx, b->mix, b->count, samples, m) ||
        m[0].samples == 0)
        return;
    for (size_t i = 1; i < b->count; i++) {
        double value = (m[i].cycles.low - m[0].cycles.low) / per_turn;
        double blur = (m[i].cycles.median - m[i].cycles.low + m[0].cycles.median -
                       m[0].cycles.low) / 2 / per_turn;
        if (m[i].samples > 0)
            dg_say(ctx, &(struct dg_number){
                .key = b->key[i], .unit = "cycles", .value = value, .low = value - blur,
                .high = value + blur, .confidence = 1, .samples = m[i].samples,
                .method = method });
    }
}

/* Turns of a sample. */
static uint64_t turns_for(const struct dg_mix *mix, double region, double turn)
{
    uint64_t walk = turn > 0 ? (uint64_t)ceil(region / turn) : 1;
    uint64_t least = dg_mix_turns(mix, sample_cycles), most = dg_mix_turns(mix, longest_cycles);
    if (walk > most)
        walk = most;
    return walk > least ? walk : least;
}

static void panel(struct dg_context *ctx, const struct dg_mix_frame *f, unsigned vectors,
                  const struct scope *scope, bool prefetch)
{
    enum { REPEAT = 2 };
    char prefix[KEY];
    struct batch b;
    struct dg_shape shape = { vectors, dg_shape_rows(f, vectors) };
    uint64_t tile = (uint64_t)vectors * f->bytes;
    /* a panel that L2 holds and L1 does not: a quarter of L2, at most 128 KiB */
    uint64_t steps = (uint64_t)fmin(f->l2 / 4, 131072) / tile / 4 * 4, bytes = steps * tile;
    struct dg_mix rest = dg_mix_turn(f, shape, steps);
    dg_format(prefix, sizeof prefix, "mix.touch.panel.%s.%u.v%u", f->dtype, f->bits, vectors);
    rest.prefetch = prefetch;
    rest.s_repeat = REPEAT;
    rest.turns = turns_for(&rest, 0, 0);
    start(&b, &rest);
    for (size_t i = 0; i < scope->count; i++) {
        struct dg_mix mix = rest;
        mix.anew = false;                        /* the stream goes on where it stopped */
        mix.s_turn = bytes;
        mix.s_region = scope->region[i] * 1024 / bytes * bytes;
        mix.turns = turns_for(&mix, (double)mix.s_region * REPEAT, (double)bytes);
        add(ctx, &b, &mix, scope->region[i], prefix, prefetch ? ".p1" : ".p0");
    }
    run(ctx, &b, scope->samples, (double)bytes / f->line / REPEAT,
        prefetch ? "panels used twice each, the next one prefetched over the steps"
                 : "panels used twice each, moving through the region");
}

static void rows(struct dg_context *ctx, const struct dg_mix_frame *f, unsigned vectors,
                 const struct scope *scope)
{
    enum { STEPS = 256 };
    char prefix[KEY];
    struct batch b;
    struct dg_shape shape = { vectors, dg_shape_rows(f, vectors) };
    struct dg_mix rest = dg_mix_turn(f, shape, STEPS);
    uint64_t bytes = rest.row_stride * shape.rows;
    dg_format(prefix, sizeof prefix, "mix.touch.rows.%s.%u.b%u", f->dtype, f->bits, shape.rows);
    rest.turns = turns_for(&rest, 0, 0);
    start(&b, &rest);
    /* from L2 first: half of it */
    for (size_t i = 0; i <= scope->count; i++) {
        struct dg_mix mix = rest;
        mix.anew = false;                        /* the stream goes on where it stopped */
        uint64_t kib = i == 0 ? (uint64_t)f->l2 / 2048 : scope->region[i - 1];
        mix.r_turn = bytes;
        mix.r_region = kib * 1024 / bytes * bytes;
        mix.turns = turns_for(&mix, (double)mix.r_region, (double)bytes);
        if (mix.r_region > bytes)
            add(ctx, &b, &mix, kib, prefix, "");
    }
    run(ctx, &b, scope->samples, (double)(STEPS * f->element * shape.rows) / f->line,
        "new rows on each turn, moving through the region");
}

static void store(struct dg_context *ctx, const struct dg_mix_frame *f, const struct scope *scope)
{
    enum { STEPS = 64, VECTORS = 2 };
    char prefix[KEY];
    struct batch b;
    struct dg_shape shape = { VECTORS, dg_shape_rows(f, VECTORS) };
    struct dg_mix rest = dg_mix_turn(f, shape, STEPS);
    uint64_t tile = (uint64_t)VECTORS * f->bytes;
    dg_format(prefix, sizeof prefix, "mix.touch.store.%s.%u", f->dtype, f->bits);
    rest.turns = turns_for(&rest, 0, 0);
    start(&b, &rest);
    /* in L1 first, a quarter of it: the turn at rest has its C in L2, so this one is below zero */
    for (size_t i = 0; i <= scope->count; i++) {
        struct dg_mix mix = rest;
        mix.anew = false;                        /* the stream goes on where it stopped */
        uint64_t kib = i == 0 ? (uint64_t)f->l1 / 4096 : scope->region[i - 1];
        mix.c_region = kib * 1024 / shape.rows / tile * tile;
        if (mix.c_region == 0)
            continue;
        mix.c_row_stride = mix.c_region / 128 * 128 + 64;
        /* rows of C lie side by side: one walk of a row touches the whole region */
        mix.turns = turns_for(&mix, (double)mix.c_region, (double)tile);
        add(ctx, &b, &mix, kib, prefix, "");
    }
    run(ctx, &b, scope->samples, (double)tile * shape.rows / f->line,
        "accumulators stored to new lines on each turn, moving through the region");
}

/* Tiles of C one below the other, as a kernel walks them that keeps a panel of B: rows lie so far
 * apart that nothing fetches the next ones ahead. Lines beyond L2, with room left for the rest. */
static void down(struct dg_context *ctx, const struct dg_mix_frame *f, bool few, bool read)
{
    enum { STEPS = 64, LINES_APART = 49, LEAST_APART = 17 };
    const struct dg_bench_info *info = ctx->bench->info;
    unsigned vectors = dg_shape_rows(f, 4) >= 4 ? 4 : 2;
    struct dg_shape shape = { vectors, dg_shape_rows(f, vectors) };
    struct dg_mix rest = dg_mix_turn(f, shape, STEPS);
    double tile = vectors * f->bytes, room = (double)(info->memory_limit - info->small_from) * 0.9;
    uint64_t kib = (uint64_t)(2 * f->l2 / 1024), rows = (uint64_t)((double)kib * 1024 / tile);
    uint64_t apart = (uint64_t)(room / (double)rows / f->line);
    char prefix[KEY];
    struct batch b;
    apart = apart > LINES_APART ? LINES_APART : apart - (apart + 1) % 2;
    if (shape.rows == 0 || apart < LEAST_APART || (double)apart * f->line < 4 * tile)
        return;
    dg_format(prefix, sizeof prefix, "mix.touch.%s.%s.%u", read ? "add" : "down", f->dtype,
              f->bits);
    rest.c_read = read;
    rest.turns = turns_for(&rest, 0, 0);
    start(&b, &rest);
    struct dg_mix mix = rest;
    mix.anew = false;                            /* C goes on where it stopped */
    mix.c_row_stride = apart * (uint64_t)f->line;
    mix.c_turn = mix.c_row_stride * shape.rows;
    mix.c_region = rows / shape.rows * mix.c_turn;
    mix.turns = turns_for(&mix, (double)mix.c_region, (double)mix.c_turn);
    add(ctx, &b, &mix, kib, prefix, "");
    run(ctx, &b, few ? FEW_SAMPLES : SAMPLES, shape.rows,
        read ? "accumulators added to new rows on each turn, going down"
             : "accumulators stored to new rows on each turn, going down");
}

static void touch(struct dg_context *ctx, const struct dg_mix_frame *f, bool few)
{
    struct scope scope;
    scope_of(ctx, f, few, &scope);
    for (unsigned v = 1; v <= 4 && !ctx->stopped; v++) {
        if (dg_shape_rows(f, v) == 0)
            break;
        /* few: shapes that fill the registers with accumulators from both sides */
        if (few && (v == 1 || dg_shape_rows(f, v) < v))
            continue;
        panel(ctx, f, v, &scope, false);
        panel(ctx, f, v, &scope, true);
        rows(ctx, f, v, &scope);
    }
    if (dg_shape_rows(f, 2) > 0)
        store(ctx, f, &scope);
    for (int read = 0; read < 2 && dg_shape_rows(f, 2) > 0; read++)
        down(ctx, f, few, read != 0);
}

/* Lines are bytes, whatever is computed beside them; how much they hide behind depends on how fast
 * a step takes them, and that on the vectors' width. */
void dg_probe_touch(struct dg_context *ctx)
{
    struct dg_mix_frame all[DG_MIX_FRAMES];
    size_t count = dg_mix_frames(ctx, all);
    for (size_t i = 0; i < count && (i == 0 || !ctx->quick); i++)
        if (strcmp(all[i].dtype, all[0].dtype) == 0)
            touch(ctx, &all[i], ctx->quick || i > 0);
}
