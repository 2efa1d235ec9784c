/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/mixes.h"

#include <math.h>
#include <string.h>

/* C is walked over this much, or a quarter of L2: large enough to leave L1, small enough to stay in
 * L2 beside the streams. */
static const double c_bytes = 200 * 1024;

size_t dg_mix_frames(struct dg_context *ctx, struct dg_mix_frame out[DG_MIX_FRAMES])
{
    const struct dg_bench_info *info = ctx->bench->info;
    bool assumed;
    struct dg_mix_frame f = {
        .l1 = dg_known_or_claimed(ctx, "l1_size", 32768, &assumed),
        .l2 = dg_known_or_claimed(ctx, "l2_size", 262144, &assumed),
        .line = dg_known_or_claimed(ctx, "l1_line_size", 64, &assumed),
    };
    size_t count = 0;
    for (size_t i = 0; dg_isas[i] != NULL; i++) {
        if (strcmp(dg_isas[i]->architecture, ctx->architecture) != 0)
            continue;
        for (size_t b = 0; b < dg_mix_body_count && count < DG_MIX_FRAMES; b++) {
            const struct dg_mix_body *body = &dg_mix_bodies[b];
            if (dg_mix_body_named(body->name) != body ||
                !dg_mix_form_of(dg_isas[i], body->name, &f.form) ||
                !dg_mix_form_usable(&f.form, info->features, info->feature_count))
                continue;
            f.dtype = body->name;
            f.bits = dg_isas[i]->vector_bits;
            f.bytes = f.bits / 8 / body->narrow;
            f.element = body->element;
            out[count++] = f;
        }
    }
    return count;
}

bool dg_mix_frame(struct dg_context *ctx, struct dg_mix_frame *out)
{
    struct dg_mix_frame all[DG_MIX_FRAMES];
    size_t count = dg_mix_frames(ctx, all);
    *out = all[0];
    return count > 0;
}

bool dg_shape_fits(const struct dg_mix_frame *f, struct dg_shape s)
{
    return dg_mix_registers(&f->form, s.vectors, s.rows) <= f->form.isa->vector_registers;
}

unsigned dg_shape_rows(const struct dg_mix_frame *f, unsigned vectors)
{
    unsigned rows = 0;
    while (dg_shape_fits(f, (struct dg_shape){ vectors, rows + 1 }))
        rows++;
    return rows;
}

static uint64_t up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

struct dg_mix dg_mix_turn(const struct dg_mix_frame *f, struct dg_shape s, uint64_t steps)
{
    struct dg_mix m = { .dtype = f->dtype, .bits = f->bits, .vectors = s.vectors, .rows = s.rows,
                        .stores = s.vectors * s.rows, .steps = steps, .turns = 1, .s_repeat = 1,
                        .anew = true };
    uint64_t tile = (uint64_t)s.vectors * f->bits / 8;     /* of C */
    m.s_region = steps * s.vectors * f->bytes;
    /* rows an odd number of lines apart: no two of them crowd one set */
    m.row_stride = up(steps * f->element, 64) / 64 % 2 ? up(steps * f->element, 64)
                                                        : up(steps * f->element, 64) + 64;
    m.r_region = m.row_stride * s.rows;
    m.c_turn = tile;
    uint64_t row = (uint64_t)(fmin(c_bytes, f->l2 / 4) / s.rows) / tile * tile;
    m.c_region = row > tile ? row : tile;
    m.c_row_stride = up(m.c_region, 64) / 64 % 2 ? up(m.c_region, 64) : up(m.c_region, 64) + 64;
    return m;
}

double dg_mix_resident(const struct dg_mix_frame *f, const struct dg_mix *m)
{
    return (double)m->steps * m->vectors * f->bytes + (double)m->row_stride * m->rows;
}

uint64_t dg_mix_turns(const struct dg_mix *m, double cycles)
{
    /* one multiply-add a cycle is near enough for a count of turns */
    double turn = (double)m->steps * fmax(4, m->vectors * m->rows) + 20;
    return (uint64_t)fmax(2, ceil(cycles / turn));
}
