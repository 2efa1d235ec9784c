/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables behind the lattice: tiles that fit the registers and the cache sets, and how rows of M
 * fall into tiles at every block size of M. */
#include "emit/plan/price.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Columns of one width by rows, shared by the tiles that have it. */
static const struct dg_column *columns_of(struct dg_space *s, struct dg_column **by_width,
                                          unsigned vectors, unsigned rows)
{
    if (by_width[vectors] == NULL)
        by_width[vectors] = dg_alloc_array(s->arena, DG_TILE_MOST, sizeof **by_width);
    if (by_width[vectors] == NULL)
        return NULL;
    for (unsigned r = 1; r <= rows; r++)
        if (by_width[vectors][r].turn == NULL &&
            !dg_column_fill(s, (struct dg_tile){ r, vectors }, &by_width[vectors][r]))
            return NULL;
    return by_width[vectors];
}

/* How the rows of M fall into tiles, by M block; shared by the tiles of as many rows. */
struct row_table { const struct dg_row_plan *plans; const unsigned char *second; };

static bool rows_of(struct dg_space *s, uint32_t rows, struct row_table *out)
{
    struct dg_row_plan *plans = dg_alloc_array(s->arena, s->blocks_m.count, sizeof *plans);
    unsigned char *second = dg_alloc_array(s->arena, s->blocks_m.range_count, 1);
    if (plans == NULL || second == NULL)
        return false;
    for (uint32_t i = s->blocks_m.range_count; i-- > 0;) {
        const struct dg_range *range = &s->blocks_m.range[i];
        if (range->low != range->high) {
            second[i] = (unsigned char)least(second[range->left], second[range->right]);
            continue;
        }
        struct dg_row_plan *plan = &plans[range->low];
        *plan = dg_rows_split(s->problem->m, s->blocks_m.size[range->low], rows);
        second[i] = !plan->possible ? DG_NO_ROWS : plan->count[1] > 0 ? (unsigned char)plan->size[1]
                                                                      : 0;
    }
    *out = (struct row_table){ plans, second };
    return true;
}

/* Most rows of a tile that start in one L1 set. */
static uint64_t rows_in_set(const struct dg_problem *p, const struct dg_constants *c, uint64_t rows)
{
    uint64_t apart = p->lda * c->body->a_bytes, most = 0;
    for (uint64_t i = 0; i < rows && c->set_stride[0] > 0; i++) {
        uint64_t together = 0;
        for (uint64_t j = 0; j < rows; j++)
            together += i * apart % c->set_stride[0] / c->line ==
                        j * apart % c->set_stride[0] / c->line;
        most = together > most ? together : most;
    }
    return most;
}

bool dg_tile_fits(const struct dg_problem *problem, const struct dg_constants *c,
                  struct dg_tile tile)
{
    if (dg_body_registers(c->body, tile) > c->registers || tile.rows >= DG_TILE_MOST ||
        tile.vectors >= DG_TILE_MOST)
        return false;
    uint64_t together = rows_in_set(problem, c, tile.rows);
    return together <= 1 || together + 1 < c->ways;
}

static dg_cost body_of(const struct dg_space *s, const struct dg_row_plan *rows,
                       const struct dg_column *columns)
{
    dg_cost sum = 0;
    for (int i = 0; i < 2; i++)
        if (rows->count[i] > 0)
            sum = dg_cost_add(sum, dg_cost_times(rows->count[i],
                                                 dg_price_times(s->steps,
                                                                columns[rows->size[i]].step)));
    return sum;
}

/* The steps of all tiles, by range of M blocks. */
static bool fill_body(const struct dg_space *s, struct dg_tile_space *t)
{
    dg_cost *body = dg_alloc_array(s->arena, s->blocks_m.range_count, sizeof *body);
    if (body == NULL)
        return false;
    for (uint32_t i = 0; i < s->blocks_m.range_count; i++) {
        const struct dg_row_plan *rows = &t->rows[s->blocks_m.range[i].low];
        body[i] = DG_COST_MOST;
        if (!rows->possible)
            continue;
        body[i] = 0;
        if (t->full != NULL)
            body[i] = dg_cost_times(t->full_panels, body_of(s, rows, t->full));
        if (t->tail != NULL)
            body[i] = dg_cost_add(body[i], body_of(s, rows, t->tail));
    }
    dg_spread_least(&s->blocks_m, body);
    t->body = body;
    return true;
}

/* The tail's columns by rows, along K. */
static const struct dg_column *along_of(struct dg_space *s, unsigned columns, unsigned rows)
{
    struct dg_column *by_rows = dg_alloc_array(s->arena, rows + 1, sizeof *by_rows);
    for (unsigned r = 1; by_rows != NULL && r <= rows; r++)
        if (!dg_along_fill(s, (struct dg_along){ r, columns }, &by_rows[r]))
            return NULL;
    return by_rows;
}

/* Whether the tail of a tile may go along K: packed for it, in the registers there are. */
static bool along_fits(const struct dg_space *s, struct dg_tile tile)
{
    const struct dg_body *body = s->c->body;
    unsigned columns = (unsigned)(s->problem->n % (tile.vectors * (uint64_t)body->lanes));
    return s->c->along && s->problem->layout_b == DG_PACKED && s->steps > 0 &&
           columns > 0 && columns < body->lanes &&
           dg_body_along_registers((struct dg_along){ tile.rows, columns }) <= s->c->registers;
}

static bool add_tile(struct dg_space *s, struct dg_column **by_width, struct dg_tile tile,
                     const struct row_table *rows, bool along, const struct dg_fixed *fixed)
{
    const struct dg_problem *p = s->problem;
    unsigned lanes = s->c->body->lanes;
    uint64_t width = (uint64_t)tile.vectors * lanes;
    struct dg_tile_space *t = &s->tiles[s->tile_count++];
    *t = (struct dg_tile_space){
        .tile = tile, .rows = rows->plans, .second = rows->second, .along = along,
        .full_panels = p->n / width, .tail_columns = (unsigned)(p->n % width),
    };
    t->tail_vectors = along ? t->tail_columns : (unsigned)dg_ceil_div(t->tail_columns, lanes);
    t->panels = t->full_panels + (t->tail_columns > 0);
    uint64_t tail = t->tail_vectors * (uint64_t)lanes;
    uint64_t columns = p->layout_b == DG_PACKED ? t->full_panels * width + (along ? 0 : tail)
                                                : p->n;
    uint64_t lanes_of_b = dg_bytes_times(s->steps, columns);
    if (along)
        lanes_of_b = dg_bytes_add(lanes_of_b, dg_bytes_times(dg_ceil_div(s->steps, lanes), tail));
    t->b_bytes = dg_bytes_times(lanes_of_b, s->c->body->b_bytes);
    dg_touches_fill(s, t);
    if (t->full_panels > 0) {
        t->full = columns_of(s, by_width, tile.vectors, tile.rows);
        if (t->full == NULL)
            return false;
    }
    if (t->tail_vectors > 0) {
        t->tail = along ? along_of(s, t->tail_columns, tile.rows)
                        : columns_of(s, by_width, t->tail_vectors, tile.rows);
        if (t->tail == NULL)
            return false;
    }
    return fill_body(s, t) && (fixed != NULL
                                   ? dg_sizes_one(s->arena, fixed->panels, &t->blocks_n)
                                   : dg_sizes_make(s->arena, t->panels, &t->blocks_n));
}

/* Rows and vectors asked for, 0 for any. */
static struct dg_tile wanted(const struct dg_space *s, const struct dg_fixed *fixed)
{
    const struct dg_problem *p = s->problem;
    return fixed != NULL ? fixed->tile
                         : (struct dg_tile){ p->tile_m, p->tile_n / s->c->body->lanes };
}

static bool add_tiles(struct dg_space *s, const struct dg_fixed *fixed, struct dg_error *e)
{
    const struct dg_problem *p = s->problem;
    unsigned rows_most = (unsigned)least(p->m, DG_TILE_MOST - 1);
    unsigned vectors_most = (unsigned)least(dg_ceil_div(p->n, s->c->body->lanes),
                                            DG_TILE_MOST - 1);
    struct dg_tile want = wanted(s, fixed);
    struct dg_column *by_width[DG_TILE_MOST] = { NULL };
    for (unsigned r = 1; r <= rows_most; r++) {
        struct row_table rows = { NULL, NULL };
        if ((want.rows != 0 && r != want.rows) ||
            !dg_tile_fits(p, s->c, (struct dg_tile){ r, 1 }))
            continue;
        for (unsigned v = 1; v <= vectors_most && s->tile_count < DG_TILES_MOST; v++) {
            struct dg_tile tile = { r, v };
            if ((want.vectors != 0 && v != want.vectors) ||
                dg_body_registers(s->c->body, tile) > s->c->registers)
                continue;
            if ((rows.plans == NULL && !rows_of(s, r, &rows)) ||
                !add_tile(s, by_width, tile, &rows, false, fixed))
                return dg_fail_memory(e, "plan");
            if (fixed == NULL && s->tile_count < DG_TILES_MOST && along_fits(s, tile) &&
                !add_tile(s, by_width, tile, &rows, true, fixed))
                return dg_fail_memory(e, "plan");
        }
    }
    return true;
}

static bool no_tile(const struct dg_space *s, struct dg_error *e)
{
    const struct dg_problem *p = s->problem;
    struct dg_tile tile = { p->tile_m > 0 ? p->tile_m : 1,
                            p->tile_n > 0 ? p->tile_n / s->c->body->lanes : 1 };
    char value[128], rule[256];
    dg_format(value, sizeof value, "%u rows of %u vectors need %u registers, %llu rows in one set",
              tile.rows, tile.vectors, dg_body_registers(s->c->body, tile),
              (unsigned long long)rows_in_set(p, s->c, least(tile.rows, DG_TILE_MOST)));
    dg_format(rule, sizeof rule, "no tile fits %u vector registers and %llu ways of L1",
              s->c->registers, (unsigned long long)s->c->ways);
    if (p->tile_m == 0 && p->tile_n == 0)
        return dg_fail(e, DG_EXIT_INPUT, "/vector_registers", rule, value,
                       "correct vector_registers in the profile");
    return dg_fail(e, DG_EXIT_INPUT, p->tile_m > 0 ? "codegen.tile_m" : "codegen.tile_n", rule,
                   value, "choose a smaller tile_m or tile_n, leave them out, or pad lda by one "
                   "cache line");
}

static void operands(struct dg_space *s)
{
    const struct dg_problem *p = s->problem;
    const struct dg_constants *c = s->c;
    unsigned a = c->body->a_bytes, b = c->body->b_bytes / c->body->group, out = c->body->c_bytes;
    s->a_bytes = dg_bytes_times(dg_bytes_times(p->m, p->k), a);
    s->c_bytes = dg_bytes_times(dg_bytes_times(p->m, p->n), out);
    s->a_lines = dg_bytes_times(p->m, dg_ceil_div(p->k * a, c->line));
    s->c_lines = dg_bytes_times(p->m, dg_ceil_div(p->n * out, c->line));
    for (int level = 0; level < DG_LEVELS; level++) {
        uint64_t stride = c->set_stride[level];
        if (stride == 0)
            continue;
        s->spread_a[level] = gcd(p->lda * a, stride);
        s->spread_c[level] = gcd(p->ldc * out, stride);
        s->spread_b[level] = p->layout_b == DG_PACKED ? 0 : gcd(p->ldb * b, stride);
    }
}

static dg_cost peak_of(const struct dg_problem *problem, const struct dg_constants *c,
                       uint64_t steps)
{
    /* no 128-bit division: it would need a library */
    dg_u128 elements = (dg_u128)problem->m * problem->n * steps;
    if (elements > UINT64_MAX)
        return DG_COST_MOST;
    return dg_price_times((uint64_t)elements / c->body->lanes, c->chain_rate);
}

static bool lists(struct dg_space *s, const struct dg_fixed *fixed)
{
    if (fixed != NULL)
        return dg_sizes_one(s->arena, fixed->kc, &s->blocks_k) &&
               dg_sizes_one(s->arena, fixed->mc, &s->blocks_m);
    /* sums that went to a narrower C and came back would be rounded once a block */
    bool whole = dg_dtypes[s->c->body->dtype].c_bytes < s->c->body->sum_bytes;
    return (whole ? dg_sizes_one(s->arena, s->steps, &s->blocks_k)
                  : dg_sizes_make(s->arena, s->steps, &s->blocks_k)) &&
           dg_sizes_make(s->arena, s->problem->m, &s->blocks_m);
}

bool dg_space_make(const struct dg_problem *problem, const struct dg_constants *c,
                   const struct dg_fixed *fixed, struct dg_arena *arena, struct dg_space *out,
                   struct dg_error *e)
{
    *out = (struct dg_space){ .problem = problem, .c = c, .arena = arena,
                              .steps = dg_body_steps(c->body, problem->k) };
    operands(out);
    out->peak = peak_of(problem, c, out->steps);
    out->load_price = dg_dearest(c, DG_PART_LOAD);
    out->can_prefetch = dg_curve_nearest(&c->panel, 1, 0, 1, true) != NULL;
    out->tiles = dg_alloc_array(arena, fixed != NULL ? 1 : DG_TILES_MOST, sizeof *out->tiles);
    if (out->tiles == NULL || !lists(out, fixed))
        return dg_fail_memory(e, "plan");
    if (!add_tiles(out, fixed, e))
        return false;
    return out->tile_count > 0 || no_tile(out, e);
}
