/* SPDX-License-Identifier: Apache-2.0
 *
 * A tile that is asked for is taken exactly or refused: another one in its place would look like
 * the answer to a question that nobody asked. */
#include "emit/plan/lattice.h"

struct asked {
    const struct dg_problem *problem;
    const struct dg_constants *c;
    struct dg_sizes blocks;                       /* of M */
};

static bool fits(const struct asked *a, uint64_t rows, uint64_t vectors)
{
    return rows < DG_TILE_MOST && vectors < DG_TILE_MOST &&
           dg_tile_fits(a->problem, a->c, (struct dg_tile){ (unsigned)rows, (unsigned)vectors });
}

/* Blocks of the objective intensity are whole tiles; else some block must fall into such tiles. */
static bool rows_possible(const struct asked *a, uint32_t rows)
{
    const struct dg_problem *p = a->problem;
    if (rows > p->m || p->objective == DG_OBJECTIVE_INTENSITY)
        return rows <= p->m;
    for (uint32_t i = a->blocks.count; i-- > 0;)
        if (dg_rows_split(p->m, a->blocks.size[i], rows).possible)
            return true;
    return false;
}

static bool columns_possible(const struct asked *a, uint32_t columns)
{
    unsigned lanes = a->c->body->lanes;
    return columns % lanes == 0 && columns / lanes <= dg_ceil_div(a->problem->n, lanes);
}

static bool rows_offered(const struct asked *a, uint32_t rows)
{
    uint32_t columns = a->problem->tile_n, lanes = a->c->body->lanes;
    bool wide = columns > 0 && columns_possible(a, columns);
    return rows_possible(a, rows) && fits(a, rows, wide ? columns / lanes : 1);
}

static bool columns_offered(const struct asked *a, uint32_t columns)
{
    uint32_t rows = a->problem->tile_m, lanes = a->c->body->lanes;
    bool high = rows > 0 && rows_possible(a, rows);
    return columns_possible(a, columns) && fits(a, high ? rows : 1, columns / lanes);
}

static bool refuse(const struct asked *a, const char *key, const char *rule, uint32_t value,
                   bool (*offered)(const struct asked *, uint32_t), struct dg_error *e)
{
    char text[32], todo[128];
    uint32_t most = DG_TILE_MOST * a->c->body->lanes, below = 0, above = 0;
    for (uint32_t i = 1; i < most && above == 0; i++) {
        if (i != value && offered(a, i))
            *(i < value ? &below : &above) = i;
    }
    dg_format(text, sizeof text, "%u", value);
    if (below > 0 && above > 0)
        dg_format(todo, sizeof todo, "choose %u or %u, or leave it out", below, above);
    else if (below > 0 || above > 0)
        dg_format(todo, sizeof todo, "choose %u, or leave it out", below + above);
    else
        dg_format(todo, sizeof todo, "leave it out");
    return dg_fail(e, DG_EXIT_INPUT, key, rule, text, todo);
}

static bool check_rows(const struct asked *a, struct dg_error *e)
{
    const struct dg_problem *p = a->problem;
    char rule[192];
    if (p->tile_m == 0 || rows_possible(a, p->tile_m))
        return true;
    if (p->tile_m > p->m)
        dg_format(rule, sizeof rule, "must be at most %llu, the rows of the product",
                  (unsigned long long)p->m);
    else
        dg_format(rule, sizeof rule,
                  "must split the %llu rows, or a block of them, into tiles of %u and of %u rows",
                  (unsigned long long)p->m, p->tile_m, p->tile_m - 1);
    return refuse(a, "codegen.tile_m", rule, p->tile_m, rows_offered, e);
}

static bool check_columns(const struct asked *a, struct dg_error *e)
{
    const struct dg_problem *p = a->problem;
    unsigned lanes = a->c->body->lanes;
    char rule[192];
    if (columns_possible(a, p->tile_n))
        return true;
    if (p->tile_n % lanes != 0)
        dg_format(rule, sizeof rule, "must be a multiple of %u, the lanes of a vector of %s", lanes,
                  a->c->body->isa->name);
    else
        dg_format(rule, sizeof rule, "must be at most %llu, the columns of the product in whole "
                  "vectors", (unsigned long long)(dg_ceil_div(p->n, lanes) * lanes));
    return refuse(a, "codegen.tile_n", rule, p->tile_n, columns_offered, e);
}

bool dg_tile_asked(const struct dg_problem *problem, const struct dg_constants *c,
                   struct dg_arena *arena, struct dg_error *e)
{
    struct asked a = { problem, c, { 0 } };
    if (!dg_sizes_make(arena, problem->m, &a.blocks))
        return dg_fail_memory(e, "plan");
    return check_rows(&a, e) && check_columns(&a, e);
}
