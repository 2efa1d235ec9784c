/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the lowering share: sizes, scalars, strides, latencies. */
#include "emit/lower/internal.h"
#include "emit/lower/stamps.h"

#include <stdarg.h>
#include <string.h>

bool dg_lower_no_memory(struct lower *l)
{
    return dg_fail_memory(l->e, "lowering");
}

char *dg_lower_text(struct lower *l, const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    dg_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    return dg_strdup(l->arena, text);
}

bool dg_lower_scalar(struct lower *l, const char *name, uint32_t *out)
{
    if (l->scalars == l->isa->scalar_registers)
        return dg_fail(l->e, DG_EXIT_INPUT, l->isa->name,
                       "pointers, counts and strides must fit the scalar registers",
                       dg_lower_text(l, "more than %u (%u pointers into A)",
                                     l->isa->scalar_registers, l->row_pointers),
                       "choose a tile of fewer rows or a smaller lda");
    l->function.scalar_name[l->scalars] = name;
    *out = l->scalars++;
    return true;
}

uint64_t dg_lower_cycles(const struct lower *l, uint64_t share, uint64_t whole)
{
    uint64_t cycles = l->plan->cycles > 0 ? (uint64_t)l->plan->cycles / DG_COST_ONE : 0;
    return whole == 0 ? cycles : (uint64_t)((double)cycles * (double)share / (double)whole);
}

/* A mask register for so many lanes, 0 for none. */
static bool add_mask(struct lower *l, unsigned part)
{
    struct dg_ir_function *f = &l->function;
    const struct dg_op *op = dg_isa_op(l->isa, DG_SEM_SET_MASK, "i64", 64, 0);
    bool known = part == 0 || op == NULL || l->isa->mask_registers == 0;
    for (unsigned i = 0; i < f->masks; i++)
        known = known || f->mask_part[i] == part;
    if (known)
        return true;
    f->mask_part[f->masks++] = part;
    return (dg_ir_set(l->isa, l->arena, &f->entry, f->temporary, (INT64_C(1) << part) - 1) &&
            dg_ir_add(l->arena, &f->entry, op, part, dg_ir_scalar(f->temporary), dg_lower_none(),
                      dg_lower_none())) || dg_lower_no_memory(l);
}

bool dg_lower_masks(struct lower *l, bool kernel)
{
    const struct dg_plan *plan = l->plan;
    bool adds = l->problem->beta != 0 || plan->k_blocks > 1;
    if (!plan->along)
        return add_mask(l, plan->tail_part);
    return add_mask(l, plan->tail_columns) && (!kernel || add_mask(l, dg_lower_odd_along(l))) &&
           (!(adds || !kernel) || add_mask(l, 1));
}

unsigned dg_lower_odd_along(const struct lower *l)
{
    return (unsigned)(l->plan->kc_last % l->body->lanes);
}

unsigned dg_lower_registers(const struct lower *l)
{
    return l->body->flip != NULL ? l->flip : l->isa->vector_registers;
}

bool dg_lower_flip(struct lower *l)
{
    struct dg_ir_function *f = &l->function;
    const struct dg_op *op = dg_isa_op(l->isa, DG_SEM_SPLAT, "s32", l->isa->vector_bits, 0);
    if (l->body->flip == NULL)
        return true;
    f->vector_name[l->flip] = "0x80 in every byte: flips the signs of A";
    return (dg_ir_set(l->isa, l->arena, &f->entry, f->temporary, 0x80808080) &&
            dg_ir_add(l->arena, &f->entry, op, 0, dg_ir_vector(l->flip),
                      dg_ir_scalar(f->temporary), dg_lower_none())) || dg_lower_no_memory(l);
}

bool dg_lower_stride(struct lower *l, int64_t bytes)
{
    struct dg_ir_block *entry = &l->function.entry;
    if (bytes * l->unroll > l->isa->immediate_max &&
        (!dg_lower_scalar(l, "stride of a pass", &l->stride_pass) ||
         !(dg_ir_set(l->isa, l->arena, entry, l->stride_pass, bytes * l->unroll) ||
           dg_lower_no_memory(l))))
        return false;
    return bytes <= l->isa->immediate_max ||
           (dg_lower_scalar(l, "stride of a step", &l->stride_rest) &&
            (dg_ir_set(l->isa, l->arena, entry, l->stride_rest, bytes) || dg_lower_no_memory(l)));
}

int64_t dg_lower_b_row(const struct lower *l, bool tail)
{
    if (l->problem->layout_b == DG_ROW_MAJOR)
        return (int64_t)l->problem->ldb * l->body->b_bytes;
    return tail ? l->tail_row : l->panel_row;
}

static uint64_t area_of(const struct lower *l)
{
    const struct dg_plan *plan = l->plan;
    uint64_t vectors = l->panels * plan->tile.vectors + plan->tail_vectors;
    return l->problem->m * vectors * plan->k_blocks;
}

/* Scalars left for pointers into A: the others are three arguments, count, free, B of this k, next
 * panel, tail panel, strides of B. */
static unsigned scalars_left(const struct lower *l)
{
    enum { OTHERS = 10 };
    unsigned left = l->isa->scalar_registers - OTHERS;
    return left < ROW_POINTERS ? left : ROW_POINTERS;
}

/* Pointers into A so that each row is within reach of one; false: they are too many. */
static bool share_rows(struct lower *l, unsigned rows)
{
    int64_t step = l->plan->along ? l->a_step * l->body->lanes : l->a_step;
    int64_t last = (l->unroll - 1 + l->rotate) * step;
    l->row_pointers = 0;
    for (unsigned i = 0, first = 0; i < rows; i++) {
        if (i > 0 && dg_ir_reaches(l->isa, (unsigned)l->a_step, (i - first) * l->a_row + last))
            continue;
        if (l->row_pointers == scalars_left(l))
            return false;
        first = i;
        l->first_row[l->row_pointers++] = i;
    }
    return true;
}

/* A few pointers for equal shares of the rows, each with one that walks: an addition a row and
 * step, but any number of rows at any distance. */
static void walk_rows(struct lower *l, unsigned rows)
{
    unsigned pointers = (scalars_left(l) - 1) / 2, share = (rows + pointers - 1) / pointers;
    l->walks = true;
    l->rotate = false;
    l->row_pointers = 0;
    for (unsigned i = 0; i < rows; i += share)
        l->first_row[l->row_pointers++] = i;
}

uint64_t dg_lower_passes(const struct lower *l, uint64_t kc)
{
    return kc == 0 ? 0 : (kc - l->rotate) / l->unroll;
}

/* Offsets of B over so many steps from one pointer. */
static bool b_reaches(const struct lower *l, unsigned steps)
{
    for (unsigned u = 0; u < steps; u++)
        for (unsigned j = 0; j < l->plan->tile.vectors; j++)
            for (unsigned tail = 0; tail < 2; tail++) {
                unsigned bytes = (unsigned)l->b_vector;
                unsigned some = l->plan->tail_part * l->body->b_bytes;
                int64_t offset = u * dg_lower_b_row(l, tail != 0) + j * l->b_vector;
                if (!dg_ir_reaches(l->isa, bytes, offset) ||
                    !dg_ir_reaches(l->isa, some == 0 ? bytes : some, offset))
                    return false;
            }
    return true;
}

/* Rotating loads costs up to a pass of single steps: not for short products. */
static bool plan_is_long(const struct dg_plan *plan, unsigned unroll)
{
    enum { PASSES = 32 };
    return plan->kc_last >= (uint64_t)PASSES * unroll && plan->kc >= (uint64_t)PASSES * unroll;
}

static void choose_unroll(struct lower *l)
{
    unsigned unroll = l->plan->unroll == 0 ? 1 : l->plan->unroll;
    while (unroll > 1 && (unroll > l->plan->kc || !b_reaches(l, unroll)))
        unroll /= 2;
    l->unroll = unroll;
    l->rotate = l->function.timing.latency != NULL &&
                plan_is_long(l->plan, unroll) && b_reaches(l, unroll + 1);
}

/* The next panel is prefetched once while the tiles of a block pass over this one: each pass of a
 * k-loop takes an equal share, at most a line apart. */
static void choose_ahead(struct lower *l)
{
    const struct dg_plan *plan = l->plan;
    uint64_t passes = dg_lower_passes(l, plan->kc);
    uint64_t tiles = plan->rows.count[0] + plan->rows.count[1];
    uint64_t bytes = (uint64_t)l->panel_row * plan->kc;
    l->ahead_bytes = 0;
    if (!plan->prefetch || l->problem->layout_b != DG_PACKED || l->panels < 2 || passes == 0)
        return;
    if (plan->inner == DG_TILES_OUTER || tiles == 0)
        tiles = 1;
    uint64_t share = (bytes + passes * tiles - 1) / (passes * tiles);
    l->ahead_bytes = share > l->line ? (share + l->line - 1) / l->line * l->line : share;
    l->ahead_distance = l->panel_row * (int64_t)l->steps + l->head;
}

static unsigned tallest(const struct dg_plan *plan)
{
    unsigned rows = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (plan->rows.count[i] > 0 && plan->rows.size[i] > rows)
            rows = plan->rows.size[i];
        if (plan->rows_last.count[i] > 0 && plan->rows_last.size[i] > rows)
            rows = plan->rows_last.size[i];
    }
    return rows;
}

static void set_sizes(struct lower *l)
{
    const struct dg_plan *plan = l->plan;
    const struct dg_body *body = l->body;
    l->steps = dg_body_steps(body, l->problem->k);
    l->odd = (unsigned)(l->problem->k % body->group);
    l->a_step = dg_body_a_step(body);
    l->a_row = (int64_t)l->problem->lda * body->a_bytes;
    l->b_vector = (int64_t)body->lanes * body->b_bytes;
    l->c_vector = (int64_t)body->lanes * body->c_bytes;
    l->c_row = (int64_t)l->problem->ldc * body->c_bytes;
    l->panel_columns = (int64_t)plan->tile.vectors * body->lanes;
    l->panel_row = (int64_t)plan->tile.vectors * l->b_vector;
    l->tail_row = (int64_t)plan->tail_vectors * l->b_vector;
    l->tail_steps = plan->along ? (l->steps + body->lanes - 1) / body->lanes : l->steps;
    l->head = body->flip != NULL ? l->panel_row : 0;
    l->tail_head = body->flip != NULL ? l->tail_row : 0;
    l->flip = l->isa->vector_registers - 1;
    l->panels = (plan->n_blocks - 1) * plan->panels + plan->panels_last;
    l->area = area_of(l);
}

/* Bytes of a prefetch: a line of the chip; where no profile says it, a vector. */
static void set_line(struct lower *l, struct dg_view *view)
{
    double line;
    bool known = view != NULL && dg_view_field(view, "l1_line_size", &line);
    l->line = known ? (uint64_t)line : l->isa->vector_bits / 8;
}

static bool give_walkers(struct lower *l)
{
    for (unsigned g = 0; g < l->row_pointers; g++)
        if (!dg_lower_scalar(l, dg_lower_text(l, "row of A, from %u on", l->first_row[g]),
                             &l->walk[g]))
            return false;
    return dg_lower_scalar(l, "stride of A", &l->stride_a) &&
           (dg_ir_set(l->isa, l->arena, &l->function.entry, l->stride_a, l->a_row) ||
            dg_lower_no_memory(l));
}

static bool give_scalars(struct lower *l)
{
    struct dg_ir_function *f = &l->function;
    l->scalars = 3;
    if (!dg_lower_scalar(l, "count", &f->count) || !dg_lower_scalar(l, "free", &f->temporary) ||
        !dg_lower_scalar(l, "B of this k", &l->step_b))
        return false;
    for (unsigned g = 0; g < l->row_pointers; g++)
        if (!dg_lower_scalar(l, dg_lower_text(l, "A of this k, row %u on", l->first_row[g]),
                          &l->step_a[g]))
            return false;
    f->scratch_pointer = l->step_a[0];
    if (l->walks && !give_walkers(l))
        return false;
    if (l->ahead_bytes > 0 && !dg_lower_scalar(l, "next panel, prefetched", &l->ahead))
        return false;
    if (l->problem->layout_b == DG_PACKED && l->plan->tail_columns != 0 &&
        !dg_lower_scalar(l, "tail panel of B", &f->stream[STREAM_TAIL]))
        return false;
    return l->problem->layout_b == DG_PACKED || dg_lower_stride(l, dg_lower_b_row(l, false));
}

/* The steps of a panel stand behind its head. */
static bool aim_steps(struct lower *l)
{
    struct dg_ir_function *f = &l->function;
    return dg_ir_advance(l->isa, l->arena, &f->entry, f->stream[STREAM_B], l->head,
                         f->temporary) || dg_lower_no_memory(l);
}

/* The tail panel stands behind all full ones. */
static bool aim_tail(struct lower *l)
{
    struct dg_ir_function *f = &l->function;
    if (l->problem->layout_b != DG_PACKED || l->plan->tail_columns == 0)
        return true;
    int64_t panel = l->panel_row * (int64_t)l->steps + l->head;
    int64_t move = (int64_t)l->panels * panel + l->tail_head;
    uint32_t tail = f->stream[STREAM_TAIL];
    return (dg_ir_add(l->arena, &f->entry, dg_isa_op(l->isa, DG_SEM_COPY, "i64", 64, 0), 0,
                      dg_ir_scalar(tail), dg_ir_scalar(f->stream[STREAM_B]), dg_lower_none()) &&
            dg_ir_add(l->arena, &f->entry, dg_isa_op(l->isa, DG_SEM_ADD_IMM, "i64", 64, 0), 0,
                      dg_ir_scalar(tail), dg_ir_immediate(move), dg_lower_none())) ||
           dg_lower_no_memory(l);
}

static void name_vectors(struct lower *l)
{
    unsigned vectors = l->plan->tile.vectors, rows = tallest(l->plan);
    for (unsigned i = 0; i < 32; i++)
        l->function.vector_name[i] = i < rows * vectors
            ? dg_lower_text(l, "C row %u, vector %u", i / vectors, i % vectors) : "A and B";
}

static bool lower_kernel(struct lower *l, struct dg_ir_code *out)
{
    struct dg_ir_function *f = &l->function;
    f->arguments = 3;
    f->stream[STREAM_A] = 0;
    f->stream[STREAM_B] = 1;
    f->stream[STREAM_C] = 2;
    f->scalar_name[0] = "A of the tile's rows";
    f->scalar_name[1] = "B of the panel";
    f->scalar_name[2] = "C of the tile";
    choose_unroll(l);
    if (!share_rows(l, tallest(l->plan)))
        walk_rows(l, tallest(l->plan));
    choose_ahead(l);
    name_vectors(l);
    return give_scalars(l) && dg_lower_masks(l, true) && dg_lower_flip(l) && aim_tail(l) &&
           aim_steps(l) && dg_lower_nest(l) &&
           dg_ir_finish(f, out, l->e);
}

static bool may_lower(const struct dg_problem *p, const struct dg_body *body, struct dg_error *e)
{
    if (p->layout_b != DG_PACKED && strcmp(body->load->dtype, body->source) != 0)
        return dg_fail(e, DG_EXIT_INPUT, p->name, "B must be packed where the kernel reads other "
                       "elements than the matrix has", dg_dtype_names[p->dtype],
                       "use layout.b: packed");
    if (p->layout_a == DG_ROW_MAJOR && p->layout_c == DG_ROW_MAJOR &&
        (p->layout_b == DG_PACKED || p->layout_b == DG_ROW_MAJOR))
        return true;
    return dg_fail(e, DG_EXIT_INPUT, p->name,
                   "A and C must be row-major, B packed or row-major", "column-major",
                   "other layouts are not built yet");
}

/* ---- latencies ---- */

static unsigned whole(double cycles)
{
    return cycles < 1 ? 1 : cycles > 64 ? 64 : (unsigned)(cycles + 0.5);
}

static unsigned cell(struct dg_view *view, const struct dg_op *op, const char *what,
                     const char *otherwise)
{
    char key[96];
    double value = 0;
    dg_format(key, sizeof key, "op.%s.%s.%u.%s", op->name, op->dtype, op->bits, what);
    const char *kept = dg_strdup(view->arena, key);
    if (kept != NULL && dg_view_cell(view, kept, &value))
        return whole(value);
    return dg_view_field(view, otherwise, &value) ? whole(value) : 1;
}

static unsigned latency(void *self, const struct dg_op *op, bool accumulate)
{
    const struct latencies *all = self;
    switch (op->sem) {
    case DG_SEM_LOAD:
    case DG_SEM_LOAD_PART:
        return all->load;
    case DG_SEM_BROADCAST:
    case DG_SEM_BROADCAST_GROUP:
    case DG_SEM_LOAD_ELEMENT:
        return all->broadcast;
    case DG_SEM_FMA:
    case DG_SEM_FMA_ELEMENT:
    case DG_SEM_FMA_BROADCAST:
    case DG_SEM_DOT:
        return accumulate ? all->chain : all->chain_other;
    default:
        return 1;
    }
}

static struct dg_ir_timing timing_of(struct lower *l, struct dg_view *view)
{
    if (view == NULL || !l->plan->schedule)
        return (struct dg_ir_timing){ .latency = NULL };
    const struct dg_body *body = l->body;
    l->latencies.load = cell(view, body->load, "latency", "l1_latency");
    l->latencies.broadcast = cell(view, body->broadcast, "latency", "l1_latency");
    l->latencies.chain = cell(view, body->chain, "acc_latency", "fma_latency");
    l->latencies.chain_other = cell(view, body->chain, "latency", "fma_latency");
    return (struct dg_ir_timing){ latency, &l->latencies, l->plan->issue };
}

bool dg_lower(const struct dg_problem *problem, const struct dg_plan *plan, struct dg_view *view,
              struct dg_arena *arena, struct dg_lowered *out, struct dg_error *e)
{
    if (!may_lower(problem, &plan->body, e))
        return false;
    struct lower l = {
        .problem = problem, .plan = plan, .body = &plan->body, .isa = plan->body.isa,
        .arena = arena, .e = e,
    };
    *out = (struct dg_lowered){ .has_pack_b = problem->layout_b == DG_PACKED };
    set_sizes(&l);
    set_line(&l, view);
    struct dg_ir_function empty = { .isa = l.isa, .arena = arena, .timing = timing_of(&l, view) };
    l.function = empty;
    if (!lower_kernel(&l, &out->kernel))
        return false;
    dg_lower_count_stamps(&l, out);
    if (!out->has_pack_b)
        return true;
    out->packed_b_size = l.steps == 0 ? 0
        : ((uint64_t)l.panel_row * l.steps + (uint64_t)l.head) * l.panels +
          (uint64_t)l.tail_row * l.tail_steps + (uint64_t)l.tail_head;
    l.function = empty;
    return dg_lower_pack(&l) && dg_ir_finish(&l.function, &out->pack_b, e);
}
