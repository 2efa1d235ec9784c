/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME_pack_b: row-major K x N into panels. A packing tile copies `vectors` vectors of each k; the
 * tail's last vector is loaded in part, which leaves zeros in its other lanes. */
#include <assert.h>

#include "emit/lower/internal.h"

static const struct dg_op *scalar_op(const struct lower *l, enum dg_sem sem)
{
    return dg_isa_op(l->isa, sem, "i64", 64, 0);
}

static bool add_vector(struct lower *l, struct dg_ir_tile *tile, struct dg_ir_block *block,
                       int64_t from, int64_t to, unsigned part)
{
    const struct dg_op *load = dg_isa_op(l->isa, part == 0 ? DG_SEM_LOAD : DG_SEM_LOAD_PART,
                                         l->body->element, l->isa->vector_bits, part);
    assert(load != NULL && "the target lacks a part");
    struct dg_ir_operand value = dg_ir_vector(tile->virtuals++), scratch = dg_lower_none();
    for (const char *p = load->operands; *p != '\0'; p++)
        if (*p == 't')
            scratch = dg_ir_vector(tile->virtuals++);
    return (dg_ir_add(l->arena, block, load, part, value, dg_ir_memory(l->step_a[0], from),
                      scratch) &&
            dg_ir_add(l->arena, block, l->body->store, 0, dg_ir_memory(l->step_b, to), value,
                      dg_lower_none())) || dg_lower_no_memory(l);
}

static bool add_steps(struct lower *l, struct dg_ir_tile *tile, struct dg_ir_block *block,
                      unsigned steps, unsigned vectors, unsigned part)
{
    int64_t from = (int64_t)l->problem->ldb * l->element, to = vectors * l->vector_bytes;
    for (unsigned u = 0; u < steps; u++)
        for (unsigned j = 0; j < vectors; j++)
            if (!add_vector(l, tile, block, u * from + j * l->vector_bytes,
                            u * to + j * l->vector_bytes, j + 1 == vectors ? part : 0))
                return false;
    return true;
}

static bool add_bump(struct lower *l, struct dg_ir_block *block, uint32_t scalar, int64_t bytes,
                     uint32_t held)
{
    bool short_enough = bytes <= l->isa->immediate_max;
    return dg_ir_add(l->arena, block,
                     scalar_op(l, short_enough ? DG_SEM_ADD_IMM : DG_SEM_ADD_REG), 0,
                     dg_ir_scalar(scalar),
                     short_enough ? dg_ir_immediate(bytes) : dg_ir_scalar(held), dg_lower_none()) ||
           dg_lower_no_memory(l);
}

static bool add_bumps(struct lower *l, struct dg_ir_block *block, unsigned steps,
                      unsigned vectors, uint32_t held)
{
    int64_t from = (int64_t)l->problem->ldb * l->element;
    return add_bump(l, block, l->step_a[0], steps * from, held) &&
           add_bump(l, block, l->step_b, steps * vectors * l->vector_bytes, held);
}

static bool add_copies(struct lower *l, struct dg_ir_block *block)
{
    const uint32_t *stream = l->function.stream;
    return (dg_ir_add(l->arena, block, scalar_op(l, DG_SEM_COPY), 0, dg_ir_scalar(l->step_a[0]),
                      dg_ir_scalar(stream[STREAM_A]), dg_lower_none()) &&
            dg_ir_add(l->arena, block, scalar_op(l, DG_SEM_COPY), 0, dg_ir_scalar(l->step_b),
                      dg_ir_scalar(stream[STREAM_B]), dg_lower_none())) || dg_lower_no_memory(l);
}

static struct dg_ir_node *pack_tile(struct lower *l, unsigned vectors, unsigned part)
{
    struct dg_ir_node *node = dg_ir_node(l->arena, DG_IR_TILE,
                                         dg_lower_text(l, "copy %u vectors a row", vectors));
    if (node == NULL) {
        dg_lower_no_memory(l);
        return NULL;
    }
    struct dg_ir_tile *tile = &node->u.tile;
    uint64_t k = l->problem->k;
    tile->virtuals = l->isa->vector_registers;
    tile->passes.usual = tile->passes.last = k / l->unroll;
    tile->rests.usual = tile->rests.last = k % l->unroll;
    if (!add_copies(l, &tile->setup) ||
        !add_steps(l, tile, &tile->pass, l->unroll, vectors, part) ||
        !add_bumps(l, &tile->pass_next, l->unroll, vectors, l->stride_pass) ||
        !add_steps(l, tile, &tile->rest, 1, vectors, part) ||
        !add_bumps(l, &tile->rest_next, 1, vectors, l->stride_rest))
        return NULL;
    return node;
}

static bool add_panels(struct lower *l)
{
    struct dg_ir_node *loop = dg_ir_node(l->arena, DG_IR_LOOP, "full panels");
    if (loop == NULL)
        return dg_lower_no_memory(l);
    int64_t row = l->panel_columns * l->element;
    loop->u.loop.count = (struct dg_ir_count){ l->panels, l->panels, NULL };
    loop->u.loop.step[STREAM_A] = row;
    loop->u.loop.step[STREAM_B] = row * (int64_t)l->problem->k;
    loop->u.loop.child = pack_tile(l, l->plan->tile.vectors, 0);
    l->function.nest = loop;
    return loop->u.loop.child != NULL;
}

static bool add_tail(struct lower *l)
{
    struct dg_ir_node **end = &l->function.nest;
    while (*end != NULL)
        end = &(*end)->next;
    *end = pack_tile(l, l->plan->tail_vectors, l->plan->tail_part);
    return *end != NULL;
}

/* Steps of one pass: few, and all within the reach of an address. */
static unsigned pack_unroll(const struct lower *l)
{
    int64_t from = (int64_t)l->problem->ldb * l->element;
    unsigned unroll = 4, bytes = (unsigned)l->vector_bytes;
    unsigned some = l->plan->tail_part == 0 ? bytes : l->plan->tail_part * (unsigned)l->element;
    while (unroll > 1) {
        bool reaches = true;
        for (unsigned u = 1; u < unroll; u++)
            for (unsigned j = 0; j < l->plan->tile.vectors; j++)
                reaches = reaches &&
                          dg_ir_reaches(l->isa, bytes, u * from + j * l->vector_bytes) &&
                          dg_ir_reaches(l->isa, some, u * from + j * l->vector_bytes);
        if (reaches && unroll <= l->problem->k)
            break;
        unroll /= 2;
    }
    return unroll;
}

bool dg_lower_pack(struct lower *l)
{
    l->function.arguments = 2;
    l->function.stream[STREAM_A] = 0;
    l->function.stream[STREAM_B] = 1;
    l->scalars = 2;
    l->function.scalar_name[0] = "row-major B of the panel";
    l->function.scalar_name[1] = "packed panel";
    l->unroll = pack_unroll(l);
    if (!dg_lower_scalar(l, "count", &l->function.count) ||
        !dg_lower_scalar(l, "free", &l->function.temporary) ||
        !dg_lower_scalar(l, "row of B", &l->step_a[0]) ||
        !dg_lower_scalar(l, "row of the panel", &l->step_b) || !dg_lower_mask(l) ||
        !dg_lower_stride(l, (int64_t)l->problem->ldb * l->element))
        return false;
    l->function.scratch_pointer = l->step_a[0];
    if (l->problem->k == 0)
        return true;
    return (l->panels == 0 || add_panels(l)) && (l->plan->tail_columns == 0 || add_tail(l));
}
