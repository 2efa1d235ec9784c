/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands, blocks and nodes, and what an address of a target reaches. */
#include <assert.h>
#include <string.h>

#include "emit/ir/ir.h"

struct dg_ir_operand dg_ir_vector(uint32_t index)
{
    return (struct dg_ir_operand){ .kind = DG_IR_VECTOR, .index = index };
}

struct dg_ir_operand dg_ir_scalar(uint32_t index)
{
    return (struct dg_ir_operand){ .kind = DG_IR_SCALAR, .index = index };
}

struct dg_ir_operand dg_ir_memory(uint32_t pointer, int64_t offset)
{
    return (struct dg_ir_operand){ DG_IR_MEMORY, pointer, offset };
}

struct dg_ir_operand dg_ir_immediate(int64_t value)
{
    return (struct dg_ir_operand){ .kind = DG_IR_IMMEDIATE, .value = value };
}

struct dg_ir_operand dg_ir_slot(uint32_t index)
{
    return (struct dg_ir_operand){ .kind = DG_IR_SLOT, .index = index };
}

struct dg_ir_operand dg_ir_label(uint32_t index)
{
    return (struct dg_ir_operand){ .kind = DG_IR_LABEL, .index = index };
}

static bool grow(struct dg_arena *arena, struct dg_ir_block *block)
{
    size_t capacity = block->capacity == 0 ? 16 : 2 * block->capacity;
    struct dg_ir_op *op = dg_alloc_array(arena, capacity, sizeof *op);
    if (op == NULL)
        return false;
    if (block->count > 0)
        memcpy(op, block->op, block->count * sizeof *op);
    block->op = op;
    block->capacity = capacity;
    return true;
}

bool dg_ir_add(struct dg_arena *arena, struct dg_ir_block *block, const struct dg_op *op,
               unsigned part, struct dg_ir_operand a, struct dg_ir_operand b,
               struct dg_ir_operand c)
{
    const struct dg_ir_operand operands[4] = { a, b, c };
    return dg_ir_add_all(arena, block, op, part, operands);
}

bool dg_ir_add_all(struct dg_arena *arena, struct dg_ir_block *block, const struct dg_op *op,
                   unsigned part, const struct dg_ir_operand operands[4])
{
    assert(op != NULL && "the target lacks a row that the builder asked for");
    if (block->count == block->capacity && !grow(arena, block))
        return false;
    struct dg_ir_op *to = &block->op[block->count++];
    *to = (struct dg_ir_op){ .op = op, .part = part };
    memcpy(to->operand, operands, sizeof to->operand);
    return true;
}

struct dg_ir_node *dg_ir_node(struct dg_arena *arena, enum dg_ir_node_kind kind,
                              const char *comment)
{
    struct dg_ir_node *node = dg_alloc(arena, sizeof *node);
    if (node != NULL) {
        node->kind = kind;
        node->comment = comment;
    }
    return node;
}

static unsigned element_bytes(const struct dg_op *op)
{
    static const struct { const char *dtype; unsigned bytes; } sizes[] = {
        { "f64", 8 }, { "i64", 8 }, { "f32", 4 }, { "s32", 4 }, { "f16", 2 }, { "u16", 2 },
        { "bf16", 2 }, { "u8x2", 2 }, { "s8x2", 2 }, { "u8", 1 }, { "s8", 1 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(op->dtype, sizes[i].dtype) == 0)
            return sizes[i].bytes;
    return 1;
}

unsigned dg_ir_lanes(const struct dg_op *op)
{
    return op->bits / (strcmp(op->dtype, "f64") == 0 ? 64 : 32);
}

unsigned dg_ir_access(const struct dg_op *op, unsigned part)
{
    switch (op->sem) {
    case DG_SEM_LOAD:
    case DG_SEM_STORE:
    case DG_SEM_FMA_LOAD:
    case DG_SEM_ADD_LOAD:
        return dg_ir_lanes(op) * element_bytes(op);
    case DG_SEM_LOAD_PART:
    case DG_SEM_STORE_PART:
        return part * element_bytes(op);
    case DG_SEM_BROADCAST_GROUP:
        return part * (strstr(op->dtype, "x2") != NULL ? 1 : element_bytes(op));
    case DG_SEM_BROADCAST:
    case DG_SEM_FMA_BROADCAST:
    case DG_SEM_LOAD_ELEMENT:
        return element_bytes(op);
    default:
        return 0;
    }
}

bool dg_ir_reaches(const struct dg_isa *isa, unsigned bytes, int64_t offset)
{
    /* Room for the pieces that a row moves on to: {1+24}. */
    if (isa->offset_step == 1)
        return offset >= isa->offset_min + 64 && offset <= isa->offset_max - 64;
    /* Scaled offsets: a row moves pieces of a power of two bytes, the largest first; the smallest
     * piece reaches least far, the largest needs the roundest offset. */
    if (bytes == 0)
        bytes = 8;
    unsigned smallest = bytes & (0u - bytes), largest = smallest;
    while (largest * 2 <= bytes)
        largest *= 2;
    int64_t units = isa->offset_max / isa->offset_step;
    return offset >= 0 && offset % (int64_t)largest == 0 &&
           offset + (int64_t)(bytes - smallest) <= units * (int64_t)smallest;
}
