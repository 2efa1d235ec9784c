/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/str.h"

enum source { FROM_SAMPLES, FROM_CELLS };
enum value { AS_CYCLES, AS_NS, AS_RATE, AS_GBPS, AS_VALUE };

const struct dg_picture_row dg_picture_rows[DG_PICTURE_COUNT] = {
#define PICTURE(id, form, title, x, x_scale, y, y_scale, unit, field, read) \
    { #id, DG_##form, title, x, DG_##x_scale, y, DG_##y_scale, unit, field, read },
#define SERIES(picture, name, source, pattern, value)
#define MARK(picture, key, label)
#include "profile/pictures.def"
#undef PICTURE
#undef SERIES
#undef MARK
};

static const struct series_row {
    enum dg_picture_id picture;
    const char *name;
    enum source source;
    const char *pattern;
    enum value value;
} series_rows[] = {
#define PICTURE(id, form, title, x, x_scale, y, y_scale, unit, field, read)
#define SERIES(picture, name, source, pattern, value) \
    { DG_PICTURE_##picture, name, FROM_##source, pattern, AS_##value },
#define MARK(picture, key, label)
#include "profile/pictures.def"
#undef SERIES
#undef MARK
};
enum { SERIES_ROWS = sizeof series_rows / sizeof *series_rows };

static const struct mark_row {
    enum dg_picture_id picture;
    const char *key, *label;
} mark_rows[] = {
#define SERIES(picture, name, source, pattern, value)
#define MARK(picture, key, label) { DG_PICTURE_##picture, key, label },
#include "profile/pictures.def"
#undef PICTURE
#undef SERIES
#undef MARK
};

/* ---- patterns ---- */

static bool take_number(const char *text, size_t length, double *out)
{
    char copy[DG_NUMBER_SIZE];
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return dg_parse_double(copy, out, NULL);
}

/* One word of each. */
static bool match_word(const char *pattern, size_t pattern_length, const char *text,
                       size_t length, struct dg_captured *out)
{
    const char *brace = memchr(pattern, '{', pattern_length);
    size_t before = brace != NULL ? (size_t)(brace - pattern) : pattern_length;
    if (pattern_length == 1 && pattern[0] == '*')
        return true;
    if (length < before || memcmp(pattern, text, before) != 0 ||
        (brace == NULL && length != pattern_length))
        return false;
    if (brace == NULL)
        return true;
    text += before;
    length -= before;
    if (brace[1] == 's') {
        out->s = text;
        out->s_length = length;
        return length > 0;
    }
    double other;
    return take_number(text, length, brace[1] == 'x' ? &out->x : brace[1] == 'y' ? &out->y :
                       &other);
}

static size_t word_length(const char *text, char separator)
{
    const char *end = strchr(text, separator);
    return end != NULL ? (size_t)(end - text) : strlen(text);
}

bool dg_pattern_match(const char *pattern, const char *text, char separator,
                      struct dg_captured *out)
{
    *out = (struct dg_captured){ .s = "" };
    for (;;) {
        if (strcmp(pattern, "...") == 0)
            return true;
        size_t want = word_length(pattern, separator), have = word_length(text, separator);
        if (!match_word(pattern, want, text, have, out))
            return false;
        pattern += want;
        text += have;
        if (*pattern == '\0' || *text == '\0')
            return *pattern == *text || strcmp(pattern, " ...") == 0;
        pattern++;
        text++;
    }
}

/* ---- samples and cells to points ---- */

struct hit { size_t series; double x, y, value; };
struct gather {
    struct dg_arena *arena;
    struct dg_picture *picture;
    struct hit *hit;
    size_t count, capacity;
    bool failed;
};

static void add_hit(struct gather *g, const struct hit *hit)
{
    if (g->count == g->capacity) {
        size_t more = g->capacity == 0 ? 1024 : 2 * g->capacity;
        struct hit *fresh = dg_alloc_array(g->arena, more, sizeof *fresh);
        if (fresh == NULL) {
            g->failed = true;
            return;
        }
        if (g->count > 0)
            memcpy(fresh, g->hit, g->count * sizeof *fresh);
        g->hit = fresh;
        g->capacity = more;
    }
    g->hit[g->count++] = *hit;
}

/* The row's name with the text in the place of {s}. */
static const char *name_of(struct gather *g, const struct series_row *row,
                           const struct dg_captured *c)
{
    struct dg_str name;
    const char *hole = strstr(row->name, "{s}");
    if (hole == NULL)
        return row->name;
    dg_str_init(&name, g->arena);
    dg_str_addn(&name, row->name, (size_t)(hole - row->name));
    dg_str_addn(&name, c->s, c->s_length);
    dg_str_add(&name, hole + 3);
    g->failed |= name.failed;
    return dg_str_text(&name);
}

/* DG_SERIES_MOST: there is no room for one more. */
static size_t series_of(struct gather *g, const char *name)
{
    struct dg_picture *p = g->picture;
    size_t i = 0;
    while (i < p->count && strcmp(p->series[i].name, name) != 0)
        i++;
    if (i == DG_SERIES_MOST)
        p->left_out++;
    else if (i == p->count)
        p->series[p->count++].name = name;
    return i;
}

static double convert(enum value value, double cycles, double ns)
{
    switch (value) {
    case AS_CYCLES: return cycles;
    case AS_NS: return ns;
    case AS_RATE: return cycles > 0 ? 1 / cycles : NAN;
    case AS_GBPS: return ns > 0 ? 1 / ns : NAN;
    default: return NAN;
    }
}

static void gather_samples(struct gather *g, const struct series_row *row,
                           const struct dg_samples_file *samples)
{
    for (size_t i = 0; i < samples->row_count; i++) {
        const struct dg_sample_row *r = &samples->rows[i];
        struct dg_captured c;
        if (r->count == 0 || !dg_pattern_match(row->pattern, r->request, ' ', &c))
            continue;
        size_t series = series_of(g, name_of(g, row, &c));
        for (size_t k = 0; k < r->count && series < DG_SERIES_MOST; k++) {
            double value = convert(row->value, r->cycles[k], r->ns[k]);
            if (isfinite(value))
                add_hit(g, &(struct hit){ series, c.x, c.y, value });
        }
    }
}

static void gather_cells(struct gather *g, const struct series_row *row,
                         const struct dg_profile *profile)
{
    for (size_t i = 0; i < profile->entry_count; i++) {
        const struct dg_entry *entry = &profile->entries[i];
        struct dg_captured c;
        if (entry->value.kind != DG_VALUE_NUMBER ||
            !dg_pattern_match(row->pattern, entry->key, '.', &c))
            continue;
        size_t series = series_of(g, name_of(g, row, &c));
        if (series < DG_SERIES_MOST)
            add_hit(g, &(struct hit){ series, c.x, c.y, entry->value.number });
    }
}

static int by_place(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    if (x->x != y->x)
        return x->x < y->x ? -1 : 1;
    if (x->y != y->y)
        return x->y < y->y ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static bool same_place(const struct hit *a, const struct hit *b)
{
    return a->series == b->series && a->x == b->x && a->y == b->y;
}

/* Equal places become one point: median and quartiles. */
static void make_points(struct gather *g)
{
    struct dg_point *point = dg_alloc_array(g->arena, g->count + 1, sizeof *point);
    if (point == NULL) {
        g->failed = true;
        return;
    }
    if (g->count > 0)
        qsort(g->hit, g->count, sizeof *g->hit, by_place);
    for (size_t i = 0, end; i < g->count; i = end) {
        struct dg_series *series = &g->picture->series[g->hit[i].series];
        for (end = i; end < g->count && same_place(&g->hit[i], &g->hit[end]); end++)
            ;
        size_t n = end - i;
        if (series->count++ == 0)
            series->point = point;
        *point++ = (struct dg_point){
            .x = g->hit[i].x, .y = g->hit[i].y, .value = g->hit[i + n / 2].value,
            .low = g->hit[i + n / 4].value, .high = g->hit[i + (n - 1) - n / 4].value,
            .samples = n };
    }
}

/* ---- roofline ---- */

/* From 1/16 to 256 operations a byte; the roof's corner of each level is a point of its own. */
static void roof_series(struct gather *g, const char *name, double gbps, double peak)
{
    size_t series = series_of(g, name);
    const double from = 0.0625, to = 256, corner = peak / gbps;
    for (double x = from; x <= to && series < DG_SERIES_MOST; x *= 2) {
        add_hit(g, &(struct hit){ series, x, 0, fmin(peak, x * gbps) });
        if (corner > x && corner < 2 * x)
            add_hit(g, &(struct hit){ series, corner, 0, peak });
    }
}

static void gather_roofline(struct gather *g, const struct dg_profile *p)
{
    static const struct { const char *key, *name; bool core; } levels[] = {
        { "bw.l1.read.1", "L1", true }, { "bw.l2.read.1", "L2", true },
        { "bw.l3.read.1", "L3", false }, { "bw.dram.read.1", "memory", false },
    };
    double ghz = dg_profile_number(p, "clock_hz", 0) / 1e9, peak = 0;
    for (unsigned bits = 64; bits <= 2048; bits *= 2) {
        char key[64];
        dg_format(key, sizeof key, "op.fma.f32.%u.per_cycle", bits);
        peak = fmax(peak, dg_profile_number(p, key, 0) * bits / 32 * 2 * ghz);
    }
    for (size_t i = 0; i < 4 && peak > 0; i++) {
        double gbps = dg_profile_number(p, levels[i].key, 0) * (levels[i].core ? ghz : 1);
        if (gbps > 0)
            roof_series(g, levels[i].name, gbps, peak);
    }
    if (peak == 0)
        g->picture->reason = "the clock or the rate of multiply-add is not known";
}

/* ---- the whole ---- */

/* The core-to-core map holds each pair once. */
static void mirror(struct gather *g)
{
    size_t count = g->count;
    for (size_t i = 0; i < count; i++) {
        struct hit hit = g->hit[i];
        hit.x = g->hit[i].y;
        hit.y = g->hit[i].x;
        add_hit(g, &hit);
    }
}

static const char *why_empty(enum dg_picture_id id, const struct dg_profile *profile,
                             const struct dg_samples_file *samples)
{
    const struct dg_answer *a = dg_profile_evidence(profile, dg_picture_rows[id].field);
    bool from_samples = false, any = false;
    for (size_t i = 0; i < SERIES_ROWS; i++)
        if (series_rows[i].picture == id) {
            any = true;
            from_samples |= series_rows[i].source == FROM_SAMPLES;
        }
    if (from_samples && samples == NULL)
        return "it is drawn from the raw samples, and there is no file of them beside the profile";
    if (a != NULL && a->value.kind == DG_VALUE_NULL && a->reason != NULL)
        return a->reason;
    return any ? "the run did not measure it" : "no picture of its samples is drawn yet";
}

bool dg_picture_make(enum dg_picture_id id, const struct dg_profile *profile,
                     const struct dg_samples_file *samples, struct dg_arena *arena,
                     struct dg_picture *out)
{
    struct gather g = { .arena = arena, .picture = out };
    *out = (struct dg_picture){ .row = &dg_picture_rows[id] };
    for (size_t i = 0; i < SERIES_ROWS; i++) {
        if (series_rows[i].picture != id)
            continue;
        if (series_rows[i].source == FROM_CELLS)
            gather_cells(&g, &series_rows[i], profile);
        else if (samples != NULL)
            gather_samples(&g, &series_rows[i], samples);
    }
    if (out->row->form == DG_ROOFLINE)
        gather_roofline(&g, profile);
    if (id == DG_PICTURE_cores)
        mirror(&g);
    make_points(&g);
    for (size_t i = 0; i < sizeof mark_rows / sizeof *mark_rows; i++) {
        double x = dg_profile_number(profile, mark_rows[i].key, 0);
        if (mark_rows[i].picture == id && x > 0 && out->mark_count < DG_MARKS_MOST)
            out->mark[out->mark_count++] = (struct dg_mark){ x, mark_rows[i].label };
    }
    if (out->count == 0 && out->reason == NULL)
        out->reason = why_empty(id, profile, samples);
    return !g.failed;
}
