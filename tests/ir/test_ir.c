/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes over one block: colouring against brute force on a toy target, schedules, far addresses;
 * the interpreter's checks. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "emit/ir/interpret.h"
#include "emit/ir/legal.h"

static uint64_t state;

static uint64_t next_random(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

static const struct dg_isa *avx2(void) { return dg_isa_by_name("x86_64-avx2"); }

static const struct dg_op *named(const char *name)
{
    return dg_isa_op_named(avx2(), name, "f32", 256);
}

enum { TOY_REGISTERS = 10, TOY_VALUES = 9, TOY_OPS = 14 };

/* AVX2 with fewer registers. */
static struct dg_isa toy_isa(unsigned registers)
{
    struct dg_isa isa = *avx2();
    isa.name = "toy";
    isa.vector_registers = registers;
    return isa;
}

static struct dg_ir_operand nothing(void) { return (struct dg_ir_operand){ .kind = DG_IR_NONE }; }

static struct dg_ir_operand some_value(uint32_t count)
{
    return dg_ir_vector(TOY_REGISTERS + (uint32_t)next_random(count));
}

/* Loads, sums and stores over up to TOY_VALUES values, each written once. */
static struct dg_ir_block random_block(struct dg_arena *arena, uint32_t *virtuals)
{
    struct dg_ir_block block = { 0 };
    uint32_t values = 0;
    for (unsigned i = 0; i < TOY_OPS; i++) {
        uint64_t kind = values == 0 ? 0 : next_random(3);
        struct dg_ir_operand made = dg_ir_vector(TOY_REGISTERS + values);
        struct dg_ir_operand memory = dg_ir_memory(0, 32 * (int64_t)i);
        if (kind == 0 && values < TOY_VALUES) {
            dg_ir_add(arena, &block, named("load"), 0, made, memory, nothing());
            values++;
        } else if (kind == 1 && values < TOY_VALUES) {
            dg_ir_add(arena, &block, named("add"), 0, made, some_value(values),
                      some_value(values));
            values++;
        } else {
            dg_ir_add(arena, &block, named("store"), 0, memory, some_value(values), nothing());
        }
    }
    *virtuals = TOY_REGISTERS + values;
    return block;
}

/* Values a and b are alive at once: one is written while the other is still to be read. Written
 * apart from the allocator: from reads and writes of each operation, walking backwards. */
static void find_conflicts(const struct dg_ir_block *block, bool conflict[TOY_VALUES][TOY_VALUES])
{
    bool live[TOY_VALUES] = { false };
    memset(conflict, 0, TOY_VALUES * sizeof *conflict);
    for (size_t i = block->count; i-- > 0;) {
        const struct dg_ir_op *op = &block->op[i];
        for (unsigned j = 0; op->op->operands[j] != '\0'; j++)
            if (op->op->operands[j] == 'd') {
                uint32_t made = op->operand[j].index - TOY_REGISTERS;
                for (unsigned v = 0; v < TOY_VALUES; v++)
                    if (live[v] && v != made)
                        conflict[v][made] = conflict[made][v] = true;
                live[made] = false;
            }
        for (unsigned j = 0; op->op->operands[j] != '\0'; j++)
            if (op->op->operands[j] == 'v')
                live[op->operand[j].index - TOY_REGISTERS] = true;
    }
}

static bool colourable(bool conflict[TOY_VALUES][TOY_VALUES], unsigned colours, unsigned value,
                       unsigned values, unsigned colour[TOY_VALUES])
{
    if (value == values)
        return true;
    for (colour[value] = 0; colour[value] < colours; colour[value]++) {
        bool free = true;
        for (unsigned v = 0; v < value; v++)
            free = free && !(conflict[v][value] && colour[v] == colour[value]);
        if (free && colourable(conflict, colours, value + 1, values, colour))
            return true;
    }
    return false;
}

/* Fewest colours over all assignments; 0 when there are no values. */
static unsigned brute_force(const struct dg_ir_block *block, unsigned values)
{
    bool conflict[TOY_VALUES][TOY_VALUES];
    unsigned colour[TOY_VALUES], colours = values == 0 ? 0 : 1;
    find_conflicts(block, conflict);
    while (!colourable(conflict, colours, 0, values, colour))
        colours++;
    return colours;
}

static struct dg_ir_block copy_of(struct dg_arena *arena, const struct dg_ir_block *block)
{
    struct dg_ir_block out = *block;
    out.op = dg_alloc_array(arena, block->count, sizeof *out.op);
    memcpy(out.op, block->op, block->count * sizeof *out.op);
    return out;
}

static void check_colours(struct dg_arena *arena, unsigned i)
{
    uint32_t virtuals;
    struct dg_isa isa = toy_isa(TOY_REGISTERS);
    struct dg_ir_block block = random_block(arena, &virtuals);
    unsigned pressure = dg_ir_pressure(&isa, arena, &block, virtuals);
    unsigned least = brute_force(&block, virtuals - TOY_REGISTERS);
    cr_assert_eq(pressure, least, "block %u: pressure %u, brute force %u", i, pressure, least);

    if (pressure == 0)
        return;
    struct dg_error e = { 0 };
    struct dg_ir_block copy = copy_of(arena, &block);
    uint64_t all = (1u << TOY_REGISTERS) - 1, pinned = all & ~((UINT64_C(1) << pressure) - 1);
    cr_assert(dg_ir_colour(&isa, arena, &copy, virtuals, pinned, &e), "%s", e.value);
    for (size_t j = 0; j < copy.count; j++)
        for (unsigned x = 0; copy.op[j].op->operands[x] != '\0'; x++)
            if (copy.op[j].operand[x].kind == DG_IR_VECTOR)
                cr_assert_lt(copy.op[j].operand[x].index, pressure);

    char wanted[64];
    copy = copy_of(arena, &block);
    cr_assert(!dg_ir_colour(&isa, arena, &copy, virtuals, pinned | UINT64_C(1) << (pressure - 1),
                            &e));
    dg_format(wanted, sizeof wanted, "%u needed (%u pinned, %u for temporaries), %u there",
              TOY_REGISTERS + 1, TOY_REGISTERS - pressure + 1, pressure, TOY_REGISTERS);
    cr_assert_str_eq(e.value, wanted);
}

Test(ir, colours_are_the_fewest)
{
    state = 1;
    for (unsigned i = 0; i < 2000; i++) {
        struct dg_arena arena;
        dg_arena_init(&arena);
        check_colours(&arena, i);
        dg_arena_free(&arena);
    }
}

/* ---- schedule ---- */

static unsigned some_latency(void *self, const struct dg_op *op, bool accumulate)
{
    (void)self;
    (void)accumulate;
    return op->sem == DG_SEM_LOAD ? 5 : 4;
}

/* Every operation once, none before one that it waits for. */
static void check_order(struct dg_arena *arena, const struct dg_ir_block *was,
                        const struct dg_ir_block *now)
{
    bool *before = dg_ir_order(arena, was);
    size_t place[TOY_OPS], n = was->count;
    for (size_t i = 0; i < n; i++) {
        place[i] = n;
        for (size_t j = 0; j < n; j++)
            if (memcmp(&was->op[i], &now->op[j], sizeof was->op[i]) == 0 &&
                (i == 0 || place[i] == n))
                place[i] = j;
        cr_assert_lt(place[i], n, "operation %zu is missing", i);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            cr_assert(!before[i * n + j] || place[i] < place[j]);
}

Test(ir, schedules_keep_order_and_registers)
{
    state = 2;
    const struct dg_ir_timing timing = { some_latency, NULL, 2 };
    for (unsigned i = 0; i < 1000; i++) {
        struct dg_arena arena;
        uint32_t virtuals;
        struct dg_isa isa = toy_isa(TOY_REGISTERS);
        dg_arena_init(&arena);
        struct dg_ir_block block = random_block(&arena, &virtuals), was = copy_of(&arena, &block);
        unsigned pressure = dg_ir_pressure(&isa, &arena, &block, virtuals);
        unsigned most = pressure + (unsigned)next_random(3);
        cr_assert(dg_ir_schedule(&isa, &arena, &block, virtuals, most, &timing));
        unsigned now = dg_ir_pressure(&isa, &arena, &block, virtuals);
        cr_assert_leq(now, most, "block %u: pressure %u, allowed %u", i, now, most);
        check_order(&arena, &was, &block);
        dg_arena_free(&arena);
    }
}

Test(ir, schedule_fills_the_wait_of_a_load)
{
    struct dg_arena arena;
    struct dg_ir_block block = { 0 };
    const struct dg_ir_timing timing = { some_latency, NULL, 1 };
    uint32_t v = avx2()->vector_registers;
    dg_arena_init(&arena);
    for (uint32_t i = 0; i < 3; i++) {     /* load, fma; load, fma; load, fma */
        dg_ir_add(&arena, &block, named("load"), 0, dg_ir_vector(v + i),
                  dg_ir_memory(0, 32 * (int64_t)i), nothing());
        dg_ir_add(&arena, &block, named("fma"), 0, dg_ir_vector(i), dg_ir_vector(v + i),
                  dg_ir_vector(15));
    }
    cr_assert(dg_ir_schedule(avx2(), &arena, &block, v + 3, 3, &timing));
    for (size_t i = 0; i < 3; i++)
        cr_assert_eq(block.op[i].op->sem, DG_SEM_LOAD, "operation %zu", i);
    dg_arena_free(&arena);
}

/* ---- addresses and immediates ---- */

static uint64_t run_scalars(const struct dg_isa *isa, const struct dg_ir_block *block,
                            uint32_t result)
{
    uint64_t s[32] = { 0 };
    for (size_t i = 0; i < block->count; i++) {
        const struct dg_ir_op *op = &block->op[i];
        uint64_t *to = &s[op->operand[0].index], x = (uint64_t)op->operand[1].value;
        unsigned shift = 16 * op->part;
        if (op->op->sem == DG_SEM_SET)
            *to = x;
        else if (op->op->sem == DG_SEM_INSERT16)
            *to = (*to & ~(UINT64_C(0xffff) << shift)) | x << shift;
        else if (op->op->sem == DG_SEM_ADD_IMM)
            *to += x;
        else if (op->op->sem == DG_SEM_ADD_REG)
            *to += s[op->operand[1].index];
        else
            cr_assert(op->op->sem == DG_SEM_COPY);
        cr_assert(dg_ir_is_legal(isa, block));
    }
    return s[result];
}

Test(ir, constants_of_any_size)
{
    static const int64_t values[] = { 0, 1, -1, 4095, 4096, -4096, 65535, 65536, 1 << 24,
                                      INT64_C(0x123456789abc), -INT64_C(0x123456789abc),
                                      INT64_MAX, INT64_MIN };
    for (unsigned t = 0; dg_isas[t] != NULL; t++)
        for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
            const struct dg_isa *isa = dg_isas[t];
            struct dg_arena arena;
            struct dg_ir_block set = { 0 }, add = { 0 };
            if (dg_isa_op(isa, DG_SEM_SET, "i64", 64, 0) == NULL)
                continue;
            dg_arena_init(&arena);
            cr_assert(dg_ir_set(isa, &arena, &set, 3, values[i]));
            cr_assert_eq(run_scalars(isa, &set, 3), (uint64_t)values[i], "%s", isa->name);
            cr_assert(dg_ir_set(isa, &arena, &add, 3, 1000));
            cr_assert(dg_ir_advance(isa, &arena, &add, 3, values[i], 4));
            cr_assert_eq(run_scalars(isa, &add, 3), 1000 + (uint64_t)values[i], "%s", isa->name);
            dg_arena_free(&arena);
        }
}

Test(ir, reach_of_addresses)
{
    const struct dg_isa *neon = dg_isa_by_name("aarch64-neon");
    static const struct { unsigned bytes; int64_t offset; bool reached; } rows[] = {
        { 16, 0, true }, { 16, 16, true }, { 16, 65520, true }, { 16, 65536, false },
        { 16, 8, false }, { 16, -16, false }, { 4, 16380, true }, { 4, 16384, false },
        { 4, 2, false }, { 8, 32760, true }, { 8, 4, false }, { 12, 8, true },
        { 12, 16376, false }, { 12, 16368, true }, { 0, 64, true },
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(dg_ir_reaches(neon, rows[i].bytes, rows[i].offset), rows[i].reached,
                     "%u bytes at %lld", rows[i].bytes, (long long)rows[i].offset);
    cr_expect(dg_ir_reaches(avx2(), 32, -1000003));
    cr_expect(!dg_ir_reaches(avx2(), 32, INT64_C(1) << 31));
}

/* ---- the interpreter's checks ---- */

static bool run_one(const struct dg_isa *isa, const struct dg_op *op, unsigned part,
                    struct dg_ir_operand a, struct dg_ir_operand b, struct dg_error *e)
{
    static unsigned char bytes[2][100];
    struct dg_arena arena;
    struct dg_ir_item item = { .kind = DG_IR_OPERATION, .op = { op, { a, b }, part } };
    struct dg_ir_code code = { .isa = isa, .item = &item, .count = 1, .slots = 1 };
    struct dg_ir_run run = { .regions = 2, .limit = 100, .region = {
        { .name = "in", .data = bytes[0], .size = 100 },
        { .name = "out", .data = bytes[1], .size = 100, .writable = true } } };
    dg_arena_init(&arena);
    bool ok = dg_ir_interpret(&code, &run, &arena, e);
    dg_arena_free(&arena);
    return ok;
}

Test(ir, interpreter_refuses)
{
    static const struct { const char *op; unsigned part, scalar; int64_t offset; bool ok; }
    rows[] = {
        { "load", 0, 0, 0, true }, { "load", 0, 0, 68, true }, { "load", 0, 0, 69, false },
        { "load", 0, 0, -1, false }, { "load", 0, 7, 0, false }, { "broadcast", 0, 0, 96, true },
        { "broadcast", 0, 0, 97, false }, { "load_part1", 1, 0, 96, true },
        { "load_part7", 7, 0, 72, true }, { "load_part7", 7, 0, 73, false },
        { "load_part7", 6, 0, 0, false }, { "load_part7", 0, 0, 0, false },
        { "load", 0, 15, 0, false },
    };
    struct dg_error e;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(run_one(avx2(), named(rows[i].op), rows[i].part, dg_ir_vector(1),
                             dg_ir_memory(rows[i].scalar, rows[i].offset), &e), rows[i].ok,
                     "%s at %lld", rows[i].op, (long long)rows[i].offset);
    cr_expect(!run_one(avx2(), named("store"), 0, dg_ir_memory(0, 0), dg_ir_vector(1), &e),
              "a read-only operand is written");
    cr_expect(run_one(avx2(), named("store"), 0, dg_ir_memory(1, 0), dg_ir_vector(1), &e));
    cr_expect(!run_one(avx2(), named("load"), 0, dg_ir_vector(16), dg_ir_memory(0, 0), &e),
              "no such register");
    cr_expect(!run_one(avx2(), named("load"), 0, dg_ir_scalar(1), dg_ir_memory(0, 0), &e),
              "not a vector");
    const struct dg_isa *masked = dg_isa_by_name("x86_64-avx512");
    cr_expect(!run_one(masked, dg_isa_op_named(masked, "load_part", "f32", 512), 3,
                       dg_ir_vector(1), dg_ir_memory(0, 0), &e), "no mask register holds the part");
}
