/* SPDX-License-Identifier: Apache-2.0
 *
 * Families of mix cells: which of them a profile has, in order, and reading between them. */
#include "emit/plan/constants.h"
#include "profile/fields.h"

static bool starts_with(const char *text, const char *prefix)
{
    while (*prefix != '\0')
        if (*text++ != *prefix++)
            return false;
    return true;
}

/* First entry that is not below the key. */
static size_t lower_bound(const struct dg_profile *profile, const char *key)
{
    size_t low = 0, high = profile->entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dg_key_compare(profile->entries[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The letters there are; the first three make the curve, a key has one of the other two. */
static const char letters[] = "vbpsk";
enum { VECTORS, ROWS, PREFETCH, STEPS, KIB, LETTERS };

struct cell {
    uint64_t number[LETTERS];
    dg_price value;
};

static uint64_t *number_of(struct cell *cell, char letter)
{
    for (size_t i = 0; i < LETTERS; i++)
        if (letters[i] == letter)
            return &cell->number[i];
    return NULL;
}

/* "v2.b6.s16": letters and numbers. */
static bool parse(const char *text, struct cell *cell)
{
    *cell = (struct cell){ 0 };
    for (;;) {
        uint64_t *number = number_of(cell, *text);
        if (number == NULL || *++text < '0' || *text > '9')
            return false;
        while (*text >= '0' && *text <= '9') {
            if (*number > (UINT64_C(1) << 40))
                return false;
            *number = *number * 10 + (uint64_t)(*text++ - '0');
        }
        if (*text == '\0')
            return true;
        if (*text++ != '.')
            return false;
    }
}

static uint64_t axis(const struct cell *cell)
{
    return cell->number[STEPS] + cell->number[KIB];
}

static bool same_curve(const struct cell *a, const struct cell *b)
{
    return a->number[VECTORS] == b->number[VECTORS] && a->number[ROWS] == b->number[ROWS] &&
           a->number[PREFETCH] == b->number[PREFETCH];
}

static bool before(const struct cell *a, const struct cell *b)
{
    for (size_t i = 0; i < STEPS; i++)
        if (a->number[i] != b->number[i])
            return a->number[i] < b->number[i];
    return axis(a) < axis(b);
}

static size_t collect(struct dg_view *view, const char *prefix, struct cell *cells, size_t most)
{
    const struct dg_profile *profile = view->profile;
    size_t length = 0, count = 0;
    while (prefix[length] != '\0')
        length++;
    for (size_t i = lower_bound(profile, prefix); i < profile->entry_count && count < most; i++) {
        const char *key = profile->entries[i].key;
        struct cell cell;
        double value;
        if (!starts_with(key, prefix))
            break;
        if (!parse(key + length, &cell) || !dg_view_cell(view, key, &value))
            continue;
        cell.value = dg_price_of(value);
        size_t at = count++;
        for (; at > 0 && before(&cell, &cells[at - 1]); at--)
            cells[at] = cells[at - 1];
        cells[at] = cell;
    }
    return count;
}

/* Cuts the sorted cells into curves. */
static void cut(const struct cell *cells, size_t count, struct dg_point *points,
                struct dg_curve *curves, size_t *curve_count)
{
    for (size_t i = 0, filled = 0; i < count; i++) {
        bool first = i == 0 || !same_curve(&cells[i], &cells[i - 1]);
        if (!first && axis(&cells[i]) == points[filled - 1].at)
            continue;                             /* one number written in two ways */
        if (first)
            curves[(*curve_count)++] = (struct dg_curve){
                (unsigned)cells[i].number[VECTORS], (unsigned)cells[i].number[ROWS],
                (unsigned)cells[i].number[PREFETCH], filled, 0,
            };
        curves[*curve_count - 1].count++;
        points[filled++] = (struct dg_point){ axis(&cells[i]), cells[i].value };
    }
}

bool dg_cells_read(struct dg_view *view, const char *prefix, struct dg_family_cells *out)
{
    const struct dg_profile *profile = view->profile;
    size_t most = 0;
    *out = (struct dg_family_cells){ 0 };
    for (size_t i = lower_bound(profile, prefix);
         i < profile->entry_count && starts_with(profile->entries[i].key, prefix); i++)
        most++;
    if (most == 0)
        return true;
    struct cell *cells = dg_alloc_array(view->arena, most, sizeof *cells);
    struct dg_point *points = dg_alloc_array(view->arena, most, sizeof *points);
    struct dg_curve *curves = dg_alloc_array(view->arena, most, sizeof *curves);
    if (cells == NULL || points == NULL || curves == NULL)
        return false;
    size_t count = collect(view, prefix, cells, most);
    cut(cells, count, points, curves, &out->curve_count);
    out->points = points;
    out->curves = curves;
    return true;
}

static unsigned apart(unsigned a, unsigned b)
{
    return a > b ? a - b : b - a;
}

const struct dg_curve *dg_curve_nearest(const struct dg_family_cells *family, unsigned vectors,
                                        unsigned rows, unsigned prefetch, bool vectors_first)
{
    const struct dg_curve *best = NULL;
    uint64_t best_distance = UINT64_MAX;
    for (size_t i = 0; i < family->curve_count; i++) {
        const struct dg_curve *curve = &family->curves[i];
        uint64_t by_vectors = apart(curve->vectors, vectors);
        uint64_t by_size = apart(curve->vectors * curve->rows, vectors * rows);
        uint64_t distance = vectors_first ? (by_vectors << 20) + by_size
                                          : (by_size << 20) + by_vectors;
        if (curve->rows > 0 && curve->vectors == 0)
            distance = apart(curve->rows, rows);  /* families without vectors */
        if (curve->prefetch == prefetch && distance < best_distance) {
            best = curve;
            best_distance = distance;
        }
    }
    return best;
}

static dg_price apart_price(dg_price a, dg_price b)
{
    return a > b ? a - b : b - a;
}

/* Price of one more on the axis between two points; a stream never gets cheaper by being longer,
 * so a falling segment is noise and counts as level. */
static dg_price slope_of(struct dg_point a, struct dg_point b, bool extend)
{
    dg_price slope = (b.value - a.value) / (dg_price)(b.at - a.at);
    return extend && slope < 0 ? 0 : slope;
}

/* value + slope * distance, within +-10^15. */
static dg_price along(dg_price value, dg_price slope, uint64_t distance, bool forward)
{
    dg_u128 move = (dg_u128)distance * (uint64_t)(slope < 0 ? -slope : slope);
    dg_price step = move > 1000000000000000000 ? 1000000000000000000 : (dg_price)move;
    return (slope < 0) == forward ? value - step : value + step;
}

/* The segment to read `at` from. Beyond the last point it is a long one: rounded cells give a
 * short one a wrong slope, which would then be followed far. */
static void segment(const struct dg_point *p, size_t count, uint64_t at, size_t *from, size_t *to)
{
    *from = 0;
    *to = count > 1 ? 1 : 0;
    while (*to + 1 < count && at > p[*to].at)
        (*to)++;
    *from = *to > 0 ? *to - 1 : 0;
    while (at > p[*to].at && *from > 0 && p[*from].at * 4 > p[*to].at)
        (*from)--;
}

/* Beyond the last point the slope of noisy cells would be followed far: where it is within one in
 * 64 of the one expected, that one is meant. */
static dg_price settled(dg_price slope, dg_price expected)
{
    return apart_price(slope, expected) <= expected / 64 ? expected : slope;
}

dg_price dg_curve_at(const struct dg_family_cells *family, const struct dg_curve *curve,
                     uint64_t at, bool extend, dg_price slope)
{
    const struct dg_point *p = family->points + curve->first;
    size_t count = curve->count, from, to;
    segment(p, count, at, &from, &to);
    if (!extend && (at <= p[0].at || at >= p[count - 1].at))
        return at <= p[0].at ? p[0].value : p[count - 1].value;
    if (from < to && at > p[to].at)
        slope = settled(slope_of(p[from], p[to], extend), slope);
    else if (from < to)
        slope = slope_of(p[from], p[to], extend);
    const struct dg_point *base = at > p[to].at ? &p[to] : &p[from];
    return at >= base->at ? along(base->value, slope, at - base->at, true)
                          : along(base->value, slope, base->at - at, false);
}
