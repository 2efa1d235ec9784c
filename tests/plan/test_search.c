/* SPDX-License-Identifier: Apache-2.0
 *
 * The search against every integer tuple inside the constraints, priced by a second writing of the
 * model; and its bounds against the boxes that they bound. */
#include <criterion/criterion.h>

#include "apart.h"
#include "setting.h"

enum { LATTICES = 120, TIE = 3 };

/* Blocks of equal size but the last: the smallest block with that many of them. */
static bool balanced(uint64_t extent, uint64_t size)
{
    uint64_t count = (extent + size - 1) / size;
    return size == (extent + count - 1) / count;
}

static const struct dg_tile_space *tile_of(const struct dg_space *s, unsigned rows,
                                           unsigned vectors, bool along)
{
    for (size_t i = 0; i < s->tile_count; i++)
        if (s->tiles[i].tile.rows == rows && s->tiles[i].tile.vectors == vectors &&
            s->tiles[i].along == along)
            return &s->tiles[i];
    return NULL;
}

/* The constraints of a tile, in words of their own. */
static bool allowed(const struct small *s, unsigned rows, unsigned vectors)
{
    bool folded = vectors == 1 && s->body.folded != NULL;
    unsigned held = folded ? 0 : rows < vectors ? rows : vectors;
    uint64_t apart = s->problem.lda * 4, in_set = 0;
    if (rows * vectors + held + 1 > s->c.registers)
        return false;
    if (s->problem.tile_m != 0 && rows != s->problem.tile_m)
        return false;
    unsigned starts[64] = { 0 };
    for (unsigned i = 0; i < rows; i++) {
        unsigned *set = &starts[i * apart % s->c.set_stride[0] / s->c.line];
        in_set = ++*set > in_set ? *set : in_set;
    }
    return in_set <= 1 || in_set + 1 < s->c.ways;
}

/* Whether the tail of such a tile may go along K. */
static bool turns(const struct small *s, unsigned rows, unsigned vectors)
{
    unsigned lanes = s->body.lanes, columns = (unsigned)(s->problem.n % (vectors * lanes));
    unsigned held = rows < columns ? rows : columns;
    return s->body.along != NULL && s->problem.layout_b == DG_PACKED && columns > 0 &&
           columns < lanes && rows * columns + held + 1 <= s->c.registers;
}

struct brute {
    uint64_t tuples;
    dg_cost cheapest, elsewhere;                  /* elsewhere: with another tile than that */
    dg_cost here;                                 /* of the tile being enumerated */
    struct verdict simplest;
};

static bool simpler(const struct verdict *a, const struct verdict *b)
{
    if (a->loads != b->loads)
        return a->loads < b->loads;
    if (a->prefetch != b->prefetch)
        return b->prefetch;
    if (a->bodies != b->bodies)
        return a->bodies < b->bodies;
    if (a->reuse != b->reuse)
        return a->reuse > b->reuse;
    if (a->vectors != b->vectors)
        return a->vectors > b->vectors;
    return a->loops != b->loops ? a->loops < b->loops : a->cost < b->cost;
}

/* limit: INT64_MAX to find the cheapest, else the simplest of those within it. */
static void enumerate_tile(const struct small *s, const struct dg_tile_space *t, unsigned rows,
                           unsigned vectors, dg_cost limit, struct brute *out)
{
    const struct dg_problem *p = &s->problem;
    uint64_t panels = (p->n + vectors * s->body.lanes - 1) / (vectors * s->body.lanes);
    for (uint64_t kc = 1; kc <= p->k; kc++)
        for (uint64_t mc = 1; mc <= p->m; mc++)
            for (uint64_t np = 1; np <= panels; np++)
                for (int form = 0; form < 3; form++) {
                    struct choice c = { rows, vectors, kc, mc, np, form == 1, form == 2 };
                    out->tuples++;
                    if (!balanced(p->k, kc) || !balanced(p->m, mc) || !balanced(panels, np) ||
                        (form == 1 && mc != p->m) || (form == 2 && !s->space.can_prefetch))
                        continue;
                    struct verdict v = judge(&s->space, t, &c);
                    if (!v.possible || v.cost > limit)
                        continue;
                    if (v.cost < out->here)
                        out->here = v.cost;
                    if (out->simplest.bodies == 0 || simpler(&v, &out->simplest))
                        out->simplest = v;
                }
}

static struct brute enumerate(const struct small *s, dg_cost limit)
{
    struct brute out = { .cheapest = INT64_MAX, .elsewhere = INT64_MAX };
    unsigned most = (unsigned)((s->problem.n + s->body.lanes - 1) / s->body.lanes);
    for (unsigned rows = 1; rows <= s->problem.m; rows++)
        for (unsigned vectors = 1; vectors <= most; vectors++) {
            for (int along = 0; along < 2; along++) {
                const struct dg_tile_space *t = tile_of(&s->space, rows, vectors, along != 0);
                bool may = allowed(s, rows, vectors) && (along == 0 || turns(s, rows, vectors));
                cr_assert_eq(t != NULL, may, "%u x %u of %u", rows, vectors, s->c.registers);
                out.here = INT64_MAX;
                if (t != NULL)
                    enumerate_tile(s, t, rows, vectors, limit, &out);
                dg_cost worse = out.here > out.cheapest ? out.here : out.cheapest;
                out.cheapest = out.here < out.cheapest ? out.here : out.cheapest;
                out.elsewhere = worse < out.elsewhere ? worse : out.elsewhere;
            }
        }
    return out;
}

Test(search, brute_force, .timeout = 300)
{
    struct dg_error e = { 0 };
    unsigned large = 0;
    for (uint64_t seed = 0; large < LATTICES; seed++) {
        struct small s;
        struct dg_found found, other;
        struct dg_search_count count;
        small_make(&s, seed);
        cr_assert(dg_search_cheapest(&s.space, &found, &other, &count, &e));
        struct brute all = enumerate(&s, INT64_MAX);
        cr_assert_eq(found.cost, all.cheapest, "seed %llu: %lld, not %lld",
                     (unsigned long long)seed, (long long)found.cost, (long long)all.cheapest);
        cr_assert_eq(other.found ? other.cost : INT64_MAX, all.elsewhere);
        cr_assert(!other.found || other.point.t != found.point.t);
        dg_cost limit = found.cost + found.cost / 1000 * TIE;
        cr_assert(dg_search_simplest(&s.space, limit, &found, &count, &e));
        struct verdict best = enumerate(&s, limit).simplest;
        cr_assert(found.simple.loads == best.loads && found.simple.prefetch == best.prefetch &&
                  found.simple.bodies == best.bodies && found.simple.reuse == best.reuse &&
                  found.simple.vectors == best.vectors && found.simple.loops == best.loops &&
                  found.cost == best.cost && found.cost <= limit,
                  "seed %llu", (unsigned long long)seed);
        large += all.tuples >= 10000;
        small_free(&s);
    }
}

/* At a point the ledger says what plain counting says, whether it is the best one or not. */
static void expect_counted(const struct small *s, const struct dg_box *point,
                           const struct dg_corner *plan)
{
    struct choice c = { point->t->tile.rows, point->t->tile.vectors, plan->kc, plan->mc,
                        plan->panels, point->inner == DG_TILES_OUTER, point->prefetch };
    if (c.tiles_outer && (c.mc != s->problem.m || c.prefetch))
        return;                                  /* no plan */
    struct verdict v = judge(&s->space, point->t, &c);
    cr_assert(!v.possible || v.cost == dg_ledger(plan, NULL),
              "%u x %u, kc %llu mc %llu panels %llu tiles outer %d: %lld, not %lld", c.rows,
              c.vectors, (unsigned long long)c.kc, (unsigned long long)c.mc,
              (unsigned long long)c.panels, c.tiles_outer, (long long)dg_ledger(plan, NULL),
              (long long)v.cost);
}

/* Over nested boxes the bound only rises, and at a point it is the cost; term by term. */
Test(search, bounds, .timeout = 300)
{
    uint64_t state = 7;
    for (uint64_t seed = 1000; seed < 1040; seed++) {
        struct small s;
        small_make(&s, seed);
        for (int i = 0; i < 2000; i++) {
            struct dg_box box = random_box(&s.space, &state);
            struct dg_box point = random_point(&s.space, box, &state);
            struct dg_corner corner, plan;
            if (!dg_corner_of(&s.space, &point, &plan))
                continue;
            cr_assert(dg_corner_of(&s.space, &box, &corner));
            expect_counted(&s, &point, &plan);
            cr_assert_leq(dg_ledger(&corner, NULL), dg_ledger(&plan, NULL));
            for (size_t t = 0; t < dg_term_count; t++)
                cr_assert_leq(dg_terms[t].cost(&corner), dg_terms[t].cost(&plan), "seed %llu %s",
                              (unsigned long long)seed, dg_terms[t].id);
            struct dg_simplicity low = dg_simplicity_of(&corner), high = dg_simplicity_of(&plan);
            cr_assert(low.loads == high.loads && low.prefetch == high.prefetch &&
                      low.reuse == high.reuse && low.vectors == high.vectors &&
                      low.bodies <= high.bodies && low.loops <= high.loops &&
                      low.code <= high.code);
        }
        small_free(&s);
    }
}

static dg_cost optimum(struct small *s)
{
    struct dg_error e = { 0 };
    struct dg_found found, other;
    struct dg_search_count count;
    small_again(s);
    cr_assert(dg_search_cheapest(&s->space, &found, &other, &count, &e));
    return found.cost;
}

/* A better chip never has a dearer best plan. */
Test(search, monotone, .timeout = 300)
{
    for (uint64_t seed = 2000; seed < 2060; seed++) {
        struct small s;
        small_make(&s, seed);
        dg_cost before = optimum(&s);
        struct dg_constants worse = s.c;
        for (int change = 0; change < 8; change++) {
            s.c = worse;
            switch (change) {
            case 0: s.c.capacity[0] = s.c.capacity[0] * 3 / 2; break;
            case 1: s.c.capacity[1] *= 2; s.c.l2_all *= 2; break;
            case 2: s.c.byte[0] /= 2; break;
            case 3: s.c.byte[1] /= 2; break;
            case 4: s.c.byte[2] /= 2; break;
            case 5: s.c.call /= 2; break;
            case 6: s.c.registers += 1; break;
            default: s.c.ways += 4; break;
            }
            dg_cost after = optimum(&s);
            cr_assert_leq(after, before, "seed %llu change %d", (unsigned long long)seed, change);
        }
        small_free(&s);
    }
}
