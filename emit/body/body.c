/* SPDX-License-Identifier: Apache-2.0
 *
 * The outer-product recipe. One operand of a step is held in registers for the whole step, the
 * other passes through one register: B vectors are held when the tile is taller than wide, A
 * broadcasts when it is wider, whichever needs fewer registers. Memory operands of the multiply
 * are never used: they load once per multiply, and load ports are the scarcer resource. */
#include "emit/body/body.h"

static const char *element_of(enum dg_dtype dtype)
{
    switch (dtype) {
    case DG_F32: return "f32";
    case DG_F64: return "f64";
    default: return NULL;
    }
}

/* Where the multiply takes one lane of a register, the row's element needs no spreading. */
static void prefer_elements(struct dg_body *body)
{
    unsigned bits = body->isa->vector_bits;
    const struct dg_op *load = dg_isa_op(body->isa, DG_SEM_LOAD_ELEMENT, body->element, bits, 0);
    const struct dg_op *fma = dg_isa_op(body->isa, DG_SEM_FMA_ELEMENT, body->element, bits, 0);
    if (load != NULL && fma != NULL) {
        body->broadcast = load;
        body->chain = fma;
    }
}

bool dg_body_for(const struct dg_isa *isa, enum dg_dtype dtype, struct dg_body *out)
{
    const char *element = element_of(dtype);
    if (element == NULL)
        return false;
    unsigned bits = isa->vector_bits;
    struct dg_body body = {
        .name = dtype == DG_F64 ? "f64-outer" : "f32-outer",
        .isa = isa,
        .dtype = dtype,
        .element = element,
        .element_bytes = dtype == DG_F64 ? 8 : 4,
        .k_step = 1,
        .load = dg_isa_op(isa, DG_SEM_LOAD, element, bits, 0),
        .broadcast = dg_isa_op(isa, DG_SEM_BROADCAST, element, bits, 0),
        .store = dg_isa_op(isa, DG_SEM_STORE, element, bits, 0),
        .zero = dg_isa_op(isa, DG_SEM_ZERO, element, bits, 0),
        .add = dg_isa_op(isa, DG_SEM_ADD, element, bits, 0),
        .chain = dg_isa_op(isa, DG_SEM_FMA, element, bits, 0),
    };
    body.lanes = bits / 8 / body.element_bytes;
    prefer_elements(&body);
    if (body.load == NULL || body.broadcast == NULL || body.store == NULL || body.zero == NULL ||
        body.add == NULL || body.chain == NULL)
        return false;
    *out = body;
    return true;
}

/* Where the next operation goes: the array as long as there is room, the count always. */
struct list {
    struct dg_body_op *out;
    size_t capacity, count;
};

static void put(struct list *list, const struct dg_op *op, struct dg_body_operand x,
                struct dg_body_operand y, struct dg_body_operand z)
{
    if (list->out != NULL && list->count < list->capacity)
        list->out[list->count] = (struct dg_body_op){ op, { x, y, z } };
    list->count++;
}

static struct dg_body_operand operand(enum dg_role role, unsigned row, unsigned vector)
{
    return (struct dg_body_operand){ role, row, vector };
}

static void put_load(struct list *list, const struct dg_body *body, unsigned vector)
{
    put(list, body->load, operand(DG_B, 0, vector), operand(DG_B, 0, vector),
        operand(DG_NONE, 0, 0));
}

static void put_broadcast(struct list *list, const struct dg_body *body, unsigned row)
{
    put(list, body->broadcast, operand(DG_A, row, 0), operand(DG_A, row, 0),
        operand(DG_NONE, 0, 0));
}

static void put_multiply(struct list *list, const struct dg_body *body, unsigned row,
                         unsigned vector)
{
    struct dg_body_operand a = operand(DG_A, row, 0), b = operand(DG_B, 0, vector);
    bool element = body->chain->sem == DG_SEM_FMA_ELEMENT;
    put(list, body->chain, operand(DG_ACC, row, vector), element ? b : a, element ? a : b);
}

static void step_holding_b(struct list *list, const struct dg_body *body, struct dg_tile tile)
{
    for (unsigned j = 0; j < tile.vectors; j++)
        put_load(list, body, j);
    for (unsigned i = 0; i < tile.rows; i++) {
        put_broadcast(list, body, i);
        for (unsigned j = 0; j < tile.vectors; j++)
            put_multiply(list, body, i, j);
    }
}

static void step_holding_a(struct list *list, const struct dg_body *body, struct dg_tile tile)
{
    for (unsigned i = 0; i < tile.rows; i++)
        put_broadcast(list, body, i);
    for (unsigned j = 0; j < tile.vectors; j++) {
        put_load(list, body, j);
        for (unsigned i = 0; i < tile.rows; i++)
            put_multiply(list, body, i, j);
    }
}

size_t dg_body_step(const struct dg_body *body, struct dg_tile tile, struct dg_body_op *out,
                    size_t capacity)
{
    struct list list = { out, capacity, 0 };
    if (tile.vectors <= tile.rows)
        step_holding_b(&list, body, tile);
    else
        step_holding_a(&list, body, tile);
    return list.count;
}

unsigned dg_body_registers(const struct dg_body *body, struct dg_tile tile)
{
    (void)body;
    unsigned held = tile.rows < tile.vectors ? tile.rows : tile.vectors;
    return tile.rows * tile.vectors + held + 1;
}
