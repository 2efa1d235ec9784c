/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns of other element types, and of f32 at narrower vectors. A body that takes the cycles of f32
 * shape by shape is said to be like it (mix.like) and has no cells of its own: its multiply goes
 * the same way through the core, and what it moves are the same bytes. */
#include "probes/probe.h"

#include <string.h>

#include "probes/infer/like.h"
#include "probes/mixes.h"

enum { KEY = 96, SAMPLES = 21, FEW_SAMPLES = 13, PAIRS = 16, STRIDE = 2 };

/* Shapes that fill the registers, and half of them: enough accumulators that no latency shows. */
static size_t shapes_of(const struct dg_mix_frame *f, struct dg_mix out[PAIRS])
{
    size_t count = 0;
    for (unsigned v = 2; v <= 5; v++) {
        unsigned most = dg_shape_rows(f, v);
        for (unsigned rows = most; rows > 0; rows = rows == most ? most / 2 : 0)
            for (uint64_t steps = 32; steps <= 128; steps *= 4) {
                out[count] = dg_mix_turn(f, (struct dg_shape){ v, rows }, steps);
                out[count].turns = dg_mix_turns(&out[count], DG_TURN_CYCLES);
                count += dg_mix_resident(f, &out[count]) <= 0.75 * f->l1;
            }
    }
    return count;
}

static bool like(struct dg_context *ctx, const struct dg_mix_frame *f,
                 const struct dg_mix_frame *other)
{
    struct dg_mix mix[2 * PAIRS];
    struct dg_measure m[2 * PAIRS] = { 0 };
    double cycles[PAIRS], base[PAIRS];
    size_t count = shapes_of(f, mix);
    for (size_t i = 0; i < count; i++) {
        mix[count + i] = mix[i];
        mix[count + i].dtype = other->dtype;
    }
    if (count == 0 || !dg_read_mixes(ctx, mix, 2 * count, SAMPLES, m))
        return false;
    for (size_t i = 0; i < count; i++) {
        cycles[i] = m[i].samples > 0 ? m[i].cycles.median : 0;
        base[i] = m[count + i].samples > 0 ? m[count + i].cycles.median : 0;
    }
    return dg_infer_like(cycles, base, count);
}

/* The form of another body at the same vectors; NULL: none. */
static const struct dg_mix_frame *of_body(const struct dg_mix_frame *all, size_t count,
                                          unsigned bits, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].bits == bits && strcmp(all[i].dtype, name) == 0)
            return &all[i];
    return NULL;
}

static void one(struct dg_context *ctx, const struct dg_mix_frame *f,
                const struct dg_mix_frame *base)
{
    char key[KEY];
    dg_format(key, sizeof key, "mix.like.%s.%u", f->dtype, f->bits);
    if (dg_settled(ctx, key))
        return;
    if (base != NULL && like(ctx, f, base)) {
        dg_say_text(ctx, key, "turns of eight shapes beside those of the other body",
                    base->dtype);
        return;
    }
    dg_turn_cells(ctx, f, FEW_SAMPLES, STRIDE);
    dg_pass_cells(ctx, f, FEW_SAMPLES, STRIDE);
}

void dg_probe_bodies(struct dg_context *ctx)
{
    struct dg_mix_frame all[DG_MIX_FRAMES];
    size_t count = ctx->quick ? 0 : dg_mix_frames(ctx, all);
    for (size_t i = 1; i < count && !ctx->stopped; i++) {
        const struct dg_mix_frame *f = &all[i], *base = of_body(all, count, f->bits, "f32");
        const char *instead = f->form.body->unless;
        if (base == f) {
            dg_turn_cells(ctx, f, SAMPLES, 1);
            dg_pass_cells(ctx, f, SAMPLES, 1);
            dg_call_cell(ctx, f, SAMPLES);
        } else if (instead == NULL || of_body(all, count, f->bits, instead) == NULL) {
            one(ctx, f, base);
        }
    }
}
