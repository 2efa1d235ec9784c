/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan/search.h"

struct search {
    const struct dg_space *s;
    bool by_simplicity;
    dg_cost limit;
    struct dg_found *best;
    struct dg_found *other;      /* by cost only: the best of the other tiles */
    uint64_t priced;
};

struct bounded {
    struct dg_box box;
    dg_cost cost;
    struct dg_simplicity simple;
    bool possible;
};

static struct bounded bound(const struct search *search, const struct dg_box *box)
{
    struct bounded b = { .box = *box };
    struct dg_corner corner;
    b.possible = dg_corner_of(search->s, box, &corner);
    if (!b.possible)
        return b;
    b.cost = dg_ledger(&corner, NULL);
    if (search->by_simplicity)
        b.simple = dg_simplicity_of(&corner);
    return b;
}

static bool simpler(struct dg_simplicity a, struct dg_simplicity b)
{
    if (a.loads != b.loads)
        return a.loads < b.loads;
    if (a.prefetch != b.prefetch)
        return b.prefetch;
    if (a.bodies != b.bodies)
        return a.bodies < b.bodies;
    if (a.reuse != b.reuse)
        return a.reuse > b.reuse;
    if (a.vectors != b.vectors)
        return a.vectors > b.vectors;
    return a.loops < b.loops;
}

static bool beats(const struct bounded *b, const struct dg_found *found)
{
    return !found->found || b->cost < found->cost;
}

/* May the box hold a plan that is wanted? Of equal plans the first one met stays. */
static bool promising(const struct search *search, const struct bounded *b)
{
    const struct dg_found *best = search->best;
    if (!b->possible || b->cost > search->limit)
        return false;
    if (!search->by_simplicity)
        return beats(b, best->found && b->box.t != best->point.t ? search->other : best);
    return !best->found || simpler(b->simple, best->simple) ||
           (!simpler(best->simple, b->simple) && b->cost < best->cost);
}

static void take(struct search *search, const struct bounded *b)
{
    struct dg_found found = { true, b->box, b->cost, b->simple };
    search->priced++;
    if (search->by_simplicity) {
        *search->best = found;
    } else if (!beats(b, search->best)) {
        *search->other = found;                   /* promising: it has another tile */
    } else {
        if (search->best->found && search->best->point.t != b->box.t)
            *search->other = *search->best;
        *search->best = found;
    }
}

/* Cuts the dimension of the largest ratio; false: the box is a point. */
static bool cut(const struct dg_space *s, const struct dg_box *box, struct dg_box half[2])
{
    half[0] = half[1] = *box;
    const struct dg_sizes *sizes[3] = { &s->blocks_m, &s->blocks_k, &box->t->blocks_n };
    const uint32_t at[3] = { box->m, box->k, box->n };
    uint32_t *low[3] = { &half[0].m, &half[0].k, &half[0].n };
    uint32_t *high[3] = { &half[1].m, &half[1].k, &half[1].n };
    uint64_t smallest = 0, largest = 0;
    int widest = -1;
    for (int i = 0; i < 3; i++) {
        const struct dg_range *range = &sizes[i]->range[at[i]];
        uint64_t from = sizes[i]->size[range->low], to = sizes[i]->size[range->high];
        if (from < to && (widest < 0 || to * smallest > largest * from)) {
            widest = i;
            smallest = from;
            largest = to;
        }
    }
    if (widest < 0)
        return false;
    *low[widest] = sizes[widest]->range[at[widest]].left;
    *high[widest] = sizes[widest]->range[at[widest]].right;
    return true;
}

static bool less(const struct search *search, const struct bounded *a, const struct bounded *b)
{
    if (a->possible != b->possible)
        return a->possible;
    if (search->by_simplicity) {
        return simpler(a->simple, b->simple);
    }
    return a->cost < b->cost;
}

static void descend(struct search *search, const struct bounded *b)
{
    struct dg_box half[2];
    if (!promising(search, b))
        return;
    if (!cut(search->s, &b->box, half)) {
        take(search, b);
        return;
    }
    /* the larger blocks first where both halves look equal */
    struct bounded first = bound(search, &half[1]), second = bound(search, &half[0]);
    bool swap = less(search, &second, &first);
    descend(search, swap ? &second : &first);
    descend(search, swap ? &first : &second);
}

static uint64_t span(const struct dg_sizes *sizes, uint32_t at)
{
    return sizes->range[at].high - sizes->range[at].low + 1;
}

static uint64_t points_of(const struct dg_space *s, const struct dg_box *box)
{
    return dg_bytes_times(dg_bytes_times(span(&s->blocks_k, box->k), span(&s->blocks_m, box->m)),
                          span(&box->t->blocks_n, box->n));
}

/* Blocks of M make no difference where tiles are outside, and prefetching the next panel makes no
 * sense there: those points are not in the lattice. */
enum { ROOTS = 3 };                               /* of a tile, at most */

static size_t roots_of(const struct search *search, const struct dg_tile_space *t,
                       struct bounded *out)
{
    const struct dg_space *s = search->s;
    struct dg_box box = { .t = t };               /* range 0 is the whole list */
    size_t count = 0;
    box.inner = DG_PANELS_OUTER;
    out[count++] = bound(search, &box);
    box.prefetch = s->can_prefetch;
    if (box.prefetch)
        out[count++] = bound(search, &box);
    box.prefetch = false;
    box.inner = DG_TILES_OUTER;
    box.m = dg_sizes_leaf(&s->blocks_m, s->blocks_m.count - 1);
    if (s->blocks_m.size[s->blocks_m.count - 1] == s->problem->m)
        out[count++] = bound(search, &box);
    return count;
}

static void sort(const struct search *search, struct bounded *roots, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct bounded root = roots[i];
        size_t at = i;
        for (; at > 0 && less(search, &root, &roots[at - 1]); at--)
            roots[at] = roots[at - 1];
        roots[at] = root;
    }
}

static bool run(struct search *search, struct dg_search_count *count, struct dg_error *e)
{
    const struct dg_space *s = search->s;
    struct bounded *roots = dg_alloc_array(s->arena, ROOTS * s->tile_count, sizeof *roots);
    if (roots == NULL)
        return dg_fail_memory(e, "plan");
    size_t root_count = 0;
    for (size_t i = 0; i < s->tile_count; i++)
        root_count += roots_of(search, &s->tiles[i], roots + root_count);
    sort(search, roots, root_count);
    *count = (struct dg_search_count){ 0 };
    for (size_t i = 0; i < root_count; i++) {
        count->points = dg_bytes_add(count->points, points_of(s, &roots[i].box));
        descend(search, &roots[i]);
    }
    count->priced = search->priced;
    return true;
}

bool dg_search_cheapest(const struct dg_space *s, struct dg_found *best, struct dg_found *other,
                        struct dg_search_count *count, struct dg_error *e)
{
    struct search search = { .s = s, .limit = DG_COST_MOST - 1, .best = best, .other = other };
    *best = *other = (struct dg_found){ 0 };
    return run(&search, count, e);
}

bool dg_search_simplest(const struct dg_space *s, dg_cost limit, struct dg_found *best,
                        struct dg_search_count *count, struct dg_error *e)
{
    struct search search = { .s = s, .by_simplicity = true, .limit = limit, .best = best };
    *best = (struct dg_found){ 0 };
    return run(&search, count, e);
}
