/* SPDX-License-Identifier: Apache-2.0
 *
 * How often each operand comes from beyond a cache: what is read again sooner than the cache is
 * refilled stays. Reuse distances use the smallest sizes of a box and counts the fewest blocks,
 * so the corner bounds every plan of the box from below. */
#include "emit/plan/lattice.h"

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What rows x columns take of a cache when rows start `spread` apart in its sets; `each`: bytes of
 * a column. */
static uint64_t held(uint64_t rows, uint64_t columns, unsigned each, uint64_t spread)
{
    uint64_t bytes = dg_bytes_times(columns, each);
    return dg_bytes_times(rows, rows > 1 ? most(bytes, spread) : bytes);
}

/* Bytes that the loops of the corner walk, by level (spreads differ). */
struct sizes {
    uint64_t a_tile, a_block, a_k;                /* rows of a tile, of a block, all; kc steps */
    uint64_t a_all;
    uint64_t b_panel, b_block, b_n;               /* kc steps of a panel, of a block; all */
    uint64_t c_tile, c_strip, c_row, c_block, c_n;
};

static struct sizes sizes_of(const struct dg_corner *p, int level)
{
    const struct dg_space *s = p->s;
    const struct dg_problem *q = s->problem;
    uint64_t sa = s->spread_a[level], sb = s->spread_b[level], sc = s->spread_c[level];
    uint64_t lanes = s->c->body->lanes;
    uint64_t width = p->t->full_panels > 0 ? p->t->tile.vectors * lanes
                                           : dg_ceil_div(p->t->tail_columns, lanes) * lanes;
    uint64_t rows = p->t->tile.rows;
    uint64_t nc = least(p->panels * width, dg_ceil_div(q->n, lanes) * lanes);
    unsigned a = dg_body_a_step(s->c->body), b = s->c->body->b_bytes, c = s->c->body->c_bytes;
    return (struct sizes){
        .a_tile = held(rows, p->kc, a, sa), .a_block = held(p->mc, p->kc, a, sa),
        .a_k = held(q->m, p->kc, a, sa), .a_all = held(q->m, s->steps, a, sa),
        .b_panel = held(p->kc, width, b, sb), .b_block = held(p->kc, nc, b, sb),
        .b_n = held(s->steps, nc, b, sb),
        .c_tile = held(rows, width, c, sc), .c_strip = held(p->mc, width, c, sc),
        .c_row = held(rows, nc, c, sc), .c_block = held(p->mc, nc, c, sc),
        .c_n = held(q->m, nc, c, sc),
    };
}

static uint64_t three(uint64_t a, uint64_t b, uint64_t c)
{
    return dg_bytes_add(dg_bytes_add(a, b), c);
}

/* For each panel all tiles of the block's rows: A blocks are walked once a panel. */
static void panels_outer(struct dg_corner *p, const struct sizes *z, uint64_t cache, int level)
{
    p->again[level] = three(z->a_tile, z->b_panel, z->c_tile) > cache;
    bool b_stays = three(z->a_block, z->b_block, z->c_block) <= cache;
    p->b[level] = p->again[level] ? p->tiles : b_stays ? 1 : p->m_blocks;
    bool block_stays = three(z->a_block, z->b_panel, z->c_strip) <= cache;
    bool a_stays = three(z->a_all, z->b_n, z->c_n) <= cache;
    p->a[level] = !block_stays ? p->t->panels : a_stays ? 1 : p->n_blocks;
}

/* For each tile all panels of the block: B blocks are walked once a tile. */
static void tiles_outer(struct dg_corner *p, const struct sizes *z, uint64_t cache, int level)
{
    p->again[level] = three(z->a_tile, z->b_block, z->c_row) > cache;
    p->b[level] = p->again[level] ? p->tiles : 1;
    bool tile_stays = three(z->a_tile, z->b_panel, z->c_tile) <= cache;
    bool a_stays = three(z->a_all, z->b_n, z->c_n) <= cache;
    p->a[level] = !tile_stays ? p->t->panels : a_stays ? 1 : p->n_blocks;
}

static void visit_level(struct dg_corner *p, int level)
{
    uint64_t cache = p->s->c->capacity[level], all = level == 1 ? p->s->c->l2_all : cache;
    if (three(p->s->a_bytes, p->t->b_bytes, p->s->c_bytes) <= all)
        return;                                   /* all stays from call to call */
    struct sizes z = sizes_of(p, level);
    if (p->box->inner == DG_PANELS_OUTER)
        panels_outer(p, &z, cache, level);
    else
        tiles_outer(p, &z, cache, level);
    bool c_stays = three(z.a_k, z.b_block, z.c_n) <= cache;
    p->c[level] = c_stays ? 1 : p->k_blocks;
}

bool dg_corner_of(const struct dg_space *s, const struct dg_box *box, struct dg_corner *out)
{
    const struct dg_tile_space *t = box->t;
    const struct dg_problem *q = s->problem;
    const struct dg_range *k = &s->blocks_k.range[box->k], *m = &s->blocks_m.range[box->m];
    const struct dg_range *n = &t->blocks_n.range[box->n];
    if (t->second[box->m] == DG_NO_ROWS)
        return false;
    *out = (struct dg_corner){
        .s = s, .t = t, .box = box,
        .kc = s->blocks_k.size[k->low],
        .mc = s->blocks_m.size[m->low],
        .panels = t->blocks_n.size[n->low],
        .k_blocks = s->steps == 0 ? 1 : dg_ceil_div(s->steps, s->blocks_k.size[k->high]),
        .m_blocks = dg_ceil_div(q->m, s->blocks_m.size[m->high]),
        .n_blocks = dg_ceil_div(t->panels, t->blocks_n.size[n->high]),
        .tiles = dg_ceil_div(q->m, t->tile.rows),
    };
    if (m->low == m->high) {
        out->rows = &t->rows[m->low];
        out->tiles = out->rows->count[0] + out->rows->count[1];
    }
    for (int level = 0; level < DG_LEVELS; level++)
        if (s->c->capacity[level] > 0)
            visit_level(out, level);
    return true;
}
