/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME_pack_b: row-major K x N into panels. A packing tile makes `vectors` vectors of each step: it
 * copies a row, widens it, or puts a group of rows into the lanes, the first in the lowest bits and
 * zeros beyond K. The tail's last vector is loaded in part, which leaves zeros in its other lanes.
 * Where A is flipped (a + 128), -128 times the sums of B's columns go ahead of the panel's
 * steps. */
#include <assert.h>
#include <string.h>

#include "emit/lower/internal.h"

/* What one packing tile is written with. */
struct packer {
    struct lower *l;
    struct dg_ir_tile *tile;
    unsigned vectors, part;                /* of a step; lanes of the last vector, 0: all */
};

static const struct dg_op *scalar_op(const struct lower *l, enum dg_sem sem)
{
    return dg_isa_op(l->isa, sem, "i64", 64, 0);
}

static const struct dg_op *vector_op(const struct lower *l, enum dg_sem sem)
{
    return dg_isa_op(l->isa, sem, "s32", l->isa->vector_bits, 0);
}

static bool add(struct packer *p, struct dg_ir_block *block, const struct dg_op *op, unsigned part,
                struct dg_ir_operand a, struct dg_ir_operand b, struct dg_ir_operand c)
{
    return dg_ir_add(p->l->arena, block, op, part, a, b, c) || dg_lower_no_memory(p->l);
}

/* Stores of what the kernel loads. */
static const struct dg_op *store_op(const struct lower *l)
{
    return dg_isa_op(l->isa, DG_SEM_STORE, l->body->load->dtype, l->isa->vector_bits, 0);
}

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static unsigned source_bytes(const struct lower *l)
{
    return dg_dtypes[l->problem->dtype].b_bytes;
}

static int64_t source_row(const struct lower *l)
{
    return (int64_t)l->problem->ldb * source_bytes(l);
}

/* One row's elements of a vector into a fresh register. */
static bool add_row(struct packer *p, struct dg_ir_block *block, unsigned vector, unsigned row,
                    struct dg_ir_operand *out)
{
    struct lower *l = p->l;
    unsigned part = vector + 1 == p->vectors ? p->part : 0;
    const struct dg_op *load = dg_isa_op(l->isa, part == 0 ? DG_SEM_LOAD : DG_SEM_LOAD_PART,
                                         l->body->source, l->isa->vector_bits, part);
    assert(load != NULL && "the target lacks a part");
    struct dg_ir_operand scratch = dg_lower_none();
    *out = dg_ir_vector(p->tile->virtuals++);
    for (const char *c = load->operands; *c != '\0'; c++)
        if (*c == 't')
            scratch = dg_ir_vector(p->tile->virtuals++);
    int64_t at = row * source_row(l) + (int64_t)vector * l->body->lanes * source_bytes(l);
    return add(p, block, load, part, *out, dg_ir_memory(l->step_a[0], at), scratch);
}

static bool shift(struct packer *p, struct dg_ir_block *block, enum dg_sem sem, unsigned bits,
                  struct dg_ir_operand *value)
{
    struct dg_ir_operand before = *value;
    if (bits == 0)
        return true;
    *value = dg_ir_vector(p->tile->virtuals++);
    return add(p, block, vector_op(p->l, sem), 0, *value, before, dg_ir_immediate(bits));
}

/* Row `row` of a lane's group put in its place, with zeros in those of the others: a bf16 that
 * becomes f32 stands in the upper half. */
static bool place_row(struct packer *p, struct dg_ir_block *block, unsigned row,
                      struct dg_ir_operand *value)
{
    const struct dg_body *body = p->l->body;
    unsigned bits = 32 / body->group, low = row * bits;
    if (same(body->load->dtype, body->source))
        return true;
    if (body->group == 1)
        return shift(p, block, DG_SEM_SHIFT_LEFT, 16, value);
    if (body->source[0] == 'u')
        return shift(p, block, DG_SEM_SHIFT_LEFT, low, value);
    return shift(p, block, DG_SEM_SHIFT_LEFT, 32 - bits, value) &&
           shift(p, block, DG_SEM_SHIFT_RIGHT, 32 - bits - low, value);
}

/* Row `row` of a group joined to those before it. */
static bool join_row(struct packer *p, struct dg_ir_block *block, struct dg_ir_operand value,
                     struct dg_ir_operand *all)
{
    struct dg_ir_operand before = *all;
    *all = dg_ir_vector(p->tile->virtuals++);
    return add(p, block, vector_op(p->l, DG_SEM_OR), 0, *all, before, value);
}

/* A vector of a step whose first row is `row` rows from the pointer, of so many rows. */
static bool add_vector(struct packer *p, struct dg_ir_block *block, unsigned vector, unsigned row,
                       unsigned rows, int64_t to)
{
    struct lower *l = p->l;
    struct dg_ir_operand all, next;
    if (!add_row(p, block, vector, row, &all) || !place_row(p, block, 0, &all))
        return false;
    for (unsigned i = 1; i < rows; i++)
        if (!add_row(p, block, vector, row + i, &next) || !place_row(p, block, i, &next) ||
            !join_row(p, block, next, &all))
            return false;
    if (l->body->flip != NULL && !add(p, block, l->body->chain, 0, dg_ir_vector(vector),
                                      dg_ir_vector(l->flip), all))
        return false;
    return add(p, block, store_op(l), 0, dg_ir_memory(l->step_b, to), all, dg_lower_none());
}

static bool add_steps(struct packer *p, struct dg_ir_block *block, unsigned steps, unsigned rows)
{
    const struct lower *l = p->l;
    for (unsigned u = 0; u < steps; u++)
        for (unsigned j = 0; j < p->vectors; j++)
            if (!add_vector(p, block, j, u * l->body->group, rows,
                            (u * p->vectors + j) * l->b_vector))
                return false;
    return true;
}

/* Sums of the columns times 128 start at 0; their negatives go to the head of the panel. */
static bool add_head(struct packer *p)
{
    struct lower *l = p->l;
    struct dg_ir_operand none = dg_lower_none(), zero = dg_ir_vector(p->tile->virtuals++);
    if (l->body->flip == NULL)
        return true;
    p->tile->pinned = ((UINT64_C(1) << p->vectors) - 1) | UINT64_C(1) << l->flip;
    if (!add(p, &p->tile->finish, l->body->zero, 0, zero, none, none))
        return false;
    for (unsigned j = 0; j < p->vectors; j++) {
        struct dg_ir_operand sum = dg_ir_vector(j), head = dg_ir_vector(p->tile->virtuals++);
        if (!add(p, &p->tile->zero, l->body->zero, 0, sum, none, none) ||
            !add(p, &p->tile->finish, vector_op(l, DG_SEM_SUB), 0, head, zero, sum) ||
            !add(p, &p->tile->finish, store_op(l), 0,
                 dg_ir_memory(l->function.stream[STREAM_B], j * l->b_vector), head, none))
            return false;
    }
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

static bool add_bumps(struct packer *p, struct dg_ir_block *block, unsigned steps, uint32_t held)
{
    struct lower *l = p->l;
    int64_t from = source_row(l) * l->body->group;
    return add_bump(l, block, l->step_a[0], steps * from, held) &&
           add_bump(l, block, l->step_b, steps * p->vectors * l->b_vector, held);
}

static bool add_copies(struct packer *p)
{
    struct lower *l = p->l;
    struct dg_ir_block *block = &p->tile->setup;
    int64_t head = l->body->flip != NULL ? p->vectors * l->b_vector : 0;
    const uint32_t *stream = l->function.stream;
    return add(p, block, scalar_op(l, DG_SEM_COPY), 0, dg_ir_scalar(l->step_a[0]),
               dg_ir_scalar(stream[STREAM_A]), dg_lower_none()) &&
           add(p, block, scalar_op(l, DG_SEM_COPY), 0, dg_ir_scalar(l->step_b),
               dg_ir_scalar(stream[STREAM_B]), dg_lower_none()) &&
           (dg_ir_advance(l->isa, l->arena, block, l->step_b, head, l->function.temporary) ||
            dg_lower_no_memory(l));
}

static struct dg_ir_node *pack_tile(struct lower *l, unsigned vectors, unsigned part)
{
    struct dg_ir_node *node = dg_ir_node(l->arena, DG_IR_TILE,
                                         dg_lower_text(l, "%u vectors a step", vectors));
    if (node == NULL) {
        dg_lower_no_memory(l);
        return NULL;
    }
    struct dg_ir_tile *tile = &node->u.tile;
    struct packer p = { l, tile, vectors, part };
    uint64_t full = l->problem->k / l->body->group;
    tile->virtuals = l->isa->vector_registers;
    tile->passes.usual = tile->passes.last = full / l->unroll;
    tile->rests.usual = tile->rests.last = full % l->unroll;
    tile->odds.usual = tile->odds.last = l->odd != 0;
    if (!add_copies(&p) || !add_head(&p) ||
        !add_steps(&p, &tile->pass, l->unroll, l->body->group) ||
        !add_bumps(&p, &tile->pass_next, l->unroll, l->stride_pass) ||
        !add_steps(&p, &tile->rest, 1, l->body->group) ||
        !add_bumps(&p, &tile->rest_next, 1, l->stride_rest) ||
        (l->odd != 0 && !add_steps(&p, &tile->odd, 1, l->odd)))
        return NULL;
    return node;
}

static bool add_panels(struct lower *l)
{
    struct dg_ir_node *loop = dg_ir_node(l->arena, DG_IR_LOOP, "full panels");
    if (loop == NULL)
        return dg_lower_no_memory(l);
    loop->u.loop.count = (struct dg_ir_count){ l->panels, l->panels, NULL };
    loop->u.loop.step[STREAM_A] = l->panel_columns * source_bytes(l);
    loop->u.loop.step[STREAM_B] = l->panel_row * (int64_t)l->steps + l->head;
    loop->u.loop.child = pack_tile(l, l->plan->tile.vectors, 0);
    l->function.nest = loop;
    return loop->u.loop.child != NULL;
}

static bool add_tail(struct lower *l)
{
    struct dg_ir_node **end = &l->function.nest;
    while (*end != NULL)
        end = &(*end)->next;
    *end = l->plan->along ? dg_lower_pack_along(l)
                          : pack_tile(l, l->plan->tail_vectors, l->plan->tail_part);
    return *end != NULL;
}

/* Steps of one pass: few, and all within the reach of an address. */
static unsigned pack_unroll(const struct lower *l)
{
    unsigned group = l->body->group, unroll = 4 / group;
    unsigned bytes = l->body->lanes * source_bytes(l);
    unsigned some = l->plan->tail_part == 0 ? bytes : l->plan->tail_part * source_bytes(l);
    while (unroll > 1) {
        bool reaches = true;
        for (unsigned u = 1; u < unroll * group; u++)
            for (unsigned j = 0; j < l->plan->tile.vectors; j++)
                reaches = reaches &&
                          dg_ir_reaches(l->isa, bytes, u * source_row(l) + j * bytes) &&
                          dg_ir_reaches(l->isa, some, u * source_row(l) + j * bytes);
        if (reaches && unroll <= l->problem->k / group)
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
        !dg_lower_scalar(l, "rows of B", &l->step_a[0]) ||
        !dg_lower_scalar(l, "step of the panel", &l->step_b) || !dg_lower_masks(l, false) ||
        !dg_lower_flip(l) || !dg_lower_stride(l, source_row(l) * l->body->group))
        return false;
    l->function.scratch_pointer = l->step_a[0];
    if (l->problem->k == 0)
        return true;
    return (l->panels == 0 || add_panels(l)) && (l->plan->tail_columns == 0 || add_tail(l));
}
