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
    assert(op != NULL && "the target lacks a row that the builder asked for");
    if (block->count == block->capacity && !grow(arena, block))
        return false;
    block->op[block->count++] = (struct dg_ir_op){ op, { a, b, c }, part };
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
    if (strcmp(op->dtype, "f64") == 0 || strcmp(op->dtype, "i64") == 0)
        return 8;
    return strcmp(op->dtype, "f32") == 0 ? 4 : strcmp(op->dtype, "f16") == 0 ? 2 : 1;
}

unsigned dg_ir_access(const struct dg_op *op, unsigned part)
{
    switch (op->sem) {
    case DG_SEM_LOAD:
    case DG_SEM_STORE:
    case DG_SEM_FMA_LOAD:
        return op->bits / 8;
    case DG_SEM_LOAD_PART:
    case DG_SEM_STORE_PART:
        return part * element_bytes(op);
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
