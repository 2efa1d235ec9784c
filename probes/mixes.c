/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/mixes.h"

#include <math.h>

/* C is walked over this much, or a quarter of L2: large enough to leave L1, small enough to stay in
 * L2 beside the streams. */
static const double c_bytes = 200 * 1024;

bool dg_mix_frame(struct dg_context *ctx, struct dg_mix_frame *f)
{
    bool assumed;
    f->bits = dg_kernel_bits(ctx);
    f->registers = dg_kernel_registers(ctx);
    f->bytes = f->bits / 8;
    f->element = 4;
    f->l1 = dg_known_or_claimed(ctx, "l1_size", 32768, &assumed);
    f->l2 = dg_known_or_claimed(ctx, "l2_size", 262144, &assumed);
    f->line = dg_known_or_claimed(ctx, "l1_line_size", 64, &assumed);
    return f->bits != 0;
}

bool dg_shape_fits(const struct dg_mix_frame *f, struct dg_shape s)
{
    unsigned held = s.vectors < s.rows ? s.vectors : s.rows;
    return s.vectors * s.rows + held + 1 <= f->registers;
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
    struct dg_mix m = { .dtype = "f32", .bits = f->bits, .vectors = s.vectors, .rows = s.rows,
                        .stores = s.vectors * s.rows, .steps = steps, .turns = 1, .s_repeat = 1,
                        .anew = true };
    uint64_t tile = (uint64_t)s.vectors * f->bytes;
    m.s_region = steps * tile;
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
