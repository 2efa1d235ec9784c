/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan/lattice.h"

/* rows * cost / by, rounded down. */
static dg_cost share(uint64_t rows, dg_cost cost, unsigned by)
{
    dg_u128 all = (dg_u128)rows * (uint64_t)(cost < 0 ? -cost : cost);
    all = cost < 0 ? (all + by - 1) / by : all / by;
    dg_cost most = all > (dg_u128)DG_COST_MOST ? DG_COST_MOST : (dg_cost)all;
    return cost < 0 ? -most : most;
}

/* Sum over the row tiles of M of a cost by rows; where the M block is open, the least that any
 * split of M rows into tiles of up to the tile's rows can have. */
static dg_cost over_rows(const struct dg_corner *p,
                         dg_cost (*of)(const struct dg_corner *, const struct dg_column *),
                         const struct dg_column *columns)
{
    if (p->rows != NULL) {
        dg_cost sum = dg_cost_times(p->rows->count[0], of(p, &columns[p->rows->size[0]]));
        if (p->rows->count[1] > 0)
            sum = dg_cost_add(
                sum, dg_cost_times(p->rows->count[1], of(p, &columns[p->rows->size[1]])));
        return sum;
    }
    dg_cost least = DG_COST_MOST;
    for (unsigned r = 1; r <= p->t->tile.rows; r++) {
        dg_cost cost = of(p, &columns[r]);
        least = dg_cost_min(least, share(p->s->problem->m, cost, r));
    }
    return least;
}

/* Over the tiles of all panels. */
static dg_cost over_tiles(const struct dg_corner *p,
                          dg_cost (*of)(const struct dg_corner *, const struct dg_column *))
{
    dg_cost sum = 0;
    if (p->t->full != NULL)
        sum = dg_cost_times(p->t->full_panels, over_rows(p, of, p->t->full));
    if (p->t->tail != NULL)
        sum = dg_cost_add(sum, over_rows(p, of, p->t->tail));
    return sum;
}

static dg_cost least_of(const dg_cost *by_block, const uint32_t range[2])
{
    dg_cost least = by_block[range[0]];
    for (uint32_t i = range[0] + 1; i <= range[1]; i++)
        if (by_block[i] < least)
            least = by_block[i];
    return least;
}

static dg_cost body_of(const struct dg_corner *p, const struct dg_column *column)
{
    return dg_price_times(p->s->problem->k, column->step);
}

static dg_cost turn_of(const struct dg_corner *p, const struct dg_column *column)
{
    return least_of(column->turn, p->box->k);
}

static dg_cost pass_of(const struct dg_corner *p, const struct dg_column *column)
{
    return least_of(column->pass, p->box->k);
}

static dg_cost cost_of_body(const struct dg_corner *p)
{
    return over_tiles(p, body_of);
}

static dg_cost cost_of_turn(const struct dg_corner *p)
{
    return over_tiles(p, turn_of);
}

/* Of the tile that meets a panel first: the one that hides most of its coming. */
static dg_cost first_pass(const struct dg_corner *p, const struct dg_column *columns)
{
    dg_cost least = DG_COST_MOST;
    if (p->rows != NULL) {
        for (int i = 0; i < 2; i++)
            if (p->rows->count[i] > 0)
                least = dg_cost_min(least, pass_of(p, &columns[p->rows->size[i]]));
        return least;
    }
    for (unsigned r = 1; r <= p->t->tile.rows; r++)
        least = dg_cost_min(least, pass_of(p, &columns[r]));
    return least;
}

static dg_cost cost_of_pass(const struct dg_corner *p)
{
    dg_cost sum = 0;
    if (p->b[0] == 0)
        return 0;
    if (p->again[0] && p->rows != NULL)
        return over_tiles(p, pass_of);
    if (p->t->full != NULL)
        sum = dg_cost_times(p->t->full_panels, first_pass(p, p->t->full));
    if (p->t->tail != NULL)
        sum = dg_cost_add(sum, first_pass(p, p->t->tail));
    return dg_cost_times(p->b[0], sum);
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

static dg_cost cost_of_touch_a(const struct dg_corner *p)
{
    return dg_price_times(dg_bytes_times(p->a[1], p->s->a_lines), p->t->rows_touch);
}

static dg_cost cost_of_touch_c(const struct dg_corner *p)
{
    return dg_price_times(dg_bytes_times(p->c[1], p->s->c_lines), p->s->store_touch);
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
