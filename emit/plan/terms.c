/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan/lattice.h"

/* What one row tile costs over all panels, by its rows. */
static void by_rows(const struct dg_corner *p, bool pass, dg_cost out[DG_TILE_MOST])
{
    const struct dg_tile_space *t = p->t;
    for (unsigned r = 1; r <= t->tile.rows; r++) {
        out[r] = 0;
        if (t->full != NULL)
            out[r] = dg_cost_times(t->full_panels, pass ? t->full[r].pass[p->box->k]
                                                        : t->full[r].turn[p->box->k]);
        if (t->tail != NULL)
            out[r] = dg_cost_add(out[r], pass ? t->tail[r].pass[p->box->k]
                                              : t->tail[r].turn[p->box->k]);
    }
}

static dg_cost over_split(const struct dg_row_plan *rows, const dg_cost *cost)
{
    dg_cost sum = dg_cost_times(rows->count[0], cost[rows->size[0]]);
    if (rows->count[1] > 0)
        sum = dg_cost_add(sum, dg_cost_times(rows->count[1], cost[rows->size[1]]));
    return sum;
}

/* Over the row tiles of M; where the M block is open, the least of the splits in the box. */
static dg_cost over_tiles(const struct dg_corner *p, bool pass)
{
    dg_cost cost[DG_TILE_MOST], least = DG_COST_MOST;
    by_rows(p, pass, cost);
    if (p->rows != NULL)
        return over_split(p->rows, cost);
    const struct dg_range *m = &p->s->blocks_m.range[p->box->m];
    for (uint32_t i = m->low; i <= m->high; i++)
        if (p->t->rows[i].possible)
            least = dg_cost_min(least, over_split(&p->t->rows[i], cost));
    return least;
}

static dg_cost cost_of_body(const struct dg_corner *p)
{
    return p->t->body[p->box->m];
}

static dg_cost cost_of_turn(const struct dg_corner *p)
{
    return over_tiles(p, false);
}

/* One row tile of each panel meets it in L2, or every one does. Of the tile that meets it first
 * only the size is open: the one that hides most of its coming counts. */
static dg_cost cost_of_pass(const struct dg_corner *p)
{
    if (p->b[0] == 0)
        return 0;
    if (p->again[0])
        return over_tiles(p, true);
    dg_cost cost[DG_TILE_MOST], least = DG_COST_MOST;
    by_rows(p, true, cost);
    for (unsigned r = 1; r <= p->t->tile.rows; r++)
        if (p->rows == NULL || (p->rows->count[0] > 0 && p->rows->size[0] == r) ||
            (p->rows->count[1] > 0 && p->rows->size[1] == r))
            least = dg_cost_min(least, cost[r]);
    return dg_cost_times(p->b[0], least);
}

static uint64_t b_lines(const struct dg_corner *p)
{
    return dg_ceil_div(p->t->b_bytes, p->s->c->line);
}

/* A panel that is prefetched comes from beyond once a visit all the same, but hidden; one that
 * does not stay in L2 for its visit is not helped. */
static dg_cost cost_of_touch_b(const struct dg_corner *p)
{
    if (p->box->prefetch && !p->again[1])
        return 0;
    return dg_price_times(dg_bytes_times(p->b[1], b_lines(p)), p->t->panel_touch[0]);
}

static dg_cost cost_of_prefetch(const struct dg_corner *p)
{
    if (!p->box->prefetch)
        return 0;
    return dg_price_times(dg_bytes_times(p->m_blocks, b_lines(p)), p->t->panel_touch[1]);
}

static dg_cost cost_of_near_a(const struct dg_corner *p)
{
    return dg_price_times(dg_bytes_times(p->a[0], p->s->a_lines), p->t->rows_near);
}

static dg_cost cost_of_touch_a(const struct dg_corner *p)
{
    return dg_price_times(dg_bytes_times(p->a[1], p->s->a_lines), p->t->rows_touch);
}

/* The turns were measured with C in L2; where all stays in L1 its lines cost less. From beyond L2
 * they are fetched ahead where the next tile stands beside the one before. Where it stands below,
 * as at the end of a block of panels, each row of a tile waits, and longer where it is added to:
 * of the times that C comes by, the first one only stores, unless beta says otherwise. */
static dg_cost cost_of_touch_c(const struct dg_corner *p)
{
    const struct dg_tile_space *t = p->t;
    bool beside = p->box->inner == DG_TILES_OUTER;
    dg_cost along = dg_price_times(dg_bytes_times(p->c[1], p->s->c_lines), t->store_touch);
    if (t->store_touch < 0)
        return -dg_price_times(p->s->c_lines, -t->store_touch);
    if (t->down_touch < 0)
        return along;
    uint64_t rows = dg_bytes_times(p->s->problem->m, beside ? p->n_blocks : t->panels);
    uint64_t stores = p->c[1] > 0 && p->s->problem->beta == 0;
    dg_cost down = dg_price_times(dg_bytes_times(stores, rows), t->down_touch);
    down = dg_cost_add(down, dg_price_times(dg_bytes_times(p->c[1] - stores, rows), t->add_touch));
    return beside ? dg_cost_add(along, down) : down;
}

static dg_cost cost_of_reload(const struct dg_corner *p)
{
    uint64_t vectors = dg_bytes_times(p->s->problem->m,
                                      dg_ceil_div(p->s->problem->n, p->s->c->body->lanes));
    uint64_t times = p->k_blocks - 1 + (p->s->problem->beta != 0);
    return dg_price_times(dg_bytes_times(times, vectors), p->s->load_price);
}

static dg_cost cost_of_code(const struct dg_corner *p)
{
    uint64_t bytes = dg_code_bytes(dg_simplicity_of(p));
    uint64_t capacity = p->s->c->code_capacity;
    if (bytes <= capacity)
        return 0;
    return dg_price_times(dg_bytes_times(bytes - capacity, p->t->panels), p->s->c->byte[0]);
}

static dg_cost cost_of_call(const struct dg_corner *p)
{
    return dg_price_times(1, p->s->c->call);
}

uint64_t dg_traffic(const struct dg_corner *p, int level)
{
    uint64_t bytes = dg_bytes_times(p->a[level], p->s->a_bytes);
    bytes = dg_bytes_add(bytes, dg_bytes_times(p->b[level], p->t->b_bytes));
    return dg_bytes_add(bytes, dg_bytes_times(2 * p->c[level], p->s->c_bytes));
}

static dg_cost floor_of_peak(const struct dg_corner *p)
{
    return p->s->peak;
}

static dg_cost floor_of_l2(const struct dg_corner *p)
{
    return dg_price_times(dg_traffic(p, 0), p->s->c->byte[0]);
}

static dg_cost floor_of_l3(const struct dg_corner *p)
{
    return p->s->c->capacity[2] == 0 ? 0 : dg_price_times(dg_traffic(p, 1), p->s->c->byte[1]);
}

static dg_cost floor_of_dram(const struct dg_corner *p)
{
    return dg_price_times(dg_traffic(p, p->s->c->capacity[2] == 0 ? 1 : 2), p->s->c->byte[2]);
}

const struct dg_term dg_terms[] = {
#define TERM(id, title, variables, keys, function) { #id, title, variables, keys, function, false },
#define FLOOR(id, title, variables, keys, function) { #id, title, variables, keys, function, true },
#include "emit/plan/terms.def"
};
const size_t dg_term_count = sizeof dg_terms / sizeof *dg_terms;

dg_cost dg_ledger(const struct dg_corner *corner, dg_cost *values)
{
    dg_cost sum = 0, floor = 0;
    size_t highest = dg_term_count;
    for (size_t i = 0; i < dg_term_count; i++) {
        dg_cost cost = dg_terms[i].cost(corner);
        if (values != NULL)
            values[i] = dg_terms[i].is_floor ? 0 : cost;
        if (!dg_terms[i].is_floor)
            sum = dg_cost_add(sum, cost);
        else if (cost > floor) {
            floor = cost;
            highest = i;
        }
    }
    if (floor <= sum)
        return sum;
    if (values != NULL)
        values[highest] = floor - sum;
    return floor;
}
