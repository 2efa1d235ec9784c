/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/cache.h"

#include <math.h>

#include "probes/infer/stats.h"

/* Of one line more than the ways at least one load a pass misses, with any replacement. In the
 * largest caches with the cheapest misses (16 ways, 4 cycles and 12) that adds this much. */
static const double miss_part = 0.1;

unsigned dg_infer_fits(const struct dg_conflicts *c, size_t s)
{
    const double *row = c->latency + s * c->most;
    double hit = row[0];
    for (size_t k = 0; k < c->most && k < 4; k++)
        hit = fmin(hit, row[k]);
    for (size_t k = 0; k < c->most; k++)
        if (row[k] > hit * (1 + miss_part))
            return (unsigned)k;
    return (unsigned)c->most;
}

static size_t votes(const struct dg_conflicts *c, unsigned ways)
{
    size_t count = 0;
    for (size_t s = 0; s < c->strides; s++)
        count += dg_infer_fits(c, s) == ways;
    return count;
}

struct dg_ways dg_infer_ways(const struct dg_conflicts *c)
{
    struct dg_ways out = { 0 };
    size_t best = 0;
    for (size_t s = 0; s < c->strides; s++) {
        unsigned fits = dg_infer_fits(c, s);
        size_t said = votes(c, fits);
        if (fits > 0 && fits < c->most && (said > best || (said == best && fits > out.ways))) {
            best = said;
            out.ways = fits;
        }
    }
    if (best < 2)
        return (struct dg_ways){ 0 };
    for (size_t s = 0; s < c->strides && out.set_stride == 0; s++)
        if (dg_infer_fits(c, s) == out.ways) {
            out.set_stride = c->stride[s];
            out.confidence = (double)best / (double)(c->strides - s);
        }
    return out;
}

uint32_t dg_infer_line(const uint32_t *distance, const double *latency, size_t count)
{
    if (count < 3 || latency[count - 1] < 1.3 * latency[0])
        return 0;
    double half = (latency[0] + latency[count - 1]) / 2;
    for (size_t i = 1; i < count; i++)
        if (latency[i] > half)
            return distance[i];
    return 0;
}

/* Flat: latency rises by less than `rise` while the footprint grows by `span`. */
static const double span = 1.6, rise = 1.12;

static size_t flat_until(const struct dg_curve *c, size_t from)
{
    size_t to = from;
    while (to + 1 < c->count && c->latency[to + 1] <= rise * c->latency[from])
        to++;
    return to;
}

size_t dg_infer_plateaus(struct dg_curve *c, struct dg_plateau *out, size_t capacity)
{
    size_t found = 0;
    dg_isotonic(c->latency, c->count);
    for (size_t i = 0; i < c->count;) {
        size_t to = flat_until(c, i);
        if ((double)c->size[to] < span * (double)c->size[i]) {
            i++;
            continue;
        }
        double level = c->latency[(i + to) / 2];
        /* a slow rise inside one level gives two flat runs that touch: they are one */
        if (found > 0 && i == out[found - 1].to + 1 && level < 1.35 * out[found - 1].level) {
            out[found - 1].to = to;
            out[found - 1].level = level;        /* its far end: nothing of the level before */
        } else if (found < capacity) {
            out[found++] = (struct dg_plateau){ i, to, level };
        }
        i = to + 1;
    }
    return found;
}

double dg_infer_crossing(const struct dg_curve *c, double low, double high, double part)
{
    double want = low + part * (high - low);
    for (size_t i = 1; i < c->count; i++) {
        double a = c->latency[i - 1], b = c->latency[i];
        if (a < want && b >= want) {
            double x = log((double)c->size[i - 1]), y = log((double)c->size[i]);
            return exp(x + (want - a) / (b - a) * (y - x));
        }
    }
    return 0;
}

struct line { double level, slope, error; };     /* error: the largest, relative */

static struct line fit_line(const struct dg_curve *c, size_t from, size_t to)
{
    double n = (double)(to - from + 1), sx = 0, sy = 0, sxx = 0, sxy = 0;
    struct line out = { 0 };
    for (size_t i = from; i <= to; i++) {
        double x = 1 / (double)c->size[i], y = c->latency[i];
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    out.slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    out.level = (sy - out.slope * sx) / n;
    for (size_t i = from; i <= to; i++) {
        double y = out.level + out.slope / (double)c->size[i];
        out.error = fmax(out.error, fabs(c->latency[i] / y - 1));
    }
    return out;
}

bool dg_infer_level(const struct dg_curve *c, double low, double most, double *level)
{
    const double error = 0.03, slack = 1.1, least_span = 1.5;
    const size_t least = 5;
    double longest = least_span;
    for (size_t i = 0; i < c->count; i++) {
        for (size_t j = i + least - 1; j < c->count && c->latency[i] > 1.25 * low; j++) {
            double length = (double)c->size[j] / (double)c->size[i];
            struct line fit = length > longest ? fit_line(c, i, j) : (struct line){ 0 };
            double kept = fit.slope / (low - fit.level);
            if (fit.level < 1.5 * low || fit.level > most || fit.error > error ||
                kept > slack * (double)c->size[i])
                continue;
            longest = length;
            *level = fit.level;
        }
    }
    return longest > least_span;
}

/* Random replacement loses 28 % of a window of 0.7 of the size and 21 % of half of it, scattered
 * pages a tenth and a thirtieth. */
static bool goes_by_age(const struct dg_curve *c, double low, double level, double kept)
{
    bool whole = true;
    for (size_t i = 0; i < c->count && (double)c->size[i] <= 0.7 * kept; i++) {
        double lost = (c->latency[i] - low) / (level - low);
        whole &= lost < ((double)c->size[i] > 0.5 * kept ? 0.2 : 0.08);
    }
    return whole;
}

/* Twice the size and more fill every set, wherever pages lie; smaller windows are asked only where
 * the next level leaves no room. */
double dg_infer_kept(const struct dg_curve *c, double low, double level)
{
    enum { MOST = 64, LEAST = 3 };
    double most = 0.55;
    for (unsigned attempt = 0; attempt < 2; attempt++, most = 0.75) {
        double kept[MOST];
        size_t count = 0;
        for (size_t i = 0; i < c->count && count < MOST; i++) {
            double share = (level - c->latency[i]) / (level - low);
            if (share > 0.25 && share < most)
                kept[count++] = share * (double)c->size[i];
        }
        struct dg_stat stat = dg_stat_of(kept, count);
        if (count >= LEAST)
            return dg_near(stat.low, stat.high, 0.15) && goes_by_age(c, low, level, stat.median) ?
                   stat.median : 0;
    }
    return 0;
}

double dg_power_of_two(double low, double high)
{
    double power = ldexp(1, (int)floor(log2(high)));
    return power >= low ? power : 0;
}

uint64_t dg_roundest(double low, double high)
{
    /* the coarsest power of two that has a multiple inside; its largest such multiple */
    for (int shift = 62; shift >= 0; shift--) {
        double unit = ldexp(1, shift);
        double multiple = floor(high / unit) * unit;
        if (multiple >= low && multiple > 0)
            return (uint64_t)multiple;
    }
    return 0;
}

/* The footprint counts as kept until latency has gone 15 % of the way from `low` to `high`. The
 * size lies about the onset of that step: somewhat below where a neighbour or a smart replacement
 * keeps more than it seems, up to half more where pages crowd the same sets (with eight ways or
 * more, scattered pages lose a tenth of their lines at 0.7 of the size), but not beyond a third of
 * the way, by when caches of any replacement are overfull. The roundest size in between is the best
 * guess; the bounds hold one power of two at most. What is kept counts as
 * all where it is nearly so: the crossing moves by that much from run to run. */
bool dg_infer_extent(const struct dg_curve *curve, double low, double high, struct dg_extent *out)
{
    const double slack = 1.2, crowded = 1.5, whole = 0.875;
    double onset = dg_infer_crossing(curve, low, high, 0.10);
    double keeps = dg_infer_crossing(curve, low, high, 0.15);
    double third = dg_infer_crossing(curve, low, high, 0.35);
    if (onset == 0 || keeps == 0 || third == 0)
        return false;
    double most = fmin(third, crowded * onset);
    double size = (double)dg_roundest(onset / slack, most);
    keeps = keeps < whole * size ? keeps : size;
    *out = (struct dg_extent){
        .size = size, .size_low = fmin(onset / slack, size), .size_high = fmax(most, size),
        .kept = floor(keeps), .kept_low = floor(fmin(onset, size)),
        .kept_high = ceil(third), .onset = onset };
    return true;
}
