/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/ir/legal.h"

static const struct dg_op *scalar_op(const struct dg_isa *isa, enum dg_sem sem, unsigned part)
{
    return dg_isa_op(isa, sem, "i64", 64, part);
}

static struct dg_ir_operand none(void)
{
    return (struct dg_ir_operand){ .kind = DG_IR_NONE };
}

bool dg_ir_set(const struct dg_isa *isa, struct dg_arena *arena, struct dg_ir_block *block,
               uint32_t scalar, int64_t value)
{
    uint64_t bits = (uint64_t)value;
    struct dg_ir_operand to = dg_ir_scalar(scalar);
    if (isa->set_bits >= 64)
        return dg_ir_add(arena, block, scalar_op(isa, DG_SEM_SET, 0), 0, to,
                         dg_ir_immediate(value), none());
    if (!dg_ir_add(arena, block, scalar_op(isa, DG_SEM_SET, 0), 0, to,
                   dg_ir_immediate((int64_t)(bits & 0xffff)), none()))
        return false;
    for (unsigned part = 1; part < 4; part++) {
        int64_t piece = (int64_t)(bits >> (16 * part) & 0xffff);
        if (piece != 0 && !dg_ir_add(arena, block, scalar_op(isa, DG_SEM_INSERT16, part), part,
                                     to, dg_ir_immediate(piece), none()))
            return false;
    }
    return true;
}

bool dg_ir_advance(const struct dg_isa *isa, struct dg_arena *arena, struct dg_ir_block *block,
                   uint32_t scalar, int64_t value, uint32_t temporary)
{
    struct dg_ir_operand to = dg_ir_scalar(scalar);
    if (value == 0)
        return true;
    if (value >= -isa->immediate_max && value <= isa->immediate_max)
        return dg_ir_add(arena, block, scalar_op(isa, DG_SEM_ADD_IMM, 0), 0, to,
                         dg_ir_immediate(value), none());
    return dg_ir_set(isa, arena, block, temporary, value) &&
           dg_ir_add(arena, block, scalar_op(isa, DG_SEM_ADD_REG, 0), 0, to,
                     dg_ir_scalar(temporary), none());
}

static unsigned memory_index(const struct dg_op *op)
{
    unsigned i = 0;
    while (op->operands[i] != '\0' && op->operands[i] != 'm')
        i++;
    return i;
}

static bool within(const struct dg_isa *isa, const struct dg_ir_op *op, int64_t offset)
{
    return dg_ir_reaches(isa, dg_ir_access(op->op, op->part), offset);
}

/* `pointer` = base + delta as long as `set`. */
struct far { bool set; uint32_t base; int64_t delta; };

static bool reach(const struct dg_isa *isa, struct dg_arena *arena, struct dg_ir_op *op,
                  uint32_t pointer, uint32_t temporary, struct far *far,
                  struct dg_ir_block *out)
{
    struct dg_ir_operand *memory = &op->operand[memory_index(op->op)];
    if (within(isa, op, memory->value))
        return true;
    if (!far->set || far->base != memory->index || !within(isa, op, memory->value - far->delta)) {
        *far = (struct far){ true, memory->index, memory->value };
        if (!dg_ir_add(arena, out, scalar_op(isa, DG_SEM_COPY, 0), 0, dg_ir_scalar(pointer),
                       dg_ir_scalar(memory->index), none()) ||
            !dg_ir_advance(isa, arena, out, pointer, far->delta, temporary))
            return false;
    }
    *memory = dg_ir_memory(pointer, memory->value - far->delta);
    return true;
}

static bool writes_scalar(const struct dg_ir_op *op, uint32_t scalar)
{
    char letter = op->op->operands[0];
    return (letter == 'g' || letter == 'h') && op->operand[0].index == scalar;
}

bool dg_ir_legalise(const struct dg_isa *isa, struct dg_arena *arena,
                    const struct dg_ir_block *block, uint32_t pointer, uint32_t temporary,
                    struct dg_ir_block *out)
{
    struct far far = { .set = false };
    *out = (struct dg_ir_block){ 0 };
    for (size_t i = 0; i < block->count; i++) {
        struct dg_ir_op op = block->op[i];
        if (op.op->sem == DG_SEM_ADD_IMM || op.op->sem == DG_SEM_SET) {
            bool ok = op.op->sem == DG_SEM_SET
                ? dg_ir_set(isa, arena, out, op.operand[0].index, op.operand[1].value)
                : dg_ir_advance(isa, arena, out, op.operand[0].index, op.operand[1].value,
                                temporary);
            if (!ok)
                return false;
        } else {
            if (op.op->operands[memory_index(op.op)] == 'm' &&
                !reach(isa, arena, &op, pointer, temporary, &far, out))
                return false;
            if (!dg_ir_add_all(arena, out, op.op, op.part, op.operand))
                return false;
        }
        if (far.set && (writes_scalar(&op, far.base) || writes_scalar(&op, pointer)))
            far.set = false;
    }
    return true;
}

bool dg_ir_is_legal(const struct dg_isa *isa, const struct dg_ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct dg_ir_op *op = &block->op[i];
        unsigned memory = memory_index(op->op);
        if (op->op->operands[memory] == 'm' && !within(isa, op, op->operand[memory].value))
            return false;
        if (op->op->sem == DG_SEM_ADD_IMM && (op->operand[1].value < -isa->immediate_max ||
                                              op->operand[1].value > isa->immediate_max))
            return false;
    }
    return true;
}
