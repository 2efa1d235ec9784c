/* SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include <math.h>

static uint64_t up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Tiles of a block: as few as can be, sizes as equal as can be. */
struct block { uint64_t count[2]; uint32_t size[2]; };

static struct block even(uint64_t rows, uint32_t most)
{
    uint64_t tiles = up(rows, most);
    struct block b = { { rows % tiles, tiles - rows % tiles },
                       { (uint32_t)(rows / tiles + 1), (uint32_t)(rows / tiles) } };
    if (b.count[0] == 0) {
        b.count[0] = b.count[1];
        b.size[0] = b.size[1];
        b.count[1] = 0;
        b.size[1] = 0;
    }
    return b;
}

/* The last block with the sizes of the others; a second size is free when they have but one. */
static bool rest(uint64_t rows, const struct block *full, struct block *out)
{
    uint64_t tiles = up(rows, full->size[0]);
    *out = (struct block){ { 0, 0 }, { full->size[0], full->size[1] } };
    if (full->count[1] > 0 || rows % full->size[0] == 0) {
        for (out->count[0] = 0; out->count[0] <= tiles; out->count[0]++) {
            out->count[1] = tiles - out->count[0];
            if (out->count[0] * out->size[0] + out->count[1] * out->size[1] == rows)
                return true;
        }
        return false;
    }
    for (out->count[0] = 0; out->count[0] < tiles; out->count[0]++)
        for (out->size[1] = 1; out->size[1] < out->size[0]; out->size[1]++) {
            out->count[1] = tiles - out->count[0];
            if (out->count[0] * out->size[0] + out->count[1] * out->size[1] == rows)
                return true;
        }
    return false;
}

struct rows { bool possible; uint32_t size[2]; uint64_t count[2]; };

static struct rows split(uint64_t m, uint64_t mc, uint32_t most)
{
    struct rows r = { 0 };
    struct block full = even(mc, most), last = full;
    uint64_t blocks = up(m, mc), left = m - (blocks - 1) * mc;
    if (full.size[0] != most)
        return r;
    if (left != mc && !rest(left, &full, &last))
        return r;
    r.possible = true;
    r.size[0] = full.size[0];
    r.size[1] = larger(full.size[1], last.count[1] > 0 ? last.size[1] : 0);
    for (int i = 0; i < 2; i++)
        r.count[i] = (blocks - 1) * full.count[i] + last.count[i];
    return r;
}

struct loops {
    uint64_t k_blocks, m_blocks, n_blocks, panels, tiles;
    uint64_t kc, mc, nc, width, rows;
};

static uint64_t room(const struct dg_space *s, uint64_t rows, uint64_t columns, uint64_t spread)
{
    uint64_t bytes = columns * s->c->body->c_bytes;
    return rows <= 1 ? rows * bytes : rows * larger(bytes, spread);
}

/* How often A, B and C come from beyond a cache. */
static void times(const struct dg_space *s, const struct choice *c, const struct loops *l,
                  int level, uint64_t b_bytes, uint64_t out[3], bool *again)
{
    const struct dg_problem *p = s->problem;
    uint64_t cache = s->c->capacity[level];
    uint64_t a = s->spread_a[level], b = s->spread_b[level], x = s->spread_c[level];
    out[0] = out[1] = out[2] = 0;
    *again = false;
    if (cache == 0 || s->a_bytes + b_bytes + s->c_bytes <= (level == 1 ? s->c->l2_all : cache))
        return;
    bool tile_fits = room(s, l->rows, l->kc, a) + room(s, l->kc, l->width, b) +
                         room(s, l->rows, l->width, x) <= cache;
    bool all_a_fits = room(s, p->m, p->k, a) + room(s, p->k, l->nc, b) +
                          room(s, p->m, l->nc, x) <= cache;
    uint64_t whole_a = all_a_fits ? 1 : l->n_blocks;
    if (c->tiles_outer) {
        *again = room(s, l->rows, l->kc, a) + room(s, l->kc, l->nc, b) +
                     room(s, l->rows, l->nc, x) > cache;
        out[1] = *again ? l->tiles : 1;
        out[0] = tile_fits ? whole_a : l->panels;
    } else {
        *again = !tile_fits;
        bool block_fits = room(s, l->mc, l->kc, a) + room(s, l->kc, l->width, b) +
                              room(s, l->mc, l->width, x) <= cache;
        bool both_fit = room(s, l->mc, l->kc, a) + room(s, l->kc, l->nc, b) +
                            room(s, l->mc, l->nc, x) <= cache;
        out[1] = *again ? l->tiles : both_fit ? 1 : l->m_blocks;
        out[0] = block_fits ? whole_a : l->panels;
    }
    bool c_fits = room(s, p->m, l->kc, a) + room(s, l->kc, l->nc, b) + room(s, p->m, l->nc, x) <=
                  cache;
    out[2] = c_fits ? 1 : l->k_blocks;
}

static uint32_t leaf_of(const struct dg_sizes *sizes, uint64_t size)
{
    for (uint32_t i = 0; i < sizes->range_count; i++)
        if (sizes->range[i].low == sizes->range[i].high &&
            sizes->size[sizes->range[i].low] == size)
            return i;
    return 0;
}

static dg_cost priced(uint64_t count, dg_price price)
{
    return (dg_cost)((count * (uint64_t)price + 1023) / 1024);
}

static dg_cost turns(const struct dg_space *s, const struct dg_tile_space *t,
                     const struct rows *r, uint32_t k, bool pass)
{
    dg_cost sum = 0;
    for (int i = 0; i < 2; i++) {
        if (r->count[i] == 0)
            continue;
        dg_cost one = 0;
        if (t->full != NULL)
            one += (dg_cost)t->full_panels * (pass ? t->full[r->size[i]].pass[k]
                       : t->full[r->size[i]].turn[k] + priced(s->problem->k,
                                                              t->full[r->size[i]].step));
        if (t->tail != NULL)
            one += pass ? t->tail[r->size[i]].pass[k]
                        : t->tail[r->size[i]].turn[k] + priced(s->problem->k,
                                                               t->tail[r->size[i]].step);
        sum += (dg_cost)r->count[i] * one;
    }
    return sum;
}

static dg_cost one_pass(const struct dg_space *s, const struct dg_tile_space *t,
                        const struct rows *r, uint32_t k)
{
    struct rows first = *r, second = *r;
    first.count[0] = 1;
    first.count[1] = 0;
    second.count[0] = 0;
    second.count[1] = 1;
    dg_cost a = r->count[0] > 0 ? turns(s, t, &first, k, true) : INT64_MAX;
    dg_cost b = r->count[1] > 0 ? turns(s, t, &second, k, true) : INT64_MAX;
    return a < b ? a : b;
}

static uint64_t operations(const struct dg_body *body, unsigned rows, unsigned vectors)
{
    bool folded = vectors == 1 && body->folded != NULL;
    return 4 * (rows * vectors + (folded ? 0 : rows) + vectors) + 2 * rows * vectors;
}

static uint64_t simple(const struct dg_body *body, const struct dg_tile_space *t,
                       const struct rows *r, const struct loops *l, bool prefetch,
                       struct verdict *out)
{
    uint64_t code = 0;
    for (int i = 0; i < 2; i++) {
        if (r->count[i] == 0)
            continue;
        out->bodies += (t->full != NULL) + (t->tail != NULL);
        code += t->full != NULL ? operations(body, r->size[i], t->tile.vectors) : 0;
        code += t->tail != NULL ? operations(body, r->size[i], t->tail_vectors) : 0;
    }
    double m = t->tile.rows, v = t->tile.vectors;
    out->loads = (uint32_t)ceil(8 * (1 / m + 1 / v) - 1e-9);
    out->reuse = (uint32_t)floor(65536 * m * v / (m + v) + 1e-9);
    out->vectors = t->tile.vectors;
    out->prefetch = prefetch;
    out->loops = (l->k_blocks > 1) + (l->m_blocks > 1) + (l->n_blocks > 1);
    return 8 * code;
}

static dg_cost at_least(dg_cost cost, const struct dg_space *s, uint64_t n[3][3],
                        uint64_t b_bytes)
{
    const struct dg_constants *c = s->c;
    uint64_t bytes[3];
    for (int i = 0; i < 3; i++)
        bytes[i] = n[i][0] * s->a_bytes + n[i][1] * b_bytes + 2 * n[i][2] * s->c_bytes;
    dg_cost floors[3] = {
        priced(bytes[0], c->byte[0]),
        c->capacity[2] > 0 ? priced(bytes[1], c->byte[1]) : 0,
        priced(bytes[c->capacity[2] > 0 ? 2 : 1], c->byte[2]),
    };
    for (int i = 0; i < 3; i++)
        cost = floors[i] > cost ? floors[i] : cost;
    dg_cost peak = priced(s->problem->m * s->problem->n * s->problem->k / c->body->lanes,
                          c->chain_rate);
    return cost > peak ? cost : peak;
}

struct verdict judge(const struct dg_space *s, const struct dg_tile_space *t,
                     const struct choice *c)
{
    const struct dg_problem *p = s->problem;
    const struct dg_constants *k = s->c;
    struct verdict out = { 0 };
    struct rows r = split(p->m, c->mc, c->rows);
    if (!r.possible)
        return out;
    uint64_t lanes = k->body->lanes;
    uint64_t width = (p->n < c->vectors * lanes ? up(p->n, lanes) : c->vectors) * lanes;
    uint64_t all_panels = up(p->n, c->vectors * lanes), columns = up(p->n, lanes) * lanes;
    struct loops l = {
        .k_blocks = up(p->k, c->kc), .m_blocks = up(p->m, c->mc),
        .n_blocks = up(all_panels, c->panels), .panels = all_panels,
        .tiles = r.count[0] + r.count[1], .kc = c->kc, .mc = c->mc, .width = width,
        .nc = c->panels * width < columns ? c->panels * width : columns,
        .rows = c->rows,
    };
    uint64_t b_bytes = p->k * 4 * (p->layout_b == DG_PACKED ? columns : p->n), n[3][3];
    if (t->along) {
        uint64_t tail = p->n % (c->vectors * lanes);
        if (l.k_blocks > 1 && c->kc % lanes != 0)
            return out;                           /* blocks are whole steps */
        b_bytes = 4 * (p->k * (p->n - tail) + up(p->k, lanes) * lanes * tail);
    }
    bool again[3];
    for (int i = 0; i < 3; i++)
        times(s, c, &l, i, b_bytes, n[i], &again[i]);
    uint32_t at = leaf_of(&s->blocks_k, c->kc);
    uint64_t b_lines = up(b_bytes, k->line), line_of_a = up(p->k * 4, k->line) * p->m;
    uint64_t line_of_c = up(p->n * 4, k->line) * p->m;
    dg_cost cost = turns(s, t, &r, at, false) + priced(1, k->call);
    if (n[0][1] > 0)
        cost += again[0] ? turns(s, t, &r, at, true)
                         : (dg_cost)n[0][1] * one_pass(s, t, &r, at);
    if (c->prefetch)
        cost += priced(l.m_blocks * b_lines, t->panel_touch[1]);
    if (!c->prefetch || again[1])
        cost += priced(n[1][1] * b_lines, t->panel_touch[0]);
    cost += priced(n[0][0] * line_of_a, t->rows_near) + priced(n[1][0] * line_of_a, t->rows_touch);
    uint64_t row_of_tile = p->m * (c->tiles_outer ? l.n_blocks : all_panels);
    if (t->store_touch < 0)
        cost -= priced(line_of_c, -t->store_touch);
    else if (c->tiles_outer || t->down_touch < 0)
        cost += priced(n[1][2] * line_of_c, t->store_touch);
    if (t->store_touch >= 0 && t->down_touch >= 0 && n[1][2] > 0)
        cost += p->beta != 0 ? priced(n[1][2] * row_of_tile, t->add_touch)
                             : priced(row_of_tile, t->down_touch) +
                               priced((n[1][2] - 1) * row_of_tile, t->add_touch);
    cost += priced((l.k_blocks - 1 + (uint64_t)p->beta) * p->m * up(p->n, lanes), s->load_price);
    uint64_t code = simple(k->body, t, &r, &l, c->prefetch, &out);
    if (code > k->code_capacity)
        cost += priced((code - k->code_capacity) * all_panels, k->byte[0]);
    out.possible = true;
    out.cost = at_least(cost, s, n, b_bytes);
    return out;
}
