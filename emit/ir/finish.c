/* SPDX-License-Identifier: Apache-2.0
 *
 * Nest to code. Reading dg_ir_finish is reading the pipeline: per tile legalise, schedule, check
 * pressure, colour; then loops around it, their counters and saved pointers in frame slots. */
#include <assert.h>
#include <string.h>

#include "emit/ir/legal.h"

struct finish {
    const struct dg_isa *isa;
    struct dg_arena *arena;
    struct dg_ir_function *function;
    struct dg_ir_item *item;
    size_t count, capacity;
    uint32_t labels, slots;
    struct dg_error *e;
};

static bool no_memory(struct finish *f)
{
    return dg_fail_memory(f->e, "instruction list");
}

static bool append(struct finish *f, struct dg_ir_item item)
{
    if (f->count == f->capacity) {
        size_t capacity = f->capacity == 0 ? 256 : 2 * f->capacity;
        struct dg_ir_item *more = dg_alloc_array(f->arena, capacity, sizeof *more);
        if (more == NULL)
            return no_memory(f);
        if (f->count > 0)
            memcpy(more, f->item, f->count * sizeof *more);
        f->item = more;
        f->capacity = capacity;
    }
    f->item[f->count++] = item;
    return true;
}

static bool append_block(struct finish *f, const struct dg_ir_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (!append(f, (struct dg_ir_item){ .kind = DG_IR_OPERATION, .op = block->op[i] }))
            return false;
    return true;
}

static bool append_op(struct finish *f, enum dg_sem sem, struct dg_ir_operand a,
                      struct dg_ir_operand b)
{
    const struct dg_op *op = dg_isa_op(f->isa, sem, "i64", 64, 0);
    assert(op != NULL && "the target lacks a scalar row");
    return append(f, (struct dg_ir_item){ .kind = DG_IR_OPERATION, .op = { op, { a, b }, 0 } });
}

static bool append_target(struct finish *f, uint32_t label, bool hot)
{
    return append(f, (struct dg_ir_item){ .kind = DG_IR_TARGET, .label = label, .hot = hot });
}

static bool append_comment(struct finish *f, const char *text)
{
    return text == NULL ||
           append(f, (struct dg_ir_item){ .kind = DG_IR_COMMENT, .text = text });
}

static bool append_stamp(struct finish *f)
{
    return append(f, (struct dg_ir_item){ .kind = DG_IR_STAMP });
}

static bool append_set(struct finish *f, uint32_t scalar, int64_t value)
{
    struct dg_ir_block block = { 0 };
    return (dg_ir_set(f->isa, f->arena, &block, scalar, value) || no_memory(f)) &&
           append_block(f, &block);
}

static bool append_advance(struct finish *f, uint32_t scalar, int64_t value)
{
    struct dg_ir_block block = { 0 };
    return (dg_ir_advance(f->isa, f->arena, &block, scalar, value, f->function->temporary) ||
            no_memory(f)) && append_block(f, &block);
}

static bool append_legal(struct finish *f, const struct dg_ir_block *block)
{
    struct dg_ir_block out;
    return (dg_ir_legalise(f->isa, f->arena, block, f->function->scratch_pointer,
                           f->function->temporary, &out) || no_memory(f)) &&
           append_block(f, &out);
}

static bool take_slot(struct finish *f, uint32_t *slot)
{
    if (f->slots == DG_IR_SLOTS)
        return dg_fail(f->e, DG_EXIT_INTERNAL, "loop nest", "a frame has at most 64 slots", "", "");
    *slot = f->slots++;
    return true;
}

/* ---- counts ---- */

static bool by_chance(const struct dg_ir_count *count);

/* Passes that a loop or part has when that is known at generation. */
static uint64_t fixed(const struct dg_ir_count *count)
{
    assert(!by_chance(count));
    return count->by == NULL ? count->usual : count->last;
}

/* True when the count is known only at run time. */
static bool by_chance(const struct dg_ir_count *count)
{
    if (count->by == NULL || count->usual == count->last)
        return false;
    const struct dg_ir_count *outer = &count->by->u.loop.count;
    return by_chance(outer) || fixed(outer) != 1;
}

static uint64_t fixed_count(const struct dg_ir_count *count)
{
    return count->usual == count->last ? count->usual : fixed(count);
}

static bool may_be_zero(const struct dg_ir_count *count)
{
    return count->usual == 0 || count->last == 0;
}

/* Sets the k-loop's scalar to a count, known or selected, and jumps to `end` when it is zero. */
static bool append_count(struct finish *f, const struct dg_ir_count *count, uint32_t end)
{
    uint32_t to = f->function->count, temporary = f->function->temporary;
    if (!by_chance(count))
        return append_set(f, to, (int64_t)fixed_count(count));
    uint32_t label = f->labels++;
    return append_op(f, DG_SEM_SLOT_LOAD, dg_ir_scalar(temporary),
                     dg_ir_slot(count->by->u.loop.counter)) &&
           append_advance(f, temporary, -1) &&
           append_set(f, to, (int64_t)count->last) &&
           append_op(f, DG_SEM_JUMP_ZERO, dg_ir_scalar(temporary), dg_ir_label(label)) &&
           append_set(f, to, (int64_t)count->usual) &&
           append_target(f, label, false) &&
           (!may_be_zero(count) ||
            append_op(f, DG_SEM_JUMP_ZERO, dg_ir_scalar(to), dg_ir_label(end)));
}

/* ---- tiles ---- */

static bool colour(struct finish *f, struct dg_ir_tile *tile, struct dg_ir_block *block,
                   const char *comment)
{
    if (dg_ir_colour(f->isa, f->arena, block, tile->virtuals, tile->pinned, f->e))
        return true;
    if (f->e != NULL && comment != NULL)
        dg_format(f->e->where, sizeof f->e->where, "%s, %s", f->isa->name, comment);
    return false;
}

static unsigned free_registers(const struct finish *f, uint64_t pinned)
{
    unsigned n = f->isa->vector_registers;
    for (; pinned != 0; pinned &= pinned - 1)
        n--;
    return n;
}

static bool out_of_reach(struct finish *f, const char *comment)
{
    return dg_fail(f->e, DG_EXIT_INTERNAL, comment == NULL ? f->isa->name : comment,
                   "addresses of a k-loop must be within the target's reach", "",
                   "choose a smaller tile or leading dimension");
}

static bool prepare_step(struct finish *f, struct dg_ir_tile *tile, struct dg_ir_block *block,
                         const char *comment)
{
    if (!dg_ir_is_legal(f->isa, block))
        return out_of_reach(f, comment);
    if (!dg_ir_schedule(f->isa, f->arena, block, tile->virtuals,
                        free_registers(f, tile->pinned), &f->function->timing))
        return no_memory(f);
    return colour(f, tile, block, comment);
}

static bool prepare_tile(struct finish *f, struct dg_ir_tile *tile, const char *comment)
{
    return (dg_ir_is_legal(f->isa, &tile->prime) || out_of_reach(f, comment)) &&
           prepare_step(f, tile, &tile->pass, comment) &&
           prepare_step(f, tile, &tile->rest, comment) &&
           prepare_step(f, tile, &tile->odd, comment) &&
           colour(f, tile, &tile->zero, comment) && colour(f, tile, &tile->load, comment) &&
           colour(f, tile, &tile->first, comment) &&
           colour(f, tile, &tile->finish, comment);
}

/* A block for the first pass of a loop only, or for all but the first. */
static bool append_by_pass(struct finish *f, const struct dg_ir_node *of, bool first,
                           const struct dg_ir_block *block)
{
    uint32_t label = f->labels, temporary = f->function->temporary;
    const struct dg_ir_loop *loop = &of->u.loop;
    uint64_t passes = fixed_count(&loop->count);
    if (passes == 1)
        return !first || append_legal(f, block);
    f->labels++;
    return append_op(f, DG_SEM_SLOT_LOAD, dg_ir_scalar(temporary), dg_ir_slot(loop->counter)) &&
           append_advance(f, temporary, -(int64_t)passes) &&
           append_op(f, first ? DG_SEM_JUMP_NONZERO : DG_SEM_JUMP_ZERO, dg_ir_scalar(temporary),
                     dg_ir_label(label)) &&
           append_legal(f, block) && append_target(f, label, false);
}

static bool append_start(struct finish *f, const struct dg_ir_tile *tile)
{
    bool always = tile->first_of == NULL || tile->zero.count == 0 || tile->load.count == 0;
    return append_legal(f, &tile->zero) &&
           (always ? append_legal(f, &tile->load)
                   : append_by_pass(f, tile->first_of, false, &tile->load)) &&
           (tile->first.count == 0 || append_by_pass(f, tile->first_of, true, &tile->first));
}

/* A counted run of one part of the k-loop. */
static bool append_steps(struct finish *f, const struct dg_ir_count *count,
                         const struct dg_ir_block *step, const struct dg_ir_block *advance)
{
    if (!by_chance(count) && fixed_count(count) == 0)
        return true;
    bool once = !by_chance(count) && fixed_count(count) == 1;
    uint32_t head = f->labels, end = head + 1;
    if (once)
        return append_block(f, step) && append_block(f, advance);
    f->labels += 2;
    return append_count(f, count, end) && append_target(f, head, true) &&
           append_block(f, step) && append_block(f, advance) &&
           append_op(f, DG_SEM_COUNT_DOWN, dg_ir_scalar(f->function->count), dg_ir_label(head)) &&
           append_target(f, end, false);
}

static bool append_prime(struct finish *f, const struct dg_ir_tile *tile)
{
    bool never = !by_chance(&tile->passes) && fixed_count(&tile->passes) == 0;
    return never || append_block(f, &tile->prime);
}

static bool append_tile(struct finish *f, struct dg_ir_node *node)
{
    struct dg_ir_tile *tile = &node->u.tile;
    return prepare_tile(f, tile, node->comment) && append_comment(f, node->comment) &&
           append_start(f, tile) && append_legal(f, &tile->setup) && append_prime(f, tile) &&
           append_steps(f, &tile->passes, &tile->pass, &tile->pass_next) &&
           append_steps(f, &tile->rests, &tile->rest, &tile->rest_next) &&
           append_steps(f, &tile->odds, &tile->odd, &(struct dg_ir_block){ 0 }) &&
           append_legal(f, &tile->finish);
}

/* ---- loops ---- */

static bool is_once(const struct dg_ir_loop *loop)
{
    return !by_chance(&loop->count) && fixed_count(&loop->count) == 1;
}

/* Streams that the nodes of a list leave at another place, bit per stream. */
static unsigned moved_by(const struct dg_ir_node *list)
{
    unsigned moved = 0;
    for (const struct dg_ir_node *node = list; node != NULL; node = node->next) {
        if (node->kind != DG_IR_LOOP)
            continue;
        const struct dg_ir_loop *loop = &node->u.loop;
        if (is_once(loop) && node->next == NULL)
            moved |= moved_by(loop->child);   /* nothing is put back: see append_loop */
        else
            for (unsigned s = 0; s < DG_IR_STREAMS; s++)
                moved |= (unsigned)(loop->step[s] != 0) << s;
    }
    return moved;
}

static bool append_list(struct finish *f, struct dg_ir_node *list);

static bool save(struct finish *f, struct dg_ir_loop *loop, unsigned moved)
{
    for (unsigned s = 0; s < DG_IR_STREAMS; s++)
        if ((moved >> s & 1) != 0 &&
            (!take_slot(f, &loop->save[s]) ||
             !append_op(f, DG_SEM_SLOT_STORE, dg_ir_slot(loop->save[s]),
                        dg_ir_scalar(f->function->stream[s]))))
            return false;
    return true;
}

static bool restore_and_step(struct finish *f, const struct dg_ir_loop *loop, unsigned moved)
{
    for (unsigned s = 0; s < DG_IR_STREAMS; s++) {
        uint32_t pointer = f->function->stream[s];
        if ((moved >> s & 1) != 0 && !append_op(f, DG_SEM_SLOT_LOAD, dg_ir_scalar(pointer),
                                               dg_ir_slot(loop->save[s])))
            return false;
        if (!append_advance(f, pointer, loop->step[s]))
            return false;
    }
    return true;
}

/* The counter waits in its slot during a pass, so that inner counts can ask whether it is the
 * last; slots are given back at the loop's end. */
static bool append_counted(struct finish *f, struct dg_ir_loop *loop, unsigned moved)
{
    uint32_t head = f->labels++, end = f->labels++, temporary = f->function->temporary;
    return take_slot(f, &loop->counter) && append_count(f, &loop->count, end) &&
           append_op(f, DG_SEM_SLOT_STORE, dg_ir_slot(loop->counter),
                     dg_ir_scalar(f->function->count)) &&
           append_target(f, head, false) && save(f, loop, moved) &&
           append_list(f, loop->child) && restore_and_step(f, loop, moved) &&
           (!loop->stamp || append_stamp(f)) &&
           append_op(f, DG_SEM_SLOT_LOAD, dg_ir_scalar(temporary), dg_ir_slot(loop->counter)) &&
           append_advance(f, temporary, -1) &&
           append_op(f, DG_SEM_SLOT_STORE, dg_ir_slot(loop->counter), dg_ir_scalar(temporary)) &&
           append_op(f, DG_SEM_JUMP_NONZERO, dg_ir_scalar(temporary), dg_ir_label(head)) &&
           append_target(f, end, false);
}

static bool append_loop(struct finish *f, struct dg_ir_node *node)
{
    struct dg_ir_loop *loop = &node->u.loop;
    if (!by_chance(&loop->count) && fixed_count(&loop->count) == 0)
        return true;
    unsigned moved = moved_by(loop->child);
    uint32_t slots = f->slots;
    if (!append_comment(f, node->comment))
        return false;
    if (!is_once(loop)) {
        if (!append_counted(f, loop, moved))
            return false;
    } else if (node->next == NULL) {
        /* The last of its list: whoever needs the pointers again has saved them. */
        if (!append_list(f, loop->child) || (loop->stamp && !append_stamp(f)))
            return false;
    } else if (!save(f, loop, moved) || !append_list(f, loop->child) ||
               !restore_and_step(f, loop, moved) || (loop->stamp && !append_stamp(f))) {
        return false;
    }
    f->function->slots = f->slots > f->function->slots ? f->slots : f->function->slots;
    f->slots = slots;
    return true;
}

static bool append_list(struct finish *f, struct dg_ir_node *list)
{
    for (struct dg_ir_node *node = list; node != NULL; node = node->next) {
        bool ok = node->kind == DG_IR_LOOP ? append_loop(f, node)
                : node->kind == DG_IR_TILE ? append_tile(f, node)
                : append_comment(f, node->comment) && append_legal(f, &node->u.straight);
        if (!ok)
            return false;
    }
    return true;
}

static void find_used(struct dg_ir_code *code)
{
    for (unsigned i = 0; i < code->arguments; i++)
        code->scalars_used |= UINT64_C(1) << i;
    for (size_t i = 0; i < code->count; i++) {
        const struct dg_ir_op *op = &code->item[i].op;
        if (code->item[i].kind != DG_IR_OPERATION)
            continue;
        for (unsigned j = 0; op->op->operands[j] != '\0'; j++) {
            uint64_t bit = UINT64_C(1) << (op->operand[j].index & 63);
            if (op->operand[j].kind == DG_IR_VECTOR)
                code->vectors_used |= bit;
            if (op->operand[j].kind == DG_IR_SCALAR || op->operand[j].kind == DG_IR_MEMORY)
                code->scalars_used |= bit;
        }
    }
}

bool dg_ir_finish(struct dg_ir_function *function, struct dg_ir_code *out, struct dg_error *e)
{
    struct finish f = { .isa = function->isa, .arena = function->arena, .function = function,
                        .e = e };
    function->slots = 0;
    if (!append_legal(&f, &function->entry) || !append_stamp(&f) ||
        !append_list(&f, function->nest) || !append_stamp(&f))
        return false;
    *out = (struct dg_ir_code){
        .isa = function->isa, .item = f.item, .count = f.count, .labels = f.labels,
        .arguments = function->arguments, .slots = function->slots, .masks = function->masks,
    };
    memcpy(out->mask_part, function->mask_part, sizeof out->mask_part);
    memcpy(out->scalar_name, function->scalar_name, sizeof out->scalar_name);
    memcpy(out->vector_name, function->vector_name, sizeof out->vector_name);
    find_used(out);
    return true;
}

unsigned dg_ir_mask(const struct dg_ir_code *code, unsigned part)
{
    for (unsigned i = 0; i < code->masks; i++)
        if (code->mask_part[i] == part)
            return i + 1;
    return 0;
}
