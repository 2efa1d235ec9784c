/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/sets.h"

#include <math.h>

/* ---- minimal sets ---- */

static void reverse(uint32_t *lines, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t other = lines[i];
        lines[i] = lines[count - 1 - i];
        lines[count - 1 - i] = other;
    }
}

/* The first `part` lines go behind the others. */
static void rotate(uint32_t *lines, size_t count, size_t part)
{
    reverse(lines, part);
    reverse(lines + part, count - part);
    reverse(lines, count);
}

/* One pass: every part of `part` lines is left out where the rest still evicts. */
static bool cut(const struct dg_set_test *t, uint32_t *lines, size_t *count, size_t part,
                bool *smaller)
{
    *smaller = false;
    for (size_t from = 0; from < *count && *count > 1;) {
        size_t tried = part < *count - from ? part : *count - from;
        if (tried == *count)
            return true;
        rotate(lines + from, *count - from, tried);
        enum dg_verdict v = t->evicts(t->self, lines, *count - tried);
        if (v == DG_NO_VERDICT)
            return false;
        if (v == DG_EVICTED) {
            *count -= tried;
            *smaller = true;
            continue;
        }
        /* needed: back to its place */
        rotate(lines + from, *count - from, *count - from - tried);
        from += tried;
    }
    return true;
}

size_t dg_infer_minimal_set(const struct dg_set_test *t, uint32_t *lines, size_t count)
{
    enum { PARTS = 8, MOST_BACK = 6 };
    size_t part = (count + PARTS - 1) / PARTS;
    unsigned back = 0;
    while (count > 0) {
        size_t before = count;
        bool smaller;
        if (!cut(t, lines, &count, part, &smaller))
            return 0;
        /* what was left out by mistake stands right behind: take it in again */
        enum dg_verdict v = t->evicts(t->self, lines, count);
        if (v != DG_EVICTED) {
            if (v == DG_NO_VERDICT || ++back > MOST_BACK)
                return 0;
            count = before;
            continue;
        }
        if (part == 1 && !smaller)
            return count;
        size_t next = (count + PARTS - 1) / PARTS;
        part = !smaller && part > 1 ? (part + 1) / 2 : next < part ? next : part;
    }
    return 0;
}

/* ---- members ---- */

size_t dg_infer_members(double all, const double *without, size_t count, bool *member)
{
    const double contrast = 1.1, low = 0.3, high = 0.5, alike = 1.1;
    double fits = all, highest = 0;
    size_t members = 0;
    for (size_t i = 0; i < count; i++)
        fits = fmin(fits, without[i]);
    if (all < contrast * fits)
        return 0;
    for (size_t i = 0; i < count; i++) {
        double part = (without[i] - fits) / (all - fits);
        if (part > low && part < high)
            return 0;
        member[i] = part <= low;
        members += member[i];
        if (member[i])
            highest = fmax(highest, without[i]);
    }
    return highest <= alike * fits ? members : 0;
}

/* ---- number of sets ---- */

/* Logarithm of the likelihood of what was seen if there were so many sets. */
static double likelihood(const struct dg_group *group, size_t count, unsigned block, double sets)
{
    double hit = fmin(block / sets, 1 - 1e-9), sum = 0;
    for (size_t i = 0; i < count; i++) {
        double none = group[i].blocks * log1p(-hit);
        if (group[i].evicted > 0)
            sum += group[i].evicted * log(fmax(-expm1(none), 1e-300));
        sum += (group[i].groups - group[i].evicted) * none;
    }
    return sum;
}

struct dg_sets dg_infer_sets(const struct dg_group *group, size_t count, unsigned block)
{
    /* sets from 2^4 to 2^24 in sixty-fourths of an octave; the interval is 2.6 deviations wide to
     * each side: half the square of that below the best likelihood */
    enum { FIRST = 4 * 64, LAST = 24 * 64 };
    const double below = 0.5 * 2.6 * 2.6;
    /* An eviction may be missed, but there is none without a cause: what is seen is rather too many
     * sets than too few. An octave of it belongs to each power of two. */
    const double fewest = 0.76;
    struct dg_sets out = { 0 };
    double best = -INFINITY;
    for (int i = FIRST; i <= LAST; i++)
        best = fmax(best, likelihood(group, count, block, exp2(i / 64.0)));
    for (int i = FIRST; i <= LAST; i++) {
        double sets = exp2(i / 64.0);
        if (likelihood(group, count, block, sets) < best - below)
            continue;
        out.low = out.low == 0 ? sets : out.low;
        out.high = sets;
    }
    double power = exp2(floor(log2(out.low / fewest)));
    if (out.high < 2 * fewest * power)
        out.sets = (uint32_t)power;
    return out;
}
