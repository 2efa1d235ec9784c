/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of a straight block: which operations must stay in order, and list scheduling by the
 * latencies of the chip. In-order cores live by it; loads of later k-steps move ahead of the
 * multiplies of earlier ones as far as registers allow. */
#include <string.h>

#include "emit/ir/operands.h"

static bool stores(const struct dg_op *op)
{
    return op->sem == DG_SEM_STORE || op->sem == DG_SEM_STORE_PART;
}

static bool same_register(char x, const struct dg_ir_operand *a, char y,
                          const struct dg_ir_operand *b)
{
    return dg_letter_vector(x) == dg_letter_vector(y) && a->index == b->index;
}

static bool names_register(char letter)
{
    return letter != 'i' && letter != 's' && letter != 'l';
}

/* One writes what the other reads or writes. */
static bool registers_conflict(const struct dg_ir_op *a, const struct dg_ir_op *b)
{
    for (unsigned i = 0; a->op->operands[i] != '\0'; i++)
        for (unsigned j = 0; b->op->operands[j] != '\0'; j++) {
            char x = a->op->operands[i], y = b->op->operands[j];
            if (!names_register(x) || !names_register(y))
                continue;
            if (!dg_letter_writes(x) && !dg_letter_writes(y))
                continue;
            if (same_register(x, &a->operand[i], y, &b->operand[j]))
                return true;
        }
    return false;
}

static const struct dg_ir_operand *memory_of(const struct dg_ir_op *op)
{
    for (unsigned i = 0; op->op->operands[i] != '\0'; i++)
        if (op->op->operands[i] == 'm')
            return &op->operand[i];
    return NULL;
}

/* Different pointers of a block point into different operands, which do not overlap. */
static bool memory_conflicts(const struct dg_ir_op *a, const struct dg_ir_op *b)
{
    const struct dg_ir_operand *x = memory_of(a), *y = memory_of(b);
    if (x == NULL || y == NULL || (!stores(a->op) && !stores(b->op)) || x->index != y->index)
        return false;
    return x->value < y->value + (int64_t)dg_ir_access(b->op, b->part) &&
           y->value < x->value + (int64_t)dg_ir_access(a->op, a->part);
}

bool *dg_ir_order(struct dg_arena *arena, const struct dg_ir_block *block)
{
    size_t n = block->count;
    bool *before = dg_alloc_array(arena, n * n + 1, sizeof *before);
    for (size_t i = 0; before != NULL && i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            before[i * n + j] = registers_conflict(&block->op[i], &block->op[j]) ||
                                memory_conflicts(&block->op[i], &block->op[j]);
    return before;
}

struct list {
    const struct dg_isa *isa;
    const struct dg_ir_block *block;
    const struct dg_ir_timing *timing;
    size_t n;
    bool *before;
    unsigned *waits;           /* predecessors not yet placed */
    uint64_t *ready, *height;  /* first cycle; longest way to the end, both in issue slots */
    bool *placed;
    unsigned *mentions;        /* of each virtual register, not yet placed */
    bool *live;
    unsigned now_live;
};

/* Slots from i to a dependent j. */
static uint64_t distance(const struct list *list, size_t i, size_t j)
{
    const struct dg_ir_op *a = &list->block->op[i], *b = &list->block->op[j];
    if (strchr("da", a->op->operands[0]) == NULL || a->op->operands[0] == '\0')
        return 1;
    bool accumulate = b->op->operands[0] == 'a' && b->operand[0].index == a->operand[0].index;
    unsigned cycles = list->timing->latency(list->timing->self, a->op, accumulate);
    unsigned issue = list->timing->issue == 0 ? 1 : list->timing->issue;
    return (uint64_t)cycles * issue;
}

static void find_heights(struct list *list)
{
    for (size_t i = list->n; i-- > 0;)
        for (size_t j = i + 1; j < list->n; j++) {
            if (!list->before[i * list->n + j])
                continue;
            list->waits[j]++;
            uint64_t height = distance(list, i, j) + list->height[j];
            if (height > list->height[i])
                list->height[i] = height;
        }
}

static bool is_virtual(const struct list *list, const struct dg_ir_op *op, unsigned operand)
{
    return dg_letter_vector(op->op->operands[operand]) &&
           op->operand[operand].index >= list->isa->vector_registers;
}

static void count_mentions(struct list *list)
{
    for (size_t i = 0; i < list->n; i++)
        for (unsigned j = 0; list->block->op[i].op->operands[j] != '\0'; j++)
            if (is_virtual(list, &list->block->op[i], j))
                list->mentions[list->block->op[i].operand[j].index]++;
}

/* Operands of op before j that name the same register. */
static bool repeated(const struct dg_ir_op *op, unsigned j)
{
    for (unsigned i = 0; i < j; i++)
        if (dg_letter_vector(op->op->operands[i]) && op->operand[i].index == op->operand[j].index)
            return true;
    return false;
}

static unsigned mentions_of(const struct list *list, const struct dg_ir_op *op, uint32_t v)
{
    unsigned n = 0;
    for (unsigned j = 0; op->op->operands[j] != '\0'; j++)
        n += is_virtual(list, op, j) && op->operand[j].index == v;
    return n;
}

/* Registers live while operation i runs, if it came next; *after: when it is done. */
static unsigned crowd_at(const struct list *list, size_t i, unsigned *after)
{
    const struct dg_ir_op *op = &list->block->op[i];
    unsigned fresh = 0, dying = 0, unread = 0;
    for (unsigned j = 0; op->op->operands[j] != '\0'; j++) {
        if (!is_virtual(list, op, j))
            continue;
        uint32_t v = op->operand[j].index;
        bool is_last = list->mentions[v] == mentions_of(list, op, v), seen = repeated(op, j);
        fresh += !seen && !list->live[v];
        unread += !seen && !list->live[v] && is_last;
        dying += !seen && list->live[v] && is_last;
    }
    unsigned reading = list->now_live, writing = reading + fresh - dying;
    *after = writing - unread;
    if (fresh > 0 && (dg_op_early(op->op) || strchr(op->op->operands, 't') != NULL))
        return reading + fresh;
    return writing > reading ? writing : reading;
}

static void place(struct list *list, size_t i, uint64_t slot)
{
    const struct dg_ir_op *op = &list->block->op[i];
    unsigned after;
    crowd_at(list, i, &after);
    list->now_live = after;
    list->placed[i] = true;
    for (unsigned j = 0; op->op->operands[j] != '\0'; j++)
        if (is_virtual(list, op, j)) {
            list->live[op->operand[j].index] = true;
            list->mentions[op->operand[j].index]--;
        }
    for (size_t j = i + 1; j < list->n; j++)
        if (list->before[i * list->n + j]) {
            list->waits[j]--;
            uint64_t ready = slot + distance(list, i, j);
            if (ready > list->ready[j])
                list->ready[j] = ready;
        }
}

/* The best operation that may come next: one that is ready at this slot before one that is not,
 * then the one with the longest way to go, then the earlier. n: none fits the registers. */
static size_t pick(const struct list *list, uint64_t slot, unsigned registers)
{
    size_t best = list->n;
    for (size_t i = 0; i < list->n; i++) {
        unsigned after;
        if (list->placed[i] || list->waits[i] > 0 || crowd_at(list, i, &after) > registers)
            continue;
        if (best == list->n) {
            best = i;
            continue;
        }
        uint64_t a = list->ready[i] > slot ? list->ready[i] : slot;
        uint64_t b = list->ready[best] > slot ? list->ready[best] : slot;
        if (a < b || (a == b && list->height[i] > list->height[best]))
            best = i;
    }
    return best;
}

static bool start(struct list *list, struct dg_arena *arena, uint32_t virtuals)
{
    size_t n = list->n;
    list->before = dg_ir_order(arena, list->block);
    list->waits = dg_alloc_array(arena, n, sizeof *list->waits);
    list->ready = dg_alloc_array(arena, n, sizeof *list->ready);
    list->height = dg_alloc_array(arena, n, sizeof *list->height);
    list->placed = dg_alloc_array(arena, n, sizeof *list->placed);
    list->mentions = dg_alloc_array(arena, virtuals + 1, sizeof *list->mentions);
    list->live = dg_alloc_array(arena, virtuals + 1, sizeof *list->live);
    return list->before != NULL && list->waits != NULL && list->ready != NULL &&
           list->height != NULL && list->placed != NULL && list->mentions != NULL &&
           list->live != NULL;
}

bool dg_ir_schedule(const struct dg_isa *isa, struct dg_arena *arena, struct dg_ir_block *block,
                    uint32_t virtuals, unsigned registers, const struct dg_ir_timing *timing)
{
    if (timing == NULL || timing->latency == NULL || block->count < 2)
        return true;
    struct list list = { .isa = isa, .block = block, .timing = timing, .n = block->count };
    struct dg_ir_op *out = dg_alloc_array(arena, block->count, sizeof *out);
    if (out == NULL || !start(&list, arena, virtuals))
        return false;
    find_heights(&list);
    count_mentions(&list);
    uint64_t slot = 0;
    for (size_t done = 0; done < list.n; done++) {
        size_t next = pick(&list, slot, registers);
        if (next == list.n)
            return true;       /* no order within the registers found: the builder's stays */
        if (list.ready[next] > slot)
            slot = list.ready[next];
        out[done] = block->op[next];
        place(&list, next, slot);
        slot++;
    }
    block->op = out;
    block->capacity = block->count;
    return true;
}
