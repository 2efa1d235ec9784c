/* SPDX-License-Identifier: Apache-2.0
 *
 * What lines cost that come from further away than the turns were measured with. */
#include "emit/plan/price.h"

/* Price of a new line from beyond L2, where `footprint` bytes are touched from call to call.
 * Without cells of its own kind the panel's stand in, without any nothing is hidden. */
static dg_price touch_price(const struct dg_constants *c, const struct dg_family_cells *family,
                            struct dg_tile tile, unsigned prefetch, uint64_t footprint)
{
    const struct dg_curve *curve = dg_curve_nearest(family, tile.vectors, tile.rows, prefetch,
                                                    true);
    if (curve == NULL && family != &c->panel)
        return touch_price(c, &c->panel, tile, prefetch, footprint);
    if (curve == NULL)
        return (dg_price)c->line * c->byte[footprint > c->capacity[2] ? 2 : 1];
    const struct dg_point *first = family->points + curve->first;
    uint64_t kib = footprint / 1024, l2 = c->l2_all / 1024;
    dg_price price = dg_curve_at(family, curve, kib, false, 0);
    if (kib < first->at && l2 < first->at)        /* nothing at L2's size, all at the first cell */
        price = kib <= l2 ? 0 : first->value / (dg_price)(first->at - l2) * (dg_price)(kib - l2);
    return price > 0 ? price : 0;
}

/* Price of a line that comes from no further than `level`: the cell of the largest region that it
 * holds; 0 without one. */
static dg_price near_price(const struct dg_constants *c, const struct dg_family_cells *family,
                           struct dg_tile tile, int level)
{
    const struct dg_curve *curve = dg_curve_nearest(family, tile.vectors, tile.rows, 0, true);
    dg_price price = 0;
    for (size_t i = 0; curve != NULL && i < curve->count; i++)
        if (family->points[curve->first + i].at * 1024 <= c->capacity[level])
            price = family->points[curve->first + i].value;
    return price;
}

void dg_touches_fill(const struct dg_space *s, struct dg_tile_space *t)
{
    const struct dg_constants *c = s->c;
    struct dg_tile width = { 0, t->tile.vectors }, none = { 0, 0 };
    uint64_t footprint = dg_bytes_add(dg_bytes_add(s->a_bytes, s->c_bytes), t->b_bytes);
    for (unsigned i = 0; i < 2; i++)
        t->panel_touch[i] = touch_price(c, &c->panel, width, i, footprint);
    t->rows_near = near_price(c, &c->rows, t->tile, 1);
    if (t->rows_near < 0)
        t->rows_near = 0;
    t->rows_touch = touch_price(c, &c->rows, t->tile, 0, footprint) - t->rows_near;
    if (t->rows_touch < 0)
        t->rows_touch = 0;
    t->store_touch = touch_price(c, &c->store, none, 0, footprint);
    t->down_touch = t->add_touch = -1;
    if (c->down.curve_count > 0 && c->add.curve_count > 0) {
        t->down_touch = touch_price(c, &c->down, none, 0, footprint);
        t->add_touch = touch_price(c, &c->add, none, 0, footprint);
    }
    if (footprint <= c->capacity[0])
        t->store_touch = dg_cost_min(near_price(c, &c->store, none, 0), 0);
}
