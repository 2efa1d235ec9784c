/* SPDX-License-Identifier: Apache-2.0
 *
 * Resources from single and pair times.
 *
 * 1. Two operations whose times add up when they run together share a unit. Each largest set of
 *    operations of which every two do is a resource; an operation takes as much of it as the time
 *    it needs alone.
 * 2. Issue slots: where the cheapest operation of all runs beside another and both together take
 *    longer than the slower one, slots are full. One resource with a share of every operation is
 *    fitted to these pairs (least squares), never above what any single or pair time allows.
 * 3. A pair that is still much slower than these say shares part of its units (a multiply-add that
 *    borrows the adder's port): the largest shares that no measured group of the two contradicts.
 *    Pairs with a common operation that takes the same share join into one resource, as far as no
 *    measured group contradicts that. A share of next to nothing is no evidence. */
#include "probes/infer/rate.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Loops that mix two operations lose up to 8 % by how they fall on a scheduler (`alike`): that is
 * no resource, so only more than `partial` is. Sums and maxima of real chips differ by far more. */
static const double alike = 0.08, partial = 0.1;

double dg_fit_cycles(const struct dg_fit *fit, size_t ops, const double *counts)
{
    double cycles = 0;
    for (size_t r = 0; r < fit->count; r++) {
        double units = 0;
        for (size_t i = 0; i < ops; i++)
            units += counts[i] * fit->resource[r].units[i];
        cycles = fmax(cycles, units / fit->resource[r].capacity);
    }
    return cycles;
}

static double pair_cycles(const struct dg_fit *fit, const struct dg_fit_input *in,
                          const struct dg_pair_time *p)
{
    double counts[DG_FIT_OPS] = { 0 };
    counts[p->a] += p->count_a;
    counts[p->b] += p->count_b;
    return dg_fit_cycles(fit, in->ops, counts);
}

/* Adds a resource from the cycles that each operation holds it; units count the lightest user. */
static void add_resource(struct dg_fit *fit, const struct dg_fit_input *in, const double *cycles,
                         enum dg_fit_kind kind)
{
    double least = 0;
    for (size_t i = 0; i < in->ops; i++)
        if (cycles[i] > 0 && (least == 0 || cycles[i] < least))
            least = cycles[i];
    if (least == 0 || fit->count == DG_FIT_RESOURCES)
        return;
    struct dg_resource *r = &fit->resource[fit->count++];
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->capacity = 1 / least;
    for (size_t i = 0; i < in->ops; i++)
        r->units[i] = cycles[i] / least;
}

/* adds[i]: bits of the operations whose times add to those of i, in every pair of the two */
static void find_additive(const struct dg_fit_input *in, uint32_t *adds)
{
    uint32_t seen[DG_FIT_OPS] = { 0 }, not_all[DG_FIT_OPS] = { 0 };
    for (size_t p = 0; p < in->pairs; p++) {
        const struct dg_pair_time *t = &in->pair[p];
        double sum = t->count_a * in->alone[t->a] + t->count_b * in->alone[t->b];
        seen[t->a] |= UINT32_C(1) << t->b;
        seen[t->b] |= UINT32_C(1) << t->a;
        if (t->cycles < (1 - alike) * sum) {
            not_all[t->a] |= UINT32_C(1) << t->b;
            not_all[t->b] |= UINT32_C(1) << t->a;
        }
    }
    for (size_t i = 0; i < in->ops; i++)
        adds[i] = seen[i] & ~not_all[i] & ~(UINT32_C(1) << i);
}

static void emit_clique(struct dg_fit *fit, const struct dg_fit_input *in, uint32_t members)
{
    double cycles[DG_FIT_OPS] = { 0 };
    for (size_t i = 0; i < in->ops; i++)
        if (members >> i & 1)
            cycles[i] = in->alone[i];
    add_resource(fit, in, cycles, DG_FIT_UNIT);
}

/* Bron and Kerbosch: all largest sets, without pivots (there are at most 20 operations). */
static void cliques(struct dg_fit *fit, const struct dg_fit_input *in, const uint32_t *adds,
                    uint32_t members, uint32_t candidates, uint32_t done)
{
    if (candidates == 0) {
        if (done == 0 && members != 0)
            emit_clique(fit, in, members);
        return;
    }
    for (size_t i = 0; i < in->ops; i++) {
        uint32_t bit = UINT32_C(1) << i;
        if ((candidates & bit) == 0)
            continue;
        cliques(fit, in, adds, members | bit, candidates & adds[i], done & adds[i]);
        candidates &= ~bit;
        done |= bit;
    }
}

/* The most that each operation may take of the issue resource: what it needs alone, and what every
 * pair leaves for it beside an equal share of the other. */
static void issue_limits(const struct dg_fit_input *in, double *share)
{
    double slot = 0;
    for (size_t i = 0; i < in->ops; i++)
        slot = slot == 0 ? in->alone[i] : fmin(slot, in->alone[i]);
    for (size_t p = 0; p < in->pairs; p++)
        slot = fmin(slot, in->pair[p].cycles / (in->pair[p].count_a + in->pair[p].count_b));
    for (size_t i = 0; i < in->ops; i++)
        share[i] = fmin(slot, in->alone[i]);
}

static bool is_partial(const struct dg_fit *units, const struct dg_fit_input *in,
                       const struct dg_pair_time *p)
{
    return p->cycles > (1 + partial) * pair_cycles(units, in, p);
}

static size_t cheapest(const struct dg_fit_input *in)
{
    size_t best = 0;
    for (size_t i = 1; i < in->ops; i++)
        if (in->alone[i] < in->alone[best])
            best = i;
    return best;
}

/* Keeps every share within what single and pair times allow. */
static void respect(const struct dg_fit_input *in, double *share)
{
    for (size_t i = 0; i < in->ops; i++)
        share[i] = fmin(fmax(share[i], 0), in->alone[i]);
    for (size_t p = 0; p < in->pairs; p++) {
        const struct dg_pair_time *t = &in->pair[p];
        double sum = t->count_a * share[t->a] + t->count_b * share[t->b];
        if (sum > t->cycles) {
            share[t->a] *= t->cycles / sum;
            share[t->b] *= t->cycles / sum;
        }
    }
}

/* Gradient steps towards equality in the partial pairs of the cheapest operation. The slack of a
 * pair is divided by what its operations count, so that a step of one never overshoots. */
static void fit_issue(const struct dg_fit *units, const struct dg_fit_input *in, double *share)
{
    enum { STEPS = 400 };
    size_t cheap = cheapest(in);
    issue_limits(in, share);
    for (int step = 0; step < STEPS; step++) {
        for (size_t p = 0; p < in->pairs; p++) {
            const struct dg_pair_time *t = &in->pair[p];
            if ((t->a != cheap && t->b != cheap) || !is_partial(units, in, t))
                continue;
            double na = t->count_a, nb = t->count_b;
            double slack = t->cycles - na * share[t->a] - nb * share[t->b];
            double gain = 0.2 * slack / (na * na + nb * nb);
            share[t->a] += gain * na;
            share[t->b] += gain * nb;
        }
        respect(in, share);
    }
}

/* ---- what two operations share, from all groups of the two ---- */

struct shared {
    const struct dg_fit *fit;
    const struct dg_fit_input *in;
    unsigned a, b;
    double least[2];                             /* of the best corner so far: shares */
    double gain;                                 /* and what it explains */
};

static bool is_of(const struct dg_pair_time *t, const struct shared *s)
{
    return t->a == s->a && t->b == s->b;
}

/* Explained time of all groups that are slower than the fit says; negative: a group is
 * contradicted. */
static double explains(const struct shared *s, double x, double y)
{
    double sum = 0;
    if (x < 0 || y < 0 || x > s->in->alone[s->a] * 1.0001 || y > s->in->alone[s->b] * 1.0001)
        return -1;
    for (size_t p = 0; p < s->in->pairs; p++) {
        const struct dg_pair_time *t = &s->in->pair[p];
        if (!is_of(t, s))
            continue;
        double said = t->count_a * x + t->count_b * y;
        if (said > t->cycles * 1.0001)
            return -1;
        if (is_partial(s->fit, s->in, t))
            sum += fmax(0, said - pair_cycles(s->fit, s->in, t));
    }
    return sum;
}

static void try_corner(struct shared *s, double x, double y)
{
    double gain = explains(s, x, y);
    if (gain > s->gain) {
        s->gain = gain;
        s->least[0] = x;
        s->least[1] = y;
    }
}

/* The best shares stand at a corner: where two of the limits meet. The limits are the times of the
 * groups, and the times that each operation takes alone. */
static void try_corners(struct shared *s)
{
    const struct dg_fit_input *in = s->in;
    double ta = in->alone[s->a], tb = in->alone[s->b];
    for (size_t p = 0; p < in->pairs; p++) {
        const struct dg_pair_time *t = &in->pair[p];
        if (!is_of(t, s))
            continue;
        try_corner(s, ta, (t->cycles - t->count_a * ta) / t->count_b);
        try_corner(s, (t->cycles - t->count_b * tb) / t->count_a, tb);
        for (size_t q = 0; q < p; q++) {
            const struct dg_pair_time *u = &in->pair[q];
            double d = (double)t->count_a * u->count_b - (double)u->count_a * t->count_b;
            if (is_of(u, s) && d != 0)
                try_corner(s, (t->cycles * u->count_b - u->cycles * t->count_b) / d,
                           (t->count_a * u->cycles - u->count_a * t->cycles) / d);
        }
    }
}

/* Shares of all that use one shared resource, in cycles. */
struct sharing { double cycles[DG_FIT_OPS]; };

static bool contradicted(const struct dg_fit_input *in, const struct sharing *sharing)
{
    for (size_t p = 0; p < in->pairs; p++) {
        const struct dg_pair_time *t = &in->pair[p];
        double x = sharing->cycles[t->a], y = sharing->cycles[t->b];
        if (x > 0 && y > 0 && t->count_a * x + t->count_b * y > (1 + alike) * t->cycles)
            return true;
    }
    return false;
}

/* A second user beside a first one that is there with the same share. */
static bool join(const struct dg_fit_input *in, struct sharing *sharing, const unsigned users[2],
                 const double shares[2])
{
    const double same = 0.25;
    for (int i = 0; i < 2; i++) {
        double there = sharing->cycles[users[i]];
        struct sharing with = *sharing;
        if (there <= 0 || with.cycles[users[1 - i]] > 0 ||
            fabs(there / shares[i] - 1) > same)
            continue;
        with.cycles[users[1 - i]] = shares[1 - i];
        if (!contradicted(in, &with)) {
            *sharing = with;
            return true;
        }
    }
    return false;
}

static size_t take_pair(const struct dg_fit_input *in, const struct shared *s,
                        struct sharing *all, size_t count)
{
    const unsigned users[2] = { s->a, s->b };
    for (size_t i = 0; i < count; i++)
        if (join(in, &all[i], users, s->least))
            return count;
    all[count] = (struct sharing){ { 0 } };
    all[count].cycles[s->a] = s->least[0];
    all[count].cycles[s->b] = s->least[1];
    return count + 1;
}

static void add_shared(struct dg_fit *fit, const struct dg_fit_input *in)
{
    enum { MOST = 16 };
    const double least_share = 0.15;
    const size_t others = fit->count;
    struct sharing all[MOST];
    size_t count = 0;
    for (unsigned a = 0; a < in->ops; a++)
        for (unsigned b = 0; b < in->ops && count < MOST; b++) {
            struct shared s = { .fit = fit, .in = in, .a = a, .b = b };
            try_corners(&s);
            if (s.gain <= 0 || s.least[0] < least_share * in->alone[a] ||
                s.least[1] < least_share * in->alone[b])
                continue;
            count = take_pair(in, &s, all, count);
            fit->count = others;
            for (size_t i = 0; i < count; i++)
                add_resource(fit, in, all[i].cycles, DG_FIT_SHARED);
        }
}

void dg_infer_resources(const struct dg_fit_input *in, struct dg_fit *out)
{
    uint32_t adds[DG_FIT_OPS] = { 0 };
    double share[DG_FIT_OPS] = { 0 };
    memset(out, 0, sizeof *out);
    find_additive(in, adds);
    cliques(out, in, adds, 0, (UINT32_C(1) << in->ops) - 1, 0);
    fit_issue(out, in, share);
    add_resource(out, in, share, DG_FIT_ISSUE);
    add_shared(out, in);
    for (size_t p = 0; p < in->pairs; p++) {
        double said = pair_cycles(out, in, &in->pair[p]);
        out->worst = fmax(out->worst, fabs(said / in->pair[p].cycles - 1));
    }
}
