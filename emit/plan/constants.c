/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan/constants.h"
#include "profile/fields.h"

enum { KEY_SIZE = 96, SMALLEST_PAGE = 4096 };

static bool field(struct dg_view *view, const char *key, double *out)
{
    return dg_view_field(view, key, out);
}

/* The first of two keys that is there; where neither is, the default of the second. */
static bool either(struct dg_view *view, const char *first, const char *second, double *out)
{
    return dg_view_cell(view, first, out) || dg_view_field(view, second, out);
}

static uint64_t whole(double value)
{
    return value < 1 ? 0 : value >= 9e18 ? UINT64_C(9000000000000000000) : (uint64_t)value;
}

/* What a product holds in L2 is a block that stays and a panel that passes. Pages crowd some sets
 * more than others, so together that is less than L2 has: as measured, a block and a quarter of
 * its bytes. */
static uint64_t held_by_l2(struct dg_view *view, double l2)
{
    double stays;
    if (!dg_view_cell(view, "cache.resident.l2", &stays))
        return whole(l2);
    uint64_t block = whole(stays), all = dg_bytes_add(block, block / 4);
    return all < whole(l2) ? all : whole(l2);
}

static bool caches(struct dg_view *view, struct dg_constants *out)
{
    double l1, l2, l3 = 0, line, ways, stride, code, size;
    if (!field(view, "l1_size", &size) || !either(view, "l1_effective_size", "l1_size", &l1) ||
        !either(view, "l2_effective_size", "l2_size", &l2) ||
        !field(view, "l1_line_size", &line) || !field(view, "l1_ways", &ways))
        return false;
    if (!dg_view_cell(view, "l3_effective_size", &l3))
        dg_view_cell(view, "l3_size", &l3);       /* absent: the chip has none */
    out->l1_size = whole(size);
    out->capacity[0] = whole(l1);
    out->capacity[1] = held_by_l2(view, l2);
    out->l2_all = whole(l2);
    out->capacity[2] = whole(l3);
    out->line = whole(line);
    out->ways = whole(ways);
    if (!dg_view_cell(view, "l1_set_stride", &stride))
        stride = size / ways;
    out->set_stride[0] = whole(stride);
    /* Where physical addresses choose the set, rows still share the bits within a page. */
    out->set_stride[1] = dg_view_cell(view, "l2_set_stride", &stride) ? whole(stride)
                                                                      : SMALLEST_PAGE;
    out->code_capacity = dg_view_cell(view, "l1i_size", &code) ? whole(code) : out->capacity[0];
    return true;
}

/* Prices of a byte: L2 in core cycles, the last level and memory joined at the clock. */
static bool bandwidths(struct dg_view *view, struct dg_constants *out)
{
    double l2, l3, dram, clock;
    if (!field(view, "clock_hz", &clock) || !field(view, "bw.l2.read.1", &l2) ||
        !field(view, "bw.dram.read.1", &dram))
        return false;
    out->clock_hz = whole(clock);
    out->byte[0] = dg_price_of(1 / l2);
    out->byte[2] = dg_price_of(clock / (dram * 1e9));
    out->byte[1] = out->byte[2];
    if (out->capacity[2] == 0)
        return true;
    if (!field(view, "bw.l3.read.1", &l3))
        return false;
    out->byte[1] = dg_price_of(clock / (l3 * 1e9));
    return true;
}

/* fma_latency is what a person types and wins for f32; other types have only their cell. */
static bool latency(struct dg_view *view, const struct dg_body *body, struct dg_constants *out)
{
    char key[KEY_SIZE];
    double cycles;
    const struct dg_op *op = body->chain;
    dg_format(key, sizeof key, "op.%s.%s.%u.acc_latency", op->name, op->dtype, op->bits);
    bool found = (body->dtype == DG_F32 && dg_view_cell(view, "fma_latency", &cycles)) ||
                 dg_view_cell(view, key, &cycles) || dg_view_field(view, "fma_latency", &cycles);
    out->latency = found ? dg_price_of(cycles) : 0;
    return found;
}

static bool registers(struct dg_view *view, const struct dg_body *body, struct dg_constants *out)
{
    double count;
    out->registers = body->isa->vector_registers;
    if (!dg_view_cell(view, "vector_registers", &count))
        return true;                              /* the ISA says it */
    if (whole(count) < out->registers)
        out->registers = (unsigned)whole(count);
    return true;
}

/* Cells of steps of one vector are of multiplies straight from memory: they say nothing of a body
 * that has none, but where the latency of its chain decides anyway. */
static bool drop_folded(struct dg_view *view, const struct dg_constants *c,
                        struct dg_family_cells *family)
{
    const char *binding;
    struct dg_curve *kept = dg_alloc_array(view->arena, family->curve_count + 1, sizeof *kept);
    size_t count = 0;
    for (size_t i = 0; kept != NULL && i < family->curve_count; i++)
        if (family->curves[i].vectors != 1 ||
            dg_step_price(c, (struct dg_tile){ family->curves[i].rows, 1 }, &binding) ==
                c->latency)
            kept[count++] = family->curves[i];
    family->curves = kept;
    family->curve_count = count;
    return kept != NULL;
}

/* Cells of the turns of a body: its own, else those of the one that it was seen to be like, else
 * f32's. */
static bool turns(struct dg_view *view, const struct dg_body *body, struct dg_constants *out)
{
    char key[KEY_SIZE];
    double ignored;
    unsigned bits = body->isa->vector_bits;
    bool plain = dg_key_compare(body->mix, "f32") == 0;
    dg_format(key, sizeof key, "mix.like.%s.%u", body->mix, bits);
    if (!plain)
        dg_view_cell(view, key, &ignored);        /* recorded as read */
    const char *like = plain ? NULL : dg_profile_text(view->profile, key);
    const char *const names[] = { body->mix, like, plain ? NULL : "f32" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i] == NULL)
            continue;
        dg_format(key, sizeof key, "mix.turn.%s.%u.", names[i], bits);
        if (!dg_cells_read(view, key, &out->turn))
            return false;
        dg_format(key, sizeof key, "mix.pass.%s.%u.", names[i], bits);
        if (!dg_cells_read(view, key, &out->pass))
            return false;
        if (i > 0 && body->folded == NULL &&
            (!drop_folded(view, out, &out->turn) || !drop_folded(view, out, &out->pass)))
            return false;
        if (out->turn.curve_count > 0)
            return true;
    }
    return true;
}

/* What lines and calls cost is measured in f32 and the same for all. */
static bool mixes(struct dg_view *view, const struct dg_body *body, struct dg_constants *out)
{
    static const char *const names[] = { "panel", "rows", "store", "down", "add" };
    struct dg_family_cells *const families[] = { &out->panel, &out->rows, &out->store,
                                                &out->down, &out->add };
    unsigned bits = body->isa->vector_bits;
    char key[KEY_SIZE];
    double call;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        dg_format(key, sizeof key, "mix.touch.%s.f32.%u.", names[i], bits);
        if (!dg_cells_read(view, key, families[i]))
            return false;
    }
    dg_format(key, sizeof key, "mix.call.f32.%u", bits);
    if (!turns(view, body, out) || !field(view, key, &call))
        return false;
    out->call = dg_price_of(call < 0 ? 0 : call);
    return true;
}

bool dg_constants_read(struct dg_view *view, const struct dg_body *body, struct dg_constants *out)
{
    *out = (struct dg_constants){ .body = body };
    return registers(view, body, out) && caches(view, out) && bandwidths(view, out) &&
           latency(view, body, out) && dg_resources_read(view, body, out) &&
           mixes(view, body, out);
}
