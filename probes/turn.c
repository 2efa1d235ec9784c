/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns of every shape that fits the registers, of f32 at the widest vectors, and rows that crowd
 * one set (mix.set). */
#include "probes/probe.h"

#include "probes/mixes.h"

/* Each sample runs at another place of memory, and places differ by more than a planner may care
 * for: many samples. */
enum { KEY = 96, QUICK_SAMPLES = 21, SAMPLES = 51 };

static unsigned samples_of(const struct dg_context *ctx)
{
    return ctx->quick ? QUICK_SAMPLES : SAMPLES;
}

void dg_probe_turn(struct dg_context *ctx)
{
    struct dg_mix_frame f;
    if (!dg_mix_frame(ctx, &f))
        return;
    dg_turn_cells(ctx, &f, samples_of(ctx), 1);
    dg_call_cell(ctx, &f, samples_of(ctx));
}

void dg_probe_pass(struct dg_context *ctx)
{
    struct dg_mix_frame f;
    if (dg_mix_frame(ctx, &f))
        dg_pass_cells(ctx, &f, samples_of(ctx), 1);
}

static void say_set(struct dg_context *ctx, const struct dg_mix_frame *f, unsigned rows,
                    uint64_t stride)
{
    char key[KEY];
    struct dg_measure m[2] = { 0 };
    struct dg_mix mix[2];
    /* four lines of each row: enough to be loads, few enough for other sets to stay out of it */
    mix[0] = dg_mix_turn(f, (struct dg_shape){ 1, rows }, 64);
    mix[0].stores = 0;
    mix[0].turns = dg_mix_turns(&mix[0], DG_TURN_CYCLES);
    mix[1] = mix[0];
    mix[0].row_stride = stride + 64;
    mix[1].row_stride = stride;
    mix[0].r_region = mix[1].r_region = (stride + 64) * rows;
    dg_format(key, sizeof key, "mix.set.b%u.t%llu", rows, (unsigned long long)stride);
    if (dg_settled(ctx, key) || !dg_read_mixes(ctx, mix, 2, samples_of(ctx), m) ||
        m[0].samples == 0 || m[1].samples == 0 || m[0].cycles.median <= 0)
        return;
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "ratio", .value = m[1].cycles.median / m[0].cycles.median,
        .low = m[1].cycles.low / m[0].cycles.high, .high = m[1].cycles.high / m[0].cycles.low,
        .confidence = 1, .samples = m[0].samples + m[1].samples,
        .method = "turn with rows a set stride apart over rows a line further apart" });
}

void dg_probe_sets(struct dg_context *ctx)
{
    struct dg_mix_frame f;
    bool assumed;
    if (!dg_mix_frame(ctx, &f))
        return;
    double stride = dg_known_or_claimed(ctx, "l1_set_stride", 4096, &assumed);
    unsigned most = dg_shape_rows(&f, 1);
    for (unsigned rows = 4; rows <= most && !ctx->stopped; rows += rows < 8 ? 2 : 1)
        for (unsigned times = 1; times <= 2 && !ctx->stopped; times++)
            say_set(ctx, &f, rows, (uint64_t)stride * times);
}
