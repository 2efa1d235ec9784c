/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of plan.h around the tiles. */
#include "emit/lower/internal.h"

static struct dg_ir_node *loop(struct lower *l, struct dg_ir_count count, const char *what,
                               struct dg_ir_node *child)
{
    const char *text = count.usual == count.last || count.by == NULL
        ? dg_lower_text(l, "%s: %llu", what, (unsigned long long)count.usual)
        : dg_lower_text(l, "%s: %llu, in the last block %llu", what,
                        (unsigned long long)count.usual, (unsigned long long)count.last);
    struct dg_ir_node *node = dg_ir_node(l->arena, DG_IR_LOOP, text);
    if (node == NULL || text == NULL) {
        dg_lower_no_memory(l);
        return NULL;
    }
    node->u.loop.count = count;
    node->u.loop.child = child;
    return node;
}

static struct dg_ir_count simple(uint64_t count)
{
    return (struct dg_ir_count){ count, count, NULL };
}

/* Tiles of `size` rows in a block of rows split so. */
static uint64_t tiles_of(const struct dg_split *split, uint64_t size)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < 2; i++)
        if (split->size[i] == size)
            count += split->count[i];
    return count;
}

/* The distinct tile heights, largest first as in the splits. */
static unsigned sizes(const struct dg_plan *plan, uint32_t out[4])
{
    const struct dg_split *split[2] = { &plan->rows, &plan->rows_last };
    unsigned n = 0;
    for (unsigned s = 0; s < 2; s++)
        for (unsigned i = 0; i < 2; i++) {
            bool known = split[s]->count[i] == 0 || split[s]->size[i] == 0;
            for (unsigned j = 0; j < n; j++)
                known = known || out[j] == split[s]->size[i];
            if (!known)
                out[n++] = split[s]->size[i];
        }
    return n;
}

static struct dg_ir_node *rows_loop(struct lower *l, uint32_t rows, struct dg_ir_node *child)
{
    const struct dg_plan *plan = l->plan;
    struct dg_ir_count count = { tiles_of(&plan->rows, rows), tiles_of(&plan->rows_last, rows),
                                 l->m_loop };
    struct dg_ir_node *node = child == NULL ? NULL
        : loop(l, count, dg_lower_text(l, "tiles of %u rows", rows), child);
    if (node != NULL) {
        node->u.loop.step[STREAM_A] = rows * l->a_row;
        node->u.loop.step[STREAM_C] = rows * l->c_row;
    }
    return node;
}

static bool packed(const struct lower *l)
{
    return l->problem->layout_b == DG_PACKED;
}

/* Bytes of B from one panel to the next. */
static int64_t panel_step(const struct lower *l)
{
    return packed(l) ? l->panel_row * (int64_t)l->steps + l->head : l->panel_row;
}

static struct dg_ir_node *panels_loop(struct lower *l, struct dg_ir_node *child)
{
    const struct dg_plan *plan = l->plan;
    struct dg_ir_count count = { plan->panels, plan->panels_last, l->n_loop };
    struct dg_ir_node *node = child == NULL ? NULL : loop(l, count, "panels of B", child);
    if (node != NULL) {
        node->u.loop.step[STREAM_B] = panel_step(l);
        node->u.loop.step[STREAM_C] = l->panel_columns * l->body->c_bytes;
    }
    return node;
}

static struct dg_ir_node *tail_loop(struct lower *l, struct dg_ir_node *child)
{
    const char *what = dg_lower_text(l, "tail panel of %u columns", l->plan->tail_columns);
    return child == NULL || what == NULL ? NULL
         : loop(l, (struct dg_ir_count){ 0, 1, l->n_loop }, what, child);
}

static void join(struct dg_ir_node **list, struct dg_ir_node *node)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = node;
}

/* The prefetch pointer starts a panel's tiles at the next panel. */
static struct dg_ir_node *aim_ahead(struct lower *l)
{
    struct dg_ir_node *node = dg_ir_node(l->arena, DG_IR_STRAIGHT, NULL);
    struct dg_ir_block *block = node == NULL ? NULL : &node->u.straight;
    if (node == NULL ||
        !dg_ir_add(l->arena, block, dg_isa_op(l->isa, DG_SEM_COPY, "i64", 64, 0), 0,
                   dg_ir_scalar(l->ahead), dg_ir_scalar(l->function.stream[STREAM_B]),
                   dg_lower_none()) ||
        !dg_ir_add(l->arena, block, dg_isa_op(l->isa, DG_SEM_ADD_IMM, "i64", 64, 0), 0,
                   dg_ir_scalar(l->ahead), dg_ir_immediate(l->ahead_distance), dg_lower_none())) {
        dg_lower_no_memory(l);
        return NULL;
    }
    return node;
}

static struct dg_ir_node *panels_outer(struct lower *l)
{
    uint32_t size[4];
    unsigned n = sizes(l->plan, size);
    struct dg_ir_node *list = NULL, *node;
    bool full = l->panels > 0;
    for (unsigned tail = 0; tail < 2; tail++) {
        struct dg_ir_node *tiles = NULL;
        if (tail == 0 ? !full : l->plan->tail_columns == 0)
            continue;
        if (tail == 0 && l->ahead_bytes > 0 && (tiles = aim_ahead(l)) == NULL)
            return NULL;
        for (unsigned i = 0; i < n; i++) {
            if ((node = rows_loop(l, size[i], dg_lower_tile(l, size[i], tail != 0))) == NULL)
                return NULL;
            join(&tiles, node);
        }
        if ((node = tail != 0 ? tail_loop(l, tiles) : panels_loop(l, tiles)) == NULL)
            return NULL;
        join(&list, node);
    }
    return list;
}

static struct dg_ir_node *tiles_outer(struct lower *l)
{
    uint32_t size[4];
    unsigned n = sizes(l->plan, size);
    struct dg_ir_node *list = NULL, *node;
    for (unsigned i = 0; i < n; i++) {
        struct dg_ir_node *panels = NULL;
        if (l->panels > 0) {
            if ((node = panels_loop(l, dg_lower_tile(l, size[i], false))) == NULL)
                return NULL;
            join(&panels, node);
        }
        if (l->plan->tail_columns != 0) {
            if ((node = tail_loop(l, dg_lower_tile(l, size[i], true))) == NULL)
                return NULL;
            join(&panels, node);
        }
        if ((node = rows_loop(l, size[i], panels)) == NULL)
            return NULL;
        join(&list, node);
    }
    return list;
}

/* Stamps at the innermost loops whose pass is predicted to last at least 10 thousand cycles: long
 * enough for the clock, short enough to tell an interrupted pass from the others. */
enum { STAMP_CYCLES = 10000 };

static void stamp_list(struct dg_ir_node *list, uint64_t cycles)
{
    for (struct dg_ir_node *node = list; node != NULL; node = node->next) {
        if (node->kind != DG_IR_LOOP)
            continue;
        const struct dg_ir_count *count = &node->u.loop.count;
        uint64_t passes = count->usual > count->last ? count->usual : count->last;
        uint64_t pass = cycles / (passes == 0 ? 1 : passes);
        if (pass < STAMP_CYCLES)
            continue;
        bool inner = false;
        for (struct dg_ir_node *n = node->u.loop.child; n != NULL; n = n->next)
            if (n->kind == DG_IR_LOOP) {
                uint64_t more = n->u.loop.count.usual > n->u.loop.count.last
                              ? n->u.loop.count.usual : n->u.loop.count.last;
                inner = inner || pass / (more == 0 ? 1 : more) >= STAMP_CYCLES;
            }
        node->u.loop.stamp = !inner;
        if (inner)
            stamp_list(node->u.loop.child, pass);
    }
}

static bool make_blocks(struct lower *l)
{
    const struct dg_plan *plan = l->plan;
    l->n_loop = loop(l, simple(plan->n_blocks),
                     dg_lower_text(l, "blocks of %llu columns", (unsigned long long)plan->nc),
                     NULL);
    l->k_loop = loop(l, simple(plan->k_blocks),
                     dg_lower_text(l, "blocks of %llu k",
                                   (unsigned long long)plan->kc * l->body->group), NULL);
    l->m_loop = loop(l, simple(plan->m_blocks),
                     dg_lower_text(l, "blocks of %llu rows", (unsigned long long)plan->mc), NULL);
    if (l->n_loop == NULL || l->k_loop == NULL || l->m_loop == NULL)
        return false;
    struct dg_ir_loop *n = &l->n_loop->u.loop, *k = &l->k_loop->u.loop, *m = &l->m_loop->u.loop;
    n->step[STREAM_B] = (int64_t)plan->panels * panel_step(l);
    n->step[STREAM_C] = (int64_t)plan->nc * l->body->c_bytes;
    k->step[STREAM_A] = (int64_t)plan->kc * l->a_step;
    k->step[STREAM_B] = (int64_t)plan->kc * dg_lower_b_row(l, false);
    if (packed(l) && plan->tail_columns != 0)
        k->step[STREAM_TAIL] = (int64_t)(plan->along ? plan->kc / l->body->lanes : plan->kc) *
                               l->tail_row;
    m->step[STREAM_A] = (int64_t)plan->mc * l->a_row;
    m->step[STREAM_C] = (int64_t)plan->mc * l->c_row;
    return true;
}

bool dg_lower_nest(struct lower *l)
{
    const struct dg_plan *plan = l->plan;
    if (l->problem->k == 0 && l->problem->beta != 0)
        return true;                       /* C stays as it is */
    if (!make_blocks(l))
        return false;
    struct dg_ir_node *inner = plan->inner == DG_PANELS_OUTER ? panels_outer(l) : tiles_outer(l);
    if (inner == NULL)
        return false;
    l->m_loop->u.loop.child = inner;
    l->k_loop->u.loop.child = l->m_loop;
    l->n_loop->u.loop.child = l->k_loop;
    l->function.nest = l->n_loop;
    stamp_list(l->n_loop, plan->cycles > 0 ? (uint64_t)plan->cycles / DG_COST_ONE : 0);
    return true;
}
