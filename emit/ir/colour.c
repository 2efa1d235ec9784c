/* SPDX-License-Identifier: Apache-2.0
 *
 * Register pressure and colouring of a straight block. The life of a virtual register is an
 * interval of the block, the interference graph is an interval graph, and colouring it in the
 * order of the intervals' starts takes exactly as many colours as the most crowded point has. */
#include <assert.h>

#include "emit/ir/operands.h"

/* Operation i reads at point 2i and writes at 2i + 1: a result may take the register of a value
 * read for the last time, except where the row has several instructions. */
struct life { size_t start, end; bool used; };

static void mention(struct life *life, size_t point)
{
    if (!life->used)
        life->start = point;
    life->used = true;
    life->end = point;
}

static void lives_of_op(const struct dg_ir_op *op, size_t i, uint32_t physical,
                        struct life *lives)
{
    bool early = dg_op_early(op->op);
    for (unsigned j = 0; op->op->operands[j] != '\0'; j++) {
        char letter = op->op->operands[j];
        if (!dg_letter_vector(letter) || op->operand[j].index < physical)
            continue;
        struct life *life = &lives[op->operand[j].index - physical];
        if (letter == 't' || letter == 'a' || letter == 'v' || early)
            mention(life, 2 * i);
        if (letter != 'v')
            mention(life, 2 * i + 1);
    }
}

static struct life *find_lives(const struct dg_isa *isa, struct dg_arena *arena,
                               const struct dg_ir_block *block, uint32_t virtuals)
{
    uint32_t physical = isa->vector_registers;
    size_t count = virtuals > physical ? virtuals - physical : 0;
    struct life *lives = dg_alloc_array(arena, count + 1, sizeof *lives);
    for (size_t i = 0; lives != NULL && i < block->count; i++)
        lives_of_op(&block->op[i], i, physical, lives);
    return lives;
}

static unsigned crowd(const struct life *lives, size_t count, size_t points)
{
    unsigned most = 0;
    for (size_t point = 0; point < points; point++) {
        unsigned here = 0;
        for (size_t v = 0; v < count; v++)
            here += lives[v].used && lives[v].start <= point && point <= lives[v].end;
        if (here > most)
            most = here;
    }
    return most;
}

unsigned dg_ir_pressure(const struct dg_isa *isa, struct dg_arena *arena,
                        const struct dg_ir_block *block, uint32_t virtuals)
{
    uint32_t physical = isa->vector_registers;
    struct life *lives = find_lives(isa, arena, block, virtuals);
    if (lives == NULL)
        return ~0u;
    size_t count = virtuals > physical ? virtuals - physical : 0;
    return crowd(lives, count, 2 * block->count);
}

static unsigned ones(uint64_t bits)
{
    unsigned n = 0;
    for (; bits != 0; bits &= bits - 1)
        n++;
    return n;
}

static uint64_t all_registers(unsigned count)
{
    return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

/* Colours of the lives that overlap `life` and have one already. */
static uint64_t taken_around(const struct life *lives, const uint32_t *colour, size_t count,
                             const struct life *life)
{
    uint64_t taken = 0;
    for (size_t v = 0; v < count; v++)
        if (colour[v] != UINT32_MAX && lives[v].start <= life->end && life->start <= lives[v].end)
            taken |= UINT64_C(1) << colour[v];
    return taken;
}

static void choose(const struct life *lives, uint32_t *colour, size_t count, size_t points,
                   uint64_t available)
{
    for (size_t v = 0; v < count; v++)
        colour[v] = UINT32_MAX;
    for (size_t point = 0; point < points; point++)
        for (size_t v = 0; v < count; v++) {
            if (!lives[v].used || lives[v].start != point)
                continue;
            uint64_t left = available & ~taken_around(lives, colour, count, &lives[v]);
            assert(left != 0 && "pressure was checked first");
            for (colour[v] = 0; (left >> colour[v] & 1) == 0;)
                colour[v]++;
        }
}

static void rename_registers(struct dg_ir_block *block, uint32_t physical, const uint32_t *colour)
{
    for (size_t i = 0; i < block->count; i++)
        for (unsigned j = 0; block->op[i].op->operands[j] != '\0'; j++) {
            struct dg_ir_operand *operand = &block->op[i].operand[j];
            if (operand->kind == DG_IR_VECTOR && operand->index >= physical)
                operand->index = colour[operand->index - physical];
        }
}

bool dg_ir_colour(const struct dg_isa *isa, struct dg_arena *arena, struct dg_ir_block *block,
                  uint32_t virtuals, uint64_t pinned, struct dg_error *e)
{
    uint32_t physical = isa->vector_registers;
    size_t count = virtuals > physical ? virtuals - physical : 0;
    struct life *lives = find_lives(isa, arena, block, virtuals);
    uint32_t *colour = dg_alloc_array(arena, count + 1, sizeof *colour);
    if (lives == NULL || colour == NULL)
        return dg_fail(e, DG_EXIT_INTERNAL, "register allocation", "memory is used up", "", "");
    uint64_t available = all_registers(physical) & ~pinned;
    unsigned need = crowd(lives, count, 2 * block->count);
    if (need > ones(available)) {
        char value[128];
        unsigned held = physical - ones(available);
        dg_format(value, sizeof value, "%u needed (%u pinned, %u for temporaries), %u there",
                  need + held, held, need, physical);
        return dg_fail(e, DG_EXIT_INPUT, isa->name,
                       "a tile must fit the vector registers: nothing is spilled", value,
                       "choose a smaller tile");
    }
    choose(lives, colour, count, 2 * block->count, available);
    rename_registers(block, physical, colour);
    return true;
}
