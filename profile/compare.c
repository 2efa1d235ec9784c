/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/compare.h"

#include <math.h>
#include <string.h>

#include "profile/reading.h"
#include "profile/render.h"

const char *const dg_verdict_names[DG_VERDICT_COUNT] = {
    "improved", "worse", "changed", "differs", "within noise", "not comparable",
};

/* ---- one chip or two ---- */

static const struct dg_value *identity(const struct dg_profile *p, const char *key)
{
    const struct dg_value *fact = dg_profile_fact(p, key);
    return fact != NULL ? fact : dg_profile_find(p, key);
}

static void add_plain(struct dg_str *out, const struct dg_value *value)
{
    if (value->kind == DG_VALUE_TEXT)
        dg_str_add(out, value->text);
    else
        dg_render_value(out, value);
}

const char *dg_profile_other_chip(const struct dg_profile *a, const struct dg_profile *b,
                                  struct dg_arena *arena)
{
    static const char *const keys[] = {
        "architecture", "vendor", "family", "model", "core_kind", "emulated",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct dg_value *x = identity(a, keys[i]), *y = identity(b, keys[i]);
        struct dg_str text;
        if (x == NULL || y == NULL || dg_value_equal(x, y))
            continue;
        dg_str_init(&text, arena);
        dg_str_format(&text, "%s: ", keys[i]);
        add_plain(&text, x);
        dg_str_add(&text, " and ");
        add_plain(&text, y);
        return dg_str_text(&text);
    }
    return NULL;
}

/* ---- one value ---- */

/* better: 1 more, -1 less, 0 neither. noise: core cycles repeat to a part in a hundred, the memory
 * of a shared machine does not. */
static const struct { const char *unit; int better; double noise; } units[] = {
    { "cycles", -1, 0.01 }, { "ns", -1, 0.1 }, { "ratio", -1, 0.02 },
    { "bytes/cycle", 1, 0.015 }, { "GB/s", 1, 0.15 }, { "1/cycle", 1, 0.01 },
    { "Hz", 1, 0.02 }, { "bytes", 1, 0.1 },
};
enum { UNITS = sizeof units / sizeof *units };

static size_t unit_row(const char *unit)
{
    size_t i = 0;
    while (i < UNITS && strcmp(units[i].unit, unit) != 0)
        i++;
    return i;
}

double dg_noise_of(const char *unit)
{
    size_t i = unit_row(unit);
    return i < UNITS ? units[i].noise : 0;
}

struct interval { double low, high; };

static struct interval interval_of(const struct dg_profile *p, const char *key, double value)
{
    const struct dg_answer *a = dg_profile_evidence(p, key);
    if (a == NULL || a->value.kind != DG_VALUE_NUMBER || a->status == DG_ASSERTED)
        return (struct interval){ value, value };
    return (struct interval){ fmin(a->low, value), fmax(a->high, value) };
}

/* What lies between two intervals; 0: they meet. */
static double gap(struct interval a, struct interval b)
{
    return fmax(0, fmax(b.low - a.high, a.low - b.high));
}

static const char *why_unknown(const struct dg_profile *p, const char *key)
{
    const struct dg_answer *a = dg_profile_evidence(p, key);
    return a != NULL && a->reason != NULL ? a->reason : "the file does not hold it";
}

static enum dg_verdict judge_numbers(const struct dg_profile *a, const struct dg_profile *b,
                                     const struct dg_difference *d, double noise)
{
    double x = d->a->number, y = d->b->number;
    size_t row = unit_row(d->unit);
    int better = row < UNITS ? units[row].better : 0;
    if (noise < 0)
        noise = dg_noise_of(d->unit);
    if (gap(interval_of(a, d->key, x), interval_of(b, d->key, y)) <= noise * fmax(fabs(x), fabs(y)))
        return DG_WITHIN_NOISE;
    if (better == 0)
        return DG_CHANGED;
    return (y > x) == (better > 0) ? DG_IMPROVED : DG_WORSE;
}

static void judge(const struct dg_profile *a, const struct dg_profile *b, double noise,
                  struct dg_difference *d)
{
    const struct dg_field *field = dg_field_of(d->key);
    bool discrete = field == NULL || field->discrete;    /* the architecture is */
    d->unit = field != NULL ? field->unit : "";
    if (d->a == NULL || d->b == NULL) {
        d->verdict = DG_INCOMPARABLE;
        d->why = d->a == NULL ? why_unknown(a, d->key) : why_unknown(b, d->key);
        return;
    }
    bool numbers = d->a->kind == DG_VALUE_NUMBER && d->b->kind == DG_VALUE_NUMBER;
    if (numbers && d->a->number != 0)
        d->change = (d->b->number - d->a->number) / fabs(d->a->number);
    if (dg_value_equal(d->a, d->b))
        d->verdict = DG_WITHIN_NOISE;
    else if (discrete)
        d->verdict = DG_DIFFERS;
    else
        d->verdict = numbers ? judge_numbers(a, b, d, noise) : DG_CHANGED;
}

/* ---- both files ---- */

static const struct dg_value *known(const struct dg_value *value)
{
    return value->kind == DG_VALUE_NULL ? NULL : value;
}

bool dg_profile_compare(const struct dg_profile *a, const struct dg_profile *b, double noise,
                        struct dg_arena *arena, struct dg_comparison *out)
{
    size_t i = 0, j = 0;
    *out = (struct dg_comparison){
        .row = dg_alloc_array(arena, a->entry_count + b->entry_count + 1, sizeof *out->row) };
    if (out->row == NULL)
        return false;
    while (i < a->entry_count || j < b->entry_count) {
        int order = i == a->entry_count ? 1 : j == b->entry_count ? -1 :
                    dg_key_compare(a->entries[i].key, b->entries[j].key);
        struct dg_difference d = { .key = order <= 0 ? a->entries[i].key : b->entries[j].key };
        d.a = order <= 0 ? known(&a->entries[i++].value) : NULL;
        d.b = order >= 0 ? known(&b->entries[j++].value) : NULL;
        if ((d.a == NULL && d.b == NULL) || strcmp(d.key, "name") == 0)
            continue;
        judge(a, b, noise, &d);
        out->of[d.verdict]++;
        out->row[out->count++] = d;
    }
    return true;
}

/* ---- for people and programs ---- */

static void add_value(struct dg_str *out, const struct dg_value *value)
{
    static const struct dg_value null = { .kind = DG_VALUE_NULL };
    dg_render_value(out, value != NULL ? value : &null);
}

static void add_row(struct dg_str *out, const struct dg_difference *d)
{
    size_t start = out->length;
    dg_str_format(out, "%-14s %s", dg_verdict_names[d->verdict], d->key);
    do
        dg_str_addc(out, ' ');
    while (out->length - start < 50);
    add_value(out, d->a);
    dg_str_add(out, " -> ");
    add_value(out, d->b);
    if (d->change != 0) {
        dg_str_add(out, d->change > 0 ? "  +" : "  ");
        dg_str_fixed(out, 100 * d->change, 1);
        dg_str_add(out, " %");
    }
    if (d->why != NULL)
        dg_str_format(out, "  (%s)", d->why);
    dg_str_addc(out, '\n');
}

/* What is no number has changed altogether. */
static double weight(const struct dg_difference *d)
{
    return d->change != 0 ? fabs(d->change) : HUGE_VAL;
}

/* The row that has changed most among those of a verdict, behind row `last` (NULL: the first). */
static const struct dg_difference *next_most(const struct dg_comparison *c, enum dg_verdict verdict,
                                             const struct dg_difference *last)
{
    const struct dg_difference *best = NULL;
    for (const struct dg_difference *d = c->row; d < c->row + c->count; d++) {
        bool behind = last == NULL || weight(d) < weight(last) ||
                      (weight(d) == weight(last) && d > last);
        if (d->verdict == verdict && behind && (best == NULL || weight(d) > weight(best)))
            best = d;
    }
    return best;
}

static void add_verdict(struct dg_str *out, const struct dg_comparison *c, enum dg_verdict verdict,
                        bool all)
{
    enum { SHOWN = 6 };
    const struct dg_difference *d = NULL;
    for (size_t i = 0; all && i < c->count; i++)
        if (c->row[i].verdict == verdict)
            add_row(out, &c->row[i]);
    if (all || verdict == DG_WITHIN_NOISE)
        return;
    for (int i = 0; i < SHOWN && (d = next_most(c, verdict, d)) != NULL; i++)
        add_row(out, d);
    if (c->of[verdict] > SHOWN)
        dg_str_format(out, "%-14s ... and %zu more; --all prints them\n",
                      dg_verdict_names[verdict], c->of[verdict] - SHOWN);
}

void dg_compare_print(const struct dg_comparison *c, bool all, struct dg_str *out)
{
    for (int verdict = 0; verdict < DG_VERDICT_COUNT; verdict++)
        add_verdict(out, c, (enum dg_verdict)verdict, all);
    for (int verdict = 0; verdict < DG_VERDICT_COUNT; verdict++)
        dg_str_format(out, "%s%zu %s", verdict == 0 ? "" : ", ", c->of[verdict],
                      dg_verdict_names[verdict]);
    dg_str_addc(out, '\n');
}

static void add_member(struct dg_str *out, const char *name, const char *text)
{
    dg_str_format(out, "\"%s\": ", name);
    if (text != NULL)
        dg_str_quoted(out, text);
    else
        dg_str_add(out, "null");
}

void dg_compare_json(const struct dg_comparison *c, const char *name_a, const char *name_b,
                     const char *other_chip, struct dg_str *out)
{
    dg_str_add(out, "{\n  \"schema\": \"deepgemm-compare/1\",\n  ");
    add_member(out, "a", name_a);
    dg_str_add(out, ",\n  ");
    add_member(out, "b", name_b);
    dg_str_add(out, ",\n  ");
    add_member(out, "other_chip", other_chip);
    dg_str_add(out, ",\n  \"counts\": {");
    for (int verdict = 0; verdict < DG_VERDICT_COUNT; verdict++)
        dg_str_format(out, "%s\"%s\": %zu", verdict == 0 ? "" : ", ", dg_verdict_names[verdict],
                      c->of[verdict]);
    dg_str_add(out, "},\n  \"fields\": [");
    for (size_t i = 0; i < c->count; i++) {
        const struct dg_difference *d = &c->row[i];
        dg_str_add(out, i == 0 ? "\n    {" : ",\n    {");
        add_member(out, "key", d->key);
        dg_str_add(out, ", \"a\": ");
        add_value(out, d->a);
        dg_str_add(out, ", \"b\": ");
        add_value(out, d->b);
        dg_str_add(out, ", \"change\": ");
        dg_str_double(out, d->change);
        dg_str_add(out, ", ");
        add_member(out, "verdict", dg_verdict_names[d->verdict]);
        if (d->why != NULL) {
            dg_str_add(out, ", ");
            add_member(out, "why", d->why);
        }
        dg_str_addc(out, '}');
    }
    dg_str_add(out, "\n  ]\n}\n");
}
