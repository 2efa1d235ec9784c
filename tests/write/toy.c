/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "toy.h"

struct builder {
    const struct dg_isa *isa;
    struct dg_ir_item *items;
    size_t count;
};

static struct dg_ir_operand none(void)
{
    return (struct dg_ir_operand){ .kind = DG_IR_NONE };
}

static struct dg_ir_operand operand(enum dg_ir_operand_kind kind, uint32_t index, int64_t value)
{
    return (struct dg_ir_operand){ .kind = kind, .index = index, .value = value };
}

#define V(i) operand(DG_IR_VECTOR, i, 0)
#define R(i) operand(DG_IR_SCALAR, i, 0)
#define M(i, offset) operand(DG_IR_MEMORY, i, offset)
#define I(value) operand(DG_IR_IMMEDIATE, 0, value)
#define S(i) operand(DG_IR_SLOT, i, 0)
#define L(i) operand(DG_IR_LABEL, i, 0)

static void add(struct builder *b, enum dg_sem sem, unsigned part, struct dg_ir_operand x,
                struct dg_ir_operand y, struct dg_ir_operand z)
{
    bool vector = sem < DG_SEM_PREFETCH_L1;
    const struct dg_op *op = dg_isa_op(b->isa, sem, vector ? "f32" : "i64",
                                       vector ? b->isa->vector_bits : 64, part);
    assert(op != NULL);
    b->items[b->count++] = (struct dg_ir_item){
        .kind = DG_IR_OPERATION, .op = { .op = op, .operand = { x, y, z }, .part = part },
    };
}

static void mark(struct builder *b, struct dg_ir_item item)
{
    b->items[b->count++] = item;
}

static void build_run(struct toy *toy)
{
    const struct dg_isa *isa = toy->run.isa;
    struct builder b = { isa, toy->run_items, 0 };
    uint32_t counter = isa->scalar_registers - 1;
    int64_t bytes = isa->vector_bits / 8;
    if (isa->mask_registers > 0) {
        toy->run.masks = 1, toy->run.mask_part[0] = TOY_PART;
        add(&b, DG_SEM_SET, 0, R(3), I((1 << TOY_PART) - 1), none());
        add(&b, DG_SEM_SET_MASK, TOY_PART, R(3), none(), none());
    }
    mark(&b, (struct dg_ir_item){ .kind = DG_IR_STAMP });
    mark(&b, (struct dg_ir_item){ .kind = DG_IR_COMMENT, .text = "tile 1 x (1 vector + 3)" });
    add(&b, DG_SEM_SLOT_STORE, 0, S(0), R(2), none());
    add(&b, DG_SEM_SET, 0, R(counter), I(TOY_K), none());
    add(&b, DG_SEM_ZERO, 0, V(8), none(), none());
    add(&b, DG_SEM_ZERO, 0, V(9), none(), none());
    mark(&b, (struct dg_ir_item){ .kind = DG_IR_TARGET, .label = 0, .hot = true });
    add(&b, DG_SEM_BROADCAST, 0, V(0), M(0, 0), none());
    add(&b, DG_SEM_LOAD, 0, V(1), M(1, 0), none());
    add(&b, DG_SEM_LOAD_PART, TOY_PART, V(2), M(1, bytes), V(3));
    add(&b, DG_SEM_FMA, 0, V(8), V(0), V(1));
    add(&b, DG_SEM_FMA, 0, V(9), V(0), V(2));
    add(&b, DG_SEM_ADD_IMM, 0, R(0), I(4), none());
    add(&b, DG_SEM_ADD_IMM, 0, R(1), I(bytes + 4 * TOY_PART), none());
    add(&b, DG_SEM_COUNT_DOWN, 0, R(counter), L(0), none());
    mark(&b, (struct dg_ir_item){ .kind = DG_IR_STAMP });
    add(&b, DG_SEM_SLOT_LOAD, 0, R(3), S(0), none());
    add(&b, DG_SEM_STORE, 0, M(3, 0), V(8), none());
    add(&b, DG_SEM_STORE_PART, TOY_PART, M(3, bytes), V(9), V(3));
    mark(&b, (struct dg_ir_item){ .kind = DG_IR_STAMP });
    toy->run.item = toy->run_items, toy->run.count = b.count;
    toy->run.arguments = 3, toy->run.slots = 1, toy->run.labels = 1;
    toy->run.scalars_used = 0xf | (uint64_t)1 << counter;
    toy->run.vectors_used = 0x30f;
    toy->run.scalar_name[0] = "A", toy->run.scalar_name[1] = "B";
    toy->run.scalar_name[2] = "C", toy->run.scalar_name[counter] = "steps left";
    toy->run.vector_name[8] = "row 0, columns 0 and on", toy->run.vector_name[9] = "the rest";
}

static void build_pack(struct toy *toy)
{
    struct builder b = { toy->pack.isa, toy->pack_items, 0 };
    add(&b, DG_SEM_LOAD, 0, V(0), M(0, 0), none());
    add(&b, DG_SEM_STORE, 0, M(1, 0), V(0), none());
    toy->pack.item = toy->pack_items, toy->pack.count = b.count;
    toy->pack.arguments = 2, toy->pack.scalars_used = 3, toy->pack.vectors_used = 1;
    toy->pack.scalar_name[0] = "B", toy->pack.scalar_name[1] = "packed B";
}

void toy_make(struct toy *toy, const char *isa_name, const char *name)
{
    const struct dg_isa *isa = dg_isa_by_name(isa_name);
    unsigned lanes = isa->vector_bits / 32, n = lanes + TOY_PART;
    *toy = (struct toy){
        .problem = { .isa = "auto", .dtype = DG_F32, .m = 1, .n = n, .k = TOY_K,
                     .layout_b = DG_PACKED, .lda = TOY_K, .ldb = n, .ldc = n },
        .terms = { { "compute", "multiply-adds", 10 * DG_COST_ONE }, { "call", "call", 512 } },
        .run = { .isa = isa }, .pack = { .isa = isa },
    };
    dg_format(toy->problem.name, sizeof toy->problem.name, "%s", name);
    toy->plan = (struct dg_plan){
        .body = { .name = "f32-outer", .isa = isa, .element = "f32", .lanes = lanes,
                  .group = 1, .a_bytes = 4, .b_bytes = 4, .c_bytes = 4,
                  .chain = dg_isa_op(isa, DG_SEM_FMA, "f32", isa->vector_bits, 0) },
        .tile = { 1, 2 }, .mc = 1, .nc = n, .kc = TOY_K, .kc_elements = TOY_K, .unroll = 1,
        .cycles = 10 * DG_COST_ONE + 512, .bound = 10 * DG_COST_ONE, .clock_hz = 2000000000,
        .binding = "latency", .terms = toy->terms, .term_count = 2, .peak = 32 * DG_COST_ONE,
    };
    dg_format(toy->plan.body.features, sizeof toy->plan.body.features, "%s", isa->features);
    build_run(toy);
    build_pack(toy);
    toy->kernel = (struct dg_kernel){
        .tool_version = "0.0.0", .profile_name = "by hand", .profile_hash = "0123456789abcdef",
        .problem = &toy->problem, .plan = &toy->plan,
        .run = &toy->run, .pack = &toy->pack,
        .packed_b_size = (uint64_t)TOY_K * 4 * n,
    };
}
