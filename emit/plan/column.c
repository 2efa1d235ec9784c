/* SPDX-License-Identifier: Apache-2.0
 *
 * What all turns of a tile cost over K, with B in L1 and with B from L2. */
#include "emit/plan/price.h"

dg_price dg_dearest(const struct dg_constants *c, enum dg_part_op part)
{
    dg_price price = 0;
    for (size_t i = 0; i < c->resource_count; i++)
        if (c->resource[i].price[part] > price)
            price = c->resource[i].price[part];
    return price;
}

void dg_spread_least(const struct dg_sizes *sizes, dg_cost *by_range)
{
    for (uint32_t i = sizes->range_count; i-- > 0;) {
        const struct dg_range *range = &sizes->range[i];
        if (range->low != range->high)
            by_range[i] = dg_cost_min(by_range[range->left], by_range[range->right]);
    }
}

static dg_cost cost_of(dg_price price)
{
    dg_price up = price >= 0 ? price + 1023 : price;
    return up / 1024;
}

static dg_price steps_of(uint64_t steps, dg_price step)
{
    dg_u128 product = (dg_u128)steps * (uint64_t)step;
    return product > 1000000000000000000 ? 1000000000000000000 : (dg_price)product;
}

/* What is the same for a tile's turn at any number of steps. */
struct turn {
    const struct dg_curve *curve;                 /* its cells, the nearest ones, or NULL */
    dg_price step, near_step;                     /* of the tile, of the curve's tile */
    dg_price drain;                               /* without cells: after the last step */
    dg_price least;                               /* a step at the best rate of the multiply */
};

static struct turn turn_of(const struct dg_constants *c, struct dg_tile tile)
{
    const char *binding;
    dg_price accumulators = (dg_price)tile.rows * tile.vectors;
    struct turn turn = {
        .curve = dg_curve_nearest(&c->turn, tile.vectors, tile.rows, 0, false),
        .step = dg_step_price(c, tile, &binding),
        .drain = c->latency + accumulators * dg_dearest(c, DG_PART_STORE),
        .least = accumulators * c->chain_rate,
    };
    if (turn.curve != NULL)
        turn.near_step = dg_step_price(
            c, (struct dg_tile){ turn.curve->rows, turn.curve->vectors }, &binding);
    return turn;
}

/* Cycles a step over the longer half of a curve; 0 where it has one point. */
static dg_price measured_step(const struct dg_constants *c, const struct dg_curve *curve)
{
    const struct dg_point *p = c->turn.points + curve->first;
    size_t last = curve->count - 1, from = last > 0 ? last - 1 : 0;
    while (from > 0 && p[from].at * 4 > p[last].at)
        from--;
    return from == last ? 0 : (p[last].value - p[from].value) / (dg_price)(p[last].at - p[from].at);
}

bool dg_reorders(const struct dg_constants *c)
{
    for (size_t i = 0; i < c->turn.curve_count; i++) {
        const struct dg_curve *curve = &c->turn.curves[i];
        const char *binding;
        struct dg_tile tile = { curve->rows, curve->vectors };
        dg_price step = measured_step(c, curve), least = dg_step_price(c, tile, &binding);
        if (step > 0 && step <= least + least / 20)
            return true;
    }
    return false;
}

/* One turn with its stream in L1, all in. A tile without its own cells has the excess of the
 * nearest; without any cells the accumulators drain and are stored one after another. */
static dg_price turn_price(const struct dg_constants *c, const struct turn *turn, uint64_t steps)
{
    dg_price whole = steps_of(steps, turn->step) + turn->drain;
    if (turn->curve != NULL)
        whole = steps_of(steps, turn->step) - steps_of(steps, turn->near_step) +
                dg_curve_at(&c->turn, turn->curve, steps, true, turn->near_step);
    dg_price least = steps_of(steps, turn->least);    /* noise of cells cannot beat it */
    return whole > least ? whole : least;
}

/* What a turn costs more with B from L2. */
struct pass {
    const struct dg_curve *curve;                 /* NULL: by the bandwidth of L2 */
    struct turn turn;                             /* of the curve's tile, or of the tile */
    dg_price stream;                              /* bytes of a step at that bandwidth */
    unsigned vectors, of;                         /* a curve of other width is scaled by these */
    dg_price step;                                /* of the curve's tile */
};

static struct pass pass_of(const struct dg_constants *c, struct dg_tile tile)
{
    struct pass pass = {
        .curve = dg_curve_nearest(&c->pass, tile.vectors, tile.rows, 0, true),
        .stream = (dg_price)(tile.vectors * (c->body->isa->vector_bits / 8)) * c->byte[0],
    };
    if (pass.curve == NULL) {
        pass.turn = turn_of(c, tile);
        return pass;
    }
    struct dg_tile near = { pass.curve->rows, pass.curve->vectors };
    const char *binding;
    pass.step = dg_step_price(c, near, &binding);
    pass.vectors = tile.vectors;
    pass.of = near.vectors;
    pass.turn = turn_of(c, pass.of == pass.vectors ? near : tile);
    return pass;
}

/* Cells of the same width say what the stream adds to their own turn. Those of another width say
 * how fast the stream comes, and the tile's own turn hides that. */
static dg_price pass_price(const struct dg_constants *c, const struct pass *pass, uint64_t steps)
{
    dg_price whole = steps_of(steps, pass->stream);
    if (pass->curve != NULL)
        whole = dg_curve_at(&c->pass, pass->curve, steps, true, pass->step);
    if (pass->of != pass->vectors)
        whole = whole / (dg_price)pass->of * (dg_price)pass->vectors;
    dg_price extra = whole - turn_price(c, &pass->turn, steps);
    return extra > 0 ? extra : 0;
}

bool dg_column_fill(const struct dg_space *s, struct dg_tile tile, struct dg_column *out)
{
    const struct dg_constants *c = s->c;
    const struct dg_sizes *blocks = &s->blocks_k;
    struct turn turn = turn_of(c, tile);
    struct pass pass = pass_of(c, tile);
    uint64_t k = s->steps;
    out->step = dg_step_price(c, tile, &out->binding);
    out->turn = dg_alloc_array(s->arena, blocks->range_count, sizeof *out->turn);
    out->pass = dg_alloc_array(s->arena, blocks->range_count, sizeof *out->pass);
    if (out->turn == NULL || out->pass == NULL)
        return false;
    for (uint32_t i = 0; i < blocks->range_count; i++) {
        if (blocks->range[i].low != blocks->range[i].high)
            continue;
        uint64_t size = blocks->size[blocks->range[i].low];
        uint64_t count = size > 0 ? dg_ceil_div(k, size) : 1, last = k - (count - 1) * size;
        dg_cost turns = dg_cost_times(count - 1, cost_of(turn_price(c, &turn, size)));
        turns = dg_cost_add(turns, cost_of(turn_price(c, &turn, last)));
        out->turn[i] = turns - dg_price_times(k, out->step);
        out->pass[i] = dg_cost_add(dg_cost_times(count - 1, cost_of(pass_price(c, &pass, size))),
                                   cost_of(pass_price(c, &pass, last)));
    }
    dg_spread_least(blocks, out->turn);
    dg_spread_least(blocks, out->pass);
    return true;
}

/* Adding up the lanes, and moving rows of a few columns to where stores take them from. */
static dg_price end_of(const struct dg_constants *c, struct dg_along tile)
{
    unsigned lanes = c->body->lanes;
    dg_price price = (dg_price)tile.rows * c->lanes_down;
    for (unsigned level = 1; level <= DG_FOLD_LEVELS && 1u << level <= lanes; level++)
        price += (dg_price)dg_along_folds(tile, lanes, level) * c->fold[level];
    return price;
}

/* One turn over `size` elements of K: what starts and ends a tile of as many rows and one vector,
 * its own steps, and of its own end what half of the next tile's steps do not hide, with which it
 * shares the adders but not the shuffles. */
static dg_price along_price(const struct dg_constants *c, struct dg_along tile,
                            const struct turn *like, dg_price step, uint64_t size)
{
    uint64_t count = dg_ceil_div(size, c->body->lanes);
    dg_price around = turn_price(c, like, count) - steps_of(count, like->step);
    dg_price steps = steps_of(count, step), end = end_of(c, tile) - steps / 2;
    return steps + (around > 0 ? around : 0) + (end > 0 ? end : 0);
}

bool dg_along_fill(const struct dg_space *s, struct dg_along tile, struct dg_column *out)
{
    const struct dg_constants *c = s->c;
    const struct dg_sizes *blocks = &s->blocks_k;
    struct turn like = turn_of(c, (struct dg_tile){ tile.rows, 1 });
    dg_price step = dg_along_step_price(c, tile, &out->binding);
    dg_price stream = (dg_price)(tile.columns * (c->body->isa->vector_bits / 8)) * c->byte[0];
    out->turn = dg_alloc_array(s->arena, blocks->range_count, sizeof *out->turn);
    out->pass = dg_alloc_array(s->arena, blocks->range_count, sizeof *out->pass);
    if (out->turn == NULL || out->pass == NULL)
        return false;
    for (uint32_t i = 0; i < blocks->range_count; i++) {
        if (blocks->range[i].low != blocks->range[i].high)
            continue;
        uint64_t size = blocks->size[blocks->range[i].low], k = s->steps;
        uint64_t count = size > 0 ? dg_ceil_div(k, size) : 1, last = k - (count - 1) * size;
        dg_price usual = along_price(c, tile, &like, step, size);
        dg_price rest = along_price(c, tile, &like, step, last);
        dg_cost all = dg_cost_add(dg_cost_times(count - 1, cost_of(usual)), cost_of(rest));
        dg_cost bytes = dg_price_times(dg_ceil_div(k, c->body->lanes), stream);
        bool whole = count == 1 || size % c->body->lanes == 0;
        out->turn[i] = whole ? all : DG_COST_MOST;
        out->pass[i] = bytes > all ? bytes - all : 0;
    }
    dg_spread_least(blocks, out->turn);
    dg_spread_least(blocks, out->pass);
    return true;
}
