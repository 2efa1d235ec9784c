/* SPDX-License-Identifier: Apache-2.0
 *
 * One tile: accumulators started from zero or C, the steps of the body's recipe over k, stored. */
#include <assert.h>
#include <string.h>

#include "emit/lower/tile.h"

uint32_t dg_tile_fresh(struct tile *t)
{
    uint32_t v = t->next++;
    if (t->next > t->out->virtuals)
        t->out->virtuals = t->next;
    return v;
}

uint32_t dg_tile_accumulator(const struct tile *t, unsigned row, unsigned vector)
{
    return row * t->shape.vectors + vector;
}

static bool add(struct tile *t, struct dg_ir_block *block, const struct dg_op *op, unsigned part,
                struct dg_ir_operand a, struct dg_ir_operand b, struct dg_ir_operand c)
{
    return dg_ir_add(t->l->arena, block, op, part, a, b, c) || dg_lower_no_memory(t->l);
}

static const struct dg_op *scalar_op(const struct lower *l, enum dg_sem sem)
{
    return dg_isa_op(l->isa, sem, "i64", 64, 0);
}

/* The row of a vector access: whole, or the part of it in the tail's last vector. */
const struct dg_op *dg_tile_access_op(struct tile *t, enum dg_sem whole, enum dg_sem some,
                                      unsigned part)
{
    struct lower *l = t->l;
    const struct dg_op *op = dg_isa_op(l->isa, part == 0 ? whole : some, l->body->c,
                                       l->isa->vector_bits, part);
    if (op == NULL)
        dg_fail(l->e, DG_EXIT_INTERNAL, l->isa->name,
                "the operation table needs a row for each part of a vector", "", "");
    return op;
}

/* Loads or stores of one row's vector, with a scratch register where the row asks for one. */
bool dg_tile_access(struct tile *t, struct dg_ir_block *block, const struct dg_op *op,
                    unsigned part, struct dg_ir_operand vector, struct dg_ir_operand memory)
{
    if (op == NULL)
        return false;
    struct dg_ir_operand scratch = strchr(op->operands, 't') == NULL ? dg_lower_none()
                                 : dg_ir_vector(dg_tile_fresh(t));
    bool loads = op->operands[0] == 'd';
    return add(t, block, op, part, loads ? vector : memory, loads ? memory : vector, scratch);
}

struct dg_along dg_tile_along(const struct tile *t)
{
    return (struct dg_along){ t->shape.rows, t->shape.vectors };
}

static unsigned part_of(const struct tile *t, unsigned vector)
{
    return vector + 1 == t->shape.vectors ? t->part : 0;
}

static bool add_c_accesses(struct tile *t, struct dg_ir_block *block, enum dg_sem whole,
                           enum dg_sem some)
{
    struct lower *l = t->l;
    for (unsigned i = 0; i < t->shape.rows; i++)
        for (unsigned j = 0; j < t->shape.vectors; j++) {
            unsigned part = part_of(t, j);
            struct dg_ir_operand c = dg_ir_memory(l->function.stream[STREAM_C],
                                                  i * l->c_row + j * l->c_vector);
            if (!dg_tile_access(t, block, dg_tile_access_op(t, whole, some, part), part,
                            dg_ir_vector(dg_tile_accumulator(t, i, j)), c))
                return false;
        }
    return true;
}

static bool add_zeros(struct tile *t)
{
    for (unsigned i = 0; i < t->shape.rows * t->shape.vectors; i++)
        if (!add(t, &t->out->zero, t->l->body->zero, 0, dg_ir_vector(i), dg_lower_none(),
                 dg_lower_none()))
            return false;
    return true;
}

static unsigned pointer_of_row(const struct lower *l, unsigned row)
{
    unsigned g = l->row_pointers - 1;
    while (l->first_row[g] > row)
        g--;
    return g;
}

static struct dg_ir_operand memory_of(const struct tile *t, struct dg_body_operand x, unsigned u)
{
    const struct lower *l = t->l;
    if (x.role == DG_B)
        return dg_ir_memory(l->step_b, u * dg_lower_b_row(l, t->tail) + x.vector * l->b_vector);
    unsigned g = pointer_of_row(l, x.row);
    if (l->walks)
        return dg_ir_memory(l->walk[g], u * t->a_step);
    int64_t rows = (int64_t)(x.row - l->first_row[g]);
    return dg_ir_memory(l->step_a[g], rows * l->a_row + u * t->a_step);
}

static struct dg_ir_operand operand_of(struct tile *t, char letter, struct dg_body_operand x,
                                       unsigned u)
{
    if (letter == 'm')
        return memory_of(t, x, u);
    if (x.role == DG_ACC)
        return dg_ir_vector(dg_tile_accumulator(t, x.row, x.vector));
    if (x.role == DG_FLIP)
        return dg_ir_vector(t->l->flip);
    if (x.role == DG_SCRATCH)
        return dg_ir_vector(dg_tile_fresh(t));
    uint32_t *held = x.role == DG_A ? &t->a[x.row] : &t->b[x.vector];
    if (letter == 'd')
        *held = dg_tile_fresh(t);
    return dg_ir_vector(*held);
}

/* Only row-major B has k rows that end where the matrix ends: packed B is padded with zeros. */
static bool is_partial_load(const struct tile *t, const struct dg_body_op *op)
{
    return t->l->problem->layout_b == DG_ROW_MAJOR && op->op->sem == DG_SEM_LOAD &&
           op->operand[0].role == DG_B && part_of(t, op->operand[0].vector) != 0;
}

/* Recipes load the rows of A in order: the walking pointer goes to this one from that before. */
static bool add_walk(struct tile *t, struct dg_ir_block *block, const struct dg_body_op *op)
{
    const struct lower *l = t->l;
    for (unsigned i = 0; op->op->operands[i] != '\0'; i++) {
        unsigned row = op->operand[i].row, g = pointer_of_row(l, row);
        if (op->op->operands[i] != 'm' || op->operand[i].role != DG_A)
            continue;
        bool first = row == l->first_row[g];
        assert((first || t->walked + 1 == row) && "rows out of order");
        t->walked = row;
        return add(t, block, scalar_op(l, first ? DG_SEM_COPY : DG_SEM_ADD_REG), 0,
                   dg_ir_scalar(l->walk[g]), dg_ir_scalar(first ? l->step_a[g] : l->stride_a),
                   dg_lower_none());
    }
    return true;
}

/* One operation of a step, u steps on; `odd`: of the last step, with so many elements only. */
static bool add_step_op(struct tile *t, struct dg_ir_block *block, const struct dg_body_op *op,
                        unsigned u, unsigned odd)
{
    struct dg_ir_operand x[4] = { { 0 } };
    if (t->l->walks && !add_walk(t, block, op))
        return false;
    /* what is read first: the result may take the place of a source */
    for (unsigned written = 0; written < 2; written++)
        for (unsigned i = 0; op->op->operands[i] != '\0'; i++)
            if ((op->op->operands[i] == 'd') == (written == 1))
                x[i] = operand_of(t, op->op->operands[i], op->operand[i], u);
    bool of_a = t->along && op->op == t->l->body->load && op->operand[0].role == DG_A;
    unsigned part = is_partial_load(t, op) ? t->part : of_a ? odd : 0;
    if (part != 0)
        return dg_tile_access(t, block, dg_tile_access_op(t, DG_SEM_LOAD, DG_SEM_LOAD_PART, part),
                              part, x[0], x[1]);
    bool some = odd != 0 && op->op == t->l->body->broadcast;
    return dg_ir_add_all(t->l->arena, block, some ? t->l->body->part[odd] : op->op, some ? odd : 0,
                         x) || dg_lower_no_memory(t->l);
}

/* A partial load may need a scratch register, which is there at the start of a step only: the last
 * vector changes places with the first, and its load goes ahead of everything else. */
static void bring_partial_forward(struct tile *t)
{
    unsigned last = t->shape.vectors - 1;
    for (size_t i = 0; i < t->steps; i++)
        for (unsigned j = 0; j < 3; j++) {
            struct dg_body_operand *x = &t->step[i].operand[j];
            if (x->role != DG_NONE && x->role != DG_A && (x->vector == 0 || x->vector == last))
                x->vector = last - x->vector;
        }
    for (size_t i = 0; i < t->steps; i++)
        if (is_partial_load(t, &t->step[i])) {
            struct dg_body_op first = t->step[i];
            memmove(t->step + 1, t->step, i * sizeof *t->step);
            t->step[0] = first;
            return;
        }
}

static bool make_step(struct tile *t)
{
    struct lower *l = t->l;
    struct dg_along along = dg_tile_along(t);
    t->steps = t->along ? dg_body_along_step(l->body, along, NULL, 0)
                        : dg_body_step(l->body, t->shape, NULL, 0);
    t->step = dg_alloc_array(l->arena, t->steps, sizeof *t->step);
    if (t->step == NULL)
        return dg_lower_no_memory(l);
    if (t->along)
        dg_body_along_step(l->body, along, t->step, t->steps);
    else
        dg_body_step(l->body, t->shape, t->step, t->steps);
    if (l->problem->layout_b == DG_ROW_MAJOR && t->part != 0)
        bring_partial_forward(t);
    return true;
}

static bool prefetches(const struct tile *t)
{
    return !t->tail && t->l->ahead_bytes > 0;
}

/* The lines that a pass prefetches, spread over its steps. */
static bool add_prefetches(struct tile *t, struct dg_ir_block *block, unsigned u)
{
    struct lower *l = t->l;
    uint64_t lines = (l->ahead_bytes + l->line - 1) / l->line;
    if (!prefetches(t))
        return true;
    for (uint64_t i = lines * u / l->unroll; i < lines * (u + 1) / l->unroll; i++)
        if (!add(t, block, scalar_op(l, DG_SEM_PREFETCH_L2), 0,
                 dg_ir_memory(l->ahead, (int64_t)(i * l->line)), dg_lower_none(), dg_lower_none()))
            return false;
    return true;
}

static bool add_advance(struct tile *t, struct dg_ir_block *block, uint32_t scalar, int64_t bytes)
{
    const struct lower *l = t->l;
    return add(t, block, scalar_op(l, DG_SEM_ADD_IMM), 0, dg_ir_scalar(scalar),
               dg_ir_immediate(bytes), dg_lower_none());
}

static bool add_bumps(struct tile *t, struct dg_ir_block *block, unsigned steps, bool pass)
{
    struct lower *l = t->l;
    for (unsigned g = 0; g < l->row_pointers && l->first_row[g] < t->shape.rows; g++)
        if (!add_advance(t, block, l->step_a[g], steps * t->a_step))
            return false;
    int64_t b = steps * dg_lower_b_row(l, t->tail);
    if (b <= l->isa->immediate_max) {
        if (!add_advance(t, block, l->step_b, b))
            return false;
    } else if (!add(t, block, scalar_op(l, DG_SEM_ADD_REG), 0, dg_ir_scalar(l->step_b),
                    dg_ir_scalar(pass ? l->stride_pass : l->stride_rest), dg_lower_none())) {
        return false;
    }
    return !pass || !prefetches(t) || add_advance(t, block, l->ahead, (int64_t)l->ahead_bytes);
}

static bool add_copy(struct tile *t, struct dg_ir_block *block, uint32_t to, uint32_t from,
                     int64_t move)
{
    return add(t, block, scalar_op(t->l, DG_SEM_COPY), 0, dg_ir_scalar(to), dg_ir_scalar(from),
               dg_lower_none()) &&
           (move == 0 || add_advance(t, block, to, move));
}

static bool add_setup(struct tile *t)
{
    struct lower *l = t->l;
    struct dg_ir_block *block = &t->out->setup;
    const uint32_t *stream = l->function.stream;
    bool own = t->tail && l->problem->layout_b == DG_PACKED;
    if (!add_copy(t, block, l->step_b, stream[own ? STREAM_TAIL : STREAM_B], 0))
        return false;
    for (unsigned g = 0; g < l->row_pointers && l->first_row[g] < t->shape.rows; g++) {
        unsigned before = g == 0 ? 0 : l->first_row[g - 1];
        int64_t move = (int64_t)(l->first_row[g] - before) * l->a_row;
        if (!add_copy(t, block, l->step_a[g], g == 0 ? stream[STREAM_A] : l->step_a[g - 1], move))
            return false;
    }
    return !prefetches(t) || l->plan->inner != DG_TILES_OUTER ||
           add_copy(t, block, l->ahead, l->step_b, l->ahead_distance);
}

static bool is_load(const struct dg_body_op *op)
{
    return op->op->operands[0] == 'd' && op->op->operands[1] == 'm';
}

/* The first loads of a pass are made in the pass before it, where registers are left for them to
 * wait in: the first multiplies of a pass then need not wait. The k-step that the last pass loads
 * for is there because rests are never 0 then (see set_counts). */
static bool choose_rotated(struct tile *t)
{
    struct lower *l = t->l;
    unsigned used = dg_body_registers(l->body, t->shape), there = dg_lower_registers(l);
    used -= l->body->flip != NULL;
    t->rotated = dg_alloc_array(l->arena, t->steps, sizeof *t->rotated);
    if (t->rotated == NULL)
        return dg_lower_no_memory(l);
    for (size_t i = 0; l->rotate && !t->along && i < t->steps && used + t->rotations < there; i++)
        if (is_load(&t->step[i]) && !is_partial_load(t, &t->step[i])) {
            t->rotated[i] = true;
            t->rotations++;
        }
    t->out->pinned |= ((UINT64_C(1) << t->rotations) - 1) << (there - t->rotations);
    return true;
}

/* The rotated loads, of the step u steps from the pointers on. */
static bool add_rotated(struct tile *t, struct dg_ir_block *block, unsigned u)
{
    uint32_t to = dg_lower_registers(t->l) - t->rotations;
    for (size_t i = 0; i < t->steps; i++)
        if (t->rotated[i] && !add(t, block, t->step[i].op, 0, dg_ir_vector(to++),
                                  memory_of(t, t->step[i].operand[1], u), dg_lower_none()))
            return false;
    return true;
}

/* The operations of a pass's first step find their rotated operands in place. */
static void take_rotated(struct tile *t)
{
    uint32_t from = dg_lower_registers(t->l) - t->rotations;
    for (size_t i = 0; i < t->steps; i++)
        if (t->rotated[i]) {
            const struct dg_body_operand *x = &t->step[i].operand[0];
            *(x->role == DG_A ? &t->a[x->row] : &t->b[x->vector]) = from++;
        }
}

static bool add_pass(struct tile *t)
{
    struct lower *l = t->l;
    take_rotated(t);
    for (unsigned u = 0; u < l->unroll; u++) {
        for (size_t i = 0; i < t->steps; i++)
            if ((u > 0 || !t->rotated[i]) && !add_step_op(t, &t->out->pass, &t->step[i], u, 0))
                return false;
        if (!add_prefetches(t, &t->out->pass, u))
            return false;
    }
    return add_rotated(t, &t->out->pass, l->unroll);
}

static bool add_steps(struct tile *t)
{
    struct lower *l = t->l;
    if (!choose_rotated(t) || !add_rotated(t, &t->out->prime, 0) || !add_pass(t))
        return false;
    t->next = l->isa->vector_registers;
    for (size_t i = 0; i < t->steps; i++)
        if (!add_step_op(t, &t->out->rest, &t->step[i], 0, 0))
            return false;
    t->next = l->isa->vector_registers;
    for (size_t i = 0; t->odd != 0 && i < t->steps; i++)
        if (!add_step_op(t, &t->out->odd, &t->step[i], 0, t->odd))
            return false;
    return add_bumps(t, &t->out->pass_next, l->unroll, true) &&
           add_bumps(t, &t->out->rest_next, 1, false);
}

/* Passes and the steps left over: with rotated loads at least one, and never the partly filled. */
static void set_counts(struct tile *t)
{
    const struct lower *l = t->l;
    const struct dg_plan *plan = l->plan;
    uint64_t all = plan->kc, full = plan->kc_last - (l->odd != 0);
    uint64_t passes = dg_lower_passes(l, all), last = dg_lower_passes(l, full);
    if (t->along) {
        all /= l->body->lanes;
        full = plan->kc_last / l->body->lanes;
        passes = all / l->unroll;
        last = full / l->unroll;
    }
    t->out->passes = (struct dg_ir_count){ passes, last, l->k_loop };
    t->out->rests = (struct dg_ir_count){ all - passes * l->unroll, full - last * l->unroll,
                                          l->k_loop };
    t->out->odds = (struct dg_ir_count){ 0, t->odd != 0, l->k_loop };
}

/* Every row of accumulators from the head of the panel. */
static bool add_heads(struct tile *t, struct dg_ir_block *block, const struct dg_op *op)
{
    const struct lower *l = t->l;
    uint32_t panel = l->function.stream[t->tail ? STREAM_TAIL : STREAM_B];
    int64_t head = t->tail ? l->tail_head : l->head;
    for (unsigned i = 0; i < t->shape.rows; i++)
        for (unsigned j = 0; j < t->shape.vectors; j++)
            if (!add(t, block, op, 0, dg_ir_vector(dg_tile_accumulator(t, i, j)),
                     dg_ir_memory(panel, j * l->b_vector - head), dg_lower_none()))
                return false;
    return true;
}

/* From zero or the panel's head; from C where it is added to, with the head in the first block of K
 * beside it. */
static bool add_start(struct tile *t)
{
    struct lower *l = t->l;
    struct dg_ir_tile *out = t->out;
    bool adds = l->problem->beta != 0, blocks = l->plan->k_blocks > 1;
    bool heads = l->body->flip != NULL && l->steps > 0;
    if (!adds && !(heads ? add_heads(t, &out->zero, l->body->load) : add_zeros(t)))
        return false;
    if ((adds || blocks) &&
        !(t->along ? dg_along_load(t, &out->load)
                   : add_c_accesses(t, &out->load, DG_SEM_LOAD, DG_SEM_LOAD_PART)))
        return false;
    return !adds || !heads ||
           add_heads(t, &out->first, dg_isa_op(l->isa, DG_SEM_ADD_LOAD, "s32",
                                               l->isa->vector_bits, 0));
}

static bool fill(struct tile *t)
{
    struct lower *l = t->l;
    set_counts(t);
    t->out->first_of = l->k_loop;
    t->out->pinned = (UINT64_C(1) << (t->shape.rows * t->shape.vectors)) - 1;
    if (l->body->flip != NULL)
        t->out->pinned |= UINT64_C(1) << l->flip;
    if (!add_start(t))
        return false;
    t->next = l->isa->vector_registers;
    if (!(t->along ? dg_along_finish(t, &t->out->finish)
                   : add_c_accesses(t, &t->out->finish, DG_SEM_STORE, DG_SEM_STORE_PART)))
        return false;
    t->next = l->isa->vector_registers;
    return add_setup(t) && make_step(t) && add_steps(t);
}

struct dg_ir_node *dg_lower_tile(struct lower *l, unsigned rows, bool tail)
{
    const struct dg_plan *plan = l->plan;
    unsigned vectors = tail ? plan->tail_vectors : plan->tile.vectors;
    if ((uint64_t)rows * vectors >= l->isa->vector_registers || rows > 64) {
        dg_fail(l->e, DG_EXIT_INPUT, l->isa->name,
                "accumulators must leave vector registers for A and B",
                dg_lower_text(l, "%u x %u accumulators, %u registers", rows, vectors,
                           l->isa->vector_registers), "choose a smaller tile");
        return NULL;
    }
    bool along = tail && plan->along;
    const char *comment = dg_lower_text(
        l, "tile of %u rows x %u %s, k %llu, about %llu cycles", rows, vectors,
        along ? "columns along k" : "vectors",
        (unsigned long long)plan->kc * l->body->group,
        (unsigned long long)dg_lower_cycles(l, (uint64_t)rows * vectors, l->area));
    struct dg_ir_node *node = dg_ir_node(l->arena, DG_IR_TILE, comment);
    if (node == NULL) {
        dg_lower_no_memory(l);
        return NULL;
    }
    struct tile t = {
        .l = l, .out = &node->u.tile, .shape = { rows, vectors }, .tail = tail,
        .part = tail ? plan->tail_part : 0, .next = l->isa->vector_registers,
        .along = along, .a_step = along ? (int64_t)l->body->lanes * l->body->a_bytes : l->a_step,
        .odd = along ? dg_lower_odd_along(l) : l->odd,
    };
    node->u.tile.virtuals = l->isa->vector_registers;
    return fill(&t) ? node : NULL;
}
