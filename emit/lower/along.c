/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles along K. Every sum is spread over the lanes of its accumulator: C's old value starts in
 * lane 0, and at the end a tree of FOLD operations adds up the lanes of as many accumulators as a
 * vector has lanes. Its root holds rows of C one after the other, at the tile's pitch. */
#include "emit/lower/tile.h"

static struct dg_ir_operand place(const struct tile *t, unsigned row, unsigned column)
{
    const struct lower *l = t->l;
    return dg_ir_memory(l->function.stream[STREAM_C],
                        row * l->c_row + (int64_t)column * l->body->c_bytes);
}

bool dg_along_load(struct tile *t, struct dg_ir_block *block)
{
    const struct dg_op *op = dg_tile_access_op(t, DG_SEM_LOAD, DG_SEM_LOAD_PART, 1);
    for (unsigned i = 0; i < t->shape.rows; i++)
        for (unsigned j = 0; j < t->shape.vectors; j++)
            if (!dg_tile_access(t, block, op, 1, dg_ir_vector(dg_tile_accumulator(t, i, j)),
                                place(t, i, j)))
                return false;
    return true;
}

/* The node of `level` whose first lane is `lane`, in the accumulator of that lane. A node without a
 * right half takes its left one for both: those lanes hold no sum. */
static bool add_node(struct tile *t, struct dg_ir_block *block, unsigned lane, unsigned level)
{
    struct lower *l = t->l;
    struct dg_along along = dg_tile_along(t);
    unsigned pitch = dg_along_pitch(along.columns), right = lane + (1u << level) / 2;
    bool both = dg_along_holds(along, right);
    if (level == 0)
        return true;
    if (!add_node(t, block, lane, level - 1) || (both && !add_node(t, block, right, level - 1)))
        return false;
    const struct dg_op *op = dg_isa_op(l->isa, DG_SEM_FOLD, l->body->element,
                                       l->isa->vector_bits, level);
    struct dg_ir_operand x[4] = {
        dg_ir_vector(dg_tile_accumulator(t, lane / pitch, lane % pitch)), { 0 }, { 0 },
        dg_ir_vector(dg_tile_fresh(t)) };
    x[1] = x[2] = x[0];
    if (both)
        x[2] = dg_ir_vector(dg_tile_accumulator(t, right / pitch, right % pitch));
    return dg_ir_add_all(l->arena, block, op, level, x) || dg_lower_no_memory(l);
}

bool dg_lower_lanes_down(struct lower *l, struct dg_ir_block *block, struct dg_ir_operand to,
                         struct dg_ir_operand from, unsigned by)
{
    const struct dg_op *op = dg_isa_op(l->isa, DG_SEM_LANES_DOWN, l->body->element,
                                       l->isa->vector_bits, by);
    bool immediate = op->operands[2] == 'i';
    return dg_ir_add(l->arena, block, op, by, to, from,
                     immediate ? dg_ir_immediate(by) : dg_lower_none()) || dg_lower_no_memory(l);
}

/* The rows of C that stand in a root. */
static bool add_stores(struct tile *t, struct dg_ir_block *block, unsigned lane)
{
    struct lower *l = t->l;
    struct dg_along along = dg_tile_along(t);
    unsigned pitch = dg_along_pitch(along.columns), lanes = l->body->lanes;
    struct dg_ir_operand root = dg_ir_vector(dg_tile_accumulator(t, lane / pitch, 0));
    for (unsigned at = 0; at < lanes && (lane + at) / pitch < along.rows; at += pitch) {
        struct dg_ir_operand row = root;
        if (at > 0) {
            row = dg_ir_vector(dg_tile_fresh(t));
            if (!dg_lower_lanes_down(l, block, row, root, at))
                return false;
        }
        const struct dg_op *op = dg_tile_access_op(t, DG_SEM_STORE, DG_SEM_STORE_PART,
                                                   along.columns);
        if (!dg_tile_access(t, block, op, along.columns, row, place(t, (lane + at) / pitch, 0)))
            return false;
    }
    return true;
}

bool dg_along_finish(struct tile *t, struct dg_ir_block *block)
{
    struct dg_along along = dg_tile_along(t);
    unsigned lanes = t->l->body->lanes, levels = 0;
    unsigned all = along.rows * dg_along_pitch(along.columns);
    while (1u << levels < lanes)
        levels++;
    for (unsigned lane = 0; lane < all; lane += lanes)
        if (!add_node(t, block, lane, levels) || !add_stores(t, block, lane))
            return false;
    return true;
}
