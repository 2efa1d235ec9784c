/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells of turns by shape and steps: streams in L1 (mix.turn), in L2 (mix.pass), and a call around
 * a turn (mix.call), for a body on a target. */
#include <math.h>

#include "probes/mixes.h"

enum { KEY = 96, MOST = 16 };

struct batch {
    struct dg_mix mix[MOST];
    char key[MOST][KEY];
    size_t count;
};

static void add(const struct dg_context *ctx, struct batch *b, const struct dg_mix *mix,
                const char *family)
{
    if (b->count == MOST)
        return;
    b->mix[b->count] = *mix;
    dg_format(b->key[b->count], KEY, "%s.%s.%u.v%u.b%u.s%llu", family, mix->dtype, mix->bits,
              mix->vectors, mix->rows, (unsigned long long)mix->steps);
    b->count += !dg_settled(ctx, b->key[b->count]);
}

/* What half of the better samples stay below: most places of memory let a stream pass undisturbed,
 * in the others its pages crowd, by more or less in every run. */
static struct dg_stat better_half(struct dg_stat s)
{
    s.high = s.median;
    s.median = s.low;
    s.low = s.min;
    return s;
}

static void run(struct dg_context *ctx, const struct batch *b, unsigned samples, bool streams,
                const char *method)
{
    struct dg_measure m[MOST] = { 0 };
    if (b->count == 0 || ctx->stopped)
        return;
    if (!dg_read_mixes(ctx, b->mix, b->count, samples, m))
        return;                                  /* no such loop here: the cell is absent */
    for (size_t i = 0; i < b->count; i++) {
        struct dg_stat cycles = streams ? better_half(m[i].cycles) : m[i].cycles;
        if (m[i].samples > 0)
            dg_say_stat(ctx, b->key[i], "cycles", method, &cycles, 1);
    }
}

void dg_call_cell(struct dg_context *ctx, const struct dg_mix_frame *f, unsigned samples)
{
    char key[KEY];
    struct dg_measure m[2] = { 0 };
    struct dg_mix mix[2];
    mix[0] = dg_mix_turn(f, (struct dg_shape){ 1, dg_shape_rows(f, 1) < 8 ? 1 : 8 }, 16);
    mix[0].turns = dg_mix_turns(&mix[0], DG_TURN_CYCLES);
    mix[1] = mix[0];
    mix[1].call = true;
    dg_format(key, sizeof key, "mix.call.%s.%u", f->dtype, f->bits);
    if (ctx->stopped || dg_settled(ctx, key) ||
        !dg_read_mixes(ctx, mix, 2, samples, m) ||
        m[0].samples == 0 || m[1].samples == 0)
        return;
    double value = m[1].cycles.median - m[0].cycles.median;
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "cycles", .value = value, .low = m[1].cycles.low - m[0].cycles.high,
        .high = m[1].cycles.high - m[0].cycles.low, .confidence = 1,
        .samples = m[0].samples + m[1].samples,
        .method = "a called turn of 16 steps less the same turn without the call" });
}

/* The last vector is not stored whole tiles wide only where a kernel's is: all shapes, all steps
 * whose streams stay in three quarters of L1. */
void dg_turn_cells(struct dg_context *ctx, const struct dg_mix_frame *f, unsigned samples,
                   unsigned stride)
{
    static const uint64_t steps[] = { 8, 16, 32, 64, 128, 256, 512 };
    for (unsigned v = 1; v <= 8; v++)
        for (unsigned b = 1; b <= dg_shape_rows(f, v) && !ctx->stopped; b++) {
            struct batch batch = { .count = 0 };
            for (size_t i = 0; i < sizeof steps / sizeof *steps; i += stride) {
                struct dg_mix mix = dg_mix_turn(f, (struct dg_shape){ v, b }, steps[i]);
                mix.turns = dg_mix_turns(&mix, DG_TURN_CYCLES);
                if (dg_mix_resident(f, &mix) <= 0.75 * f->l1)
                    add(ctx, &batch, &mix, "mix.turn");
            }
            run(ctx, &batch, samples, false,
                "a turn of independent multiply-adds, then all accumulators stored; "
                "streams in L1, C in L2");
        }
}

void dg_pass_cells(struct dg_context *ctx, const struct dg_mix_frame *f, unsigned samples,
                   unsigned stride)
{
    static const uint64_t steps[] = { 32, 128, 512 };
    for (unsigned v = 1; v <= 8; v++)
        for (unsigned b = 1; b <= dg_shape_rows(f, v) && !ctx->stopped; b++) {
            struct batch batch = { .count = 0 };
            for (size_t i = 0; i < sizeof steps / sizeof *steps; i += stride) {
                struct dg_mix mix = dg_mix_turn(f, (struct dg_shape){ v, b }, steps[i]);
                uint64_t panel = steps[i] * v * f->bytes;
                uint64_t panels = (uint64_t)(f->l2 / 2) / panel;
                if (panels < 2 || panels * panel < 1.5 * f->l1)
                    continue;
                mix.s_turn = panel;
                mix.s_region = panels * panel;
                mix.turns = dg_mix_turns(&mix, DG_TURN_CYCLES);
                /* at least one whole walk, so that every panel comes from L2 */
                if (mix.turns < panels)
                    mix.turns = panels;
                add(ctx, &batch, &mix, "mix.pass");
            }
            run(ctx, &batch, samples, true,
                "the same turn, its vectors streamed from L2 and moving on each turn");
        }
}
