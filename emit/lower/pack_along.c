/* SPDX-License-Identifier: Apache-2.0
 *
 * The tail panel of a tile along K: for each step a vector of K elements from each column, zeros
 * beyond K. Row by row of the source its few elements go to their columns, one by one. */
#include "emit/lower/internal.h"

struct packer {
    struct lower *l;
    struct dg_ir_tile *tile;
    uint32_t next;                         /* virtual register */
};

static const struct dg_op *vector_op(const struct lower *l, enum dg_sem sem, const char *dtype)
{
    return dg_isa_op(l->isa, sem, dtype, l->isa->vector_bits, 0);
}

static int64_t source_row(const struct lower *l)
{
    return (int64_t)l->problem->ldb * dg_dtypes[l->problem->dtype].b_bytes;
}

static bool add(struct packer *p, struct dg_ir_block *block, const struct dg_op *op, unsigned part,
                struct dg_ir_operand a, struct dg_ir_operand b, struct dg_ir_operand c)
{
    return dg_ir_add(p->l->arena, block, op, part, a, b, c) || dg_lower_no_memory(p->l);
}

static bool add_move(struct packer *p, struct dg_ir_block *block, uint32_t scalar, int64_t bytes)
{
    const struct lower *l = p->l;
    bool short_enough = bytes <= l->isa->immediate_max;
    return add(p, block, dg_isa_op(l->isa, short_enough ? DG_SEM_ADD_IMM : DG_SEM_ADD_REG, "i64",
                                   64, 0), 0, dg_ir_scalar(scalar),
               short_enough ? dg_ir_immediate(bytes) : dg_ir_scalar(l->stride_rest),
               dg_lower_none());
}

/* One element of `from`'s lane 0. */
static bool add_store(struct packer *p, struct dg_ir_block *block, struct dg_ir_operand to,
                      struct dg_ir_operand from)
{
    const struct lower *l = p->l;
    const struct dg_op *op = dg_isa_op(l->isa, DG_SEM_STORE_PART, l->body->source,
                                       l->isa->vector_bits, 1);
    bool scratch = op->operands[2] == 't';
    return add(p, block, op, 1, to, from, scratch ? dg_ir_vector(p->next++) : dg_lower_none());
}

/* The source's row at the pointer, to element `at` of each column's vector. */
static bool add_row(struct packer *p, struct dg_ir_block *block, unsigned at)
{
    struct lower *l = p->l;
    const struct dg_body *body = l->body;
    unsigned columns = l->plan->tail_columns;
    struct dg_ir_operand row = dg_ir_vector(p->next++);
    const struct dg_op *load = dg_isa_op(l->isa, DG_SEM_LOAD_PART, body->source,
                                         l->isa->vector_bits, columns);
    if (!add(p, block, load, columns, row, dg_ir_memory(l->step_a[0], 0), dg_lower_none()))
        return false;
    for (unsigned j = 0; j < columns; j++) {
        struct dg_ir_operand one = j > 0 ? dg_ir_vector(p->next++) : row;
        struct dg_ir_operand to = dg_ir_memory(l->step_b, j * l->b_vector + at * body->b_bytes);
        if ((j > 0 && !dg_lower_lanes_down(l, block, one, row, j)) ||
            !add_store(p, block, to, one))
            return false;
    }
    return add_move(p, block, l->step_a[0], source_row(l));
}

/* The vectors of the last step, where it is not full. */
static bool add_zeros(struct packer *p, uint64_t full)
{
    struct lower *l = p->l;
    struct dg_ir_operand zero = dg_ir_vector(p->next++);
    int64_t last = (int64_t)full * l->tail_row;
    if (full == l->tail_steps)
        return true;
    if (!add(p, &p->tile->zero, l->body->zero, 0, zero, dg_lower_none(), dg_lower_none()))
        return false;
    for (unsigned j = 0; j < l->plan->tail_columns; j++)
        if (!add(p, &p->tile->zero, vector_op(l, DG_SEM_STORE, l->body->source), 0,
                 dg_ir_memory(l->function.stream[STREAM_B], last + j * l->b_vector), zero,
                 dg_lower_none()))
            return false;
    return true;
}

static bool add_copies(struct packer *p)
{
    struct lower *l = p->l;
    const struct dg_op *copy = dg_isa_op(l->isa, DG_SEM_COPY, "i64", 64, 0);
    const uint32_t *stream = l->function.stream;
    return add(p, &p->tile->setup, copy, 0, dg_ir_scalar(l->step_a[0]),
               dg_ir_scalar(stream[STREAM_A]), dg_lower_none()) &&
           add(p, &p->tile->setup, copy, 0, dg_ir_scalar(l->step_b),
               dg_ir_scalar(stream[STREAM_B]), dg_lower_none());
}

struct dg_ir_node *dg_lower_pack_along(struct lower *l)
{
    const char *comment = dg_lower_text(l, "%u columns along k", l->plan->tail_columns);
    struct dg_ir_node *node = dg_ir_node(l->arena, DG_IR_TILE, comment);
    unsigned lanes = l->body->lanes;
    uint64_t full = l->steps / lanes;
    if (node == NULL) {
        dg_lower_no_memory(l);
        return NULL;
    }
    struct dg_ir_tile *tile = &node->u.tile;
    struct packer p = { l, tile, l->isa->vector_registers };
    tile->passes = (struct dg_ir_count){ full, full, NULL };
    tile->rests = (struct dg_ir_count){ l->steps % lanes, l->steps % lanes, NULL };
    bool ok = add_zeros(&p, full) && add_copies(&p);
    for (unsigned at = 0; ok && at < lanes; at++)
        ok = add_row(&p, &tile->pass, at);
    ok = ok && add_move(&p, &tile->pass_next, l->step_b, l->tail_row) &&
         add_row(&p, &tile->rest, 0) && add_move(&p, &tile->rest_next, l->step_b, l->body->b_bytes);
    tile->virtuals = p.next;
    return ok ? node : NULL;
}
