/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/merge.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "base/str.h"
#include "profile/builder.h"
#include "profile/compare.h"
#include "profile/reading.h"
#include "profile/render.h"

struct merge {
    const struct dg_merge_file *files;
    size_t count;
    struct dg_arena *arena;
    struct dg_answer *answers;
    size_t answer_count;
    const char **outliers;
    size_t outlier_count, outlier_capacity;
    bool failed;                         /* out of memory */
};

/* One key in the files that know it. */
struct column {
    const char *key;
    const struct dg_field *field;
    struct dg_answer *answer;            /* with value, low and high; by file */
    size_t *file;
    size_t count;
    const struct dg_answer *unknown;     /* of a file that says why there is none, or NULL */
};

/* ---- outliers ---- */

static void note_outlier(struct merge *m, const struct column *c, size_t i,
                         const struct dg_value *usual)
{
    struct dg_str text;
    if (m->outlier_count == m->outlier_capacity) {
        size_t more = m->outlier_capacity == 0 ? 64 : 2 * m->outlier_capacity;
        const char **fresh = dg_alloc_array(m->arena, more, sizeof *fresh);
        if (fresh == NULL) {
            m->failed = true;
            return;
        }
        if (m->outlier_count > 0)
            memcpy(fresh, m->outliers, m->outlier_count * sizeof *fresh);
        m->outliers = fresh;
        m->outlier_capacity = more;
    }
    dg_str_init(&text, m->arena);
    dg_str_format(&text, "%s %s ", c->key, m->files[c->file[i]].label);
    dg_render_value(&text, &c->answer[i].value);
    dg_str_add(&text, c->field->discrete ? ", most " : ", median ");
    dg_render_value(&text, usual);
    m->failed |= text.failed;
    m->outliers[m->outlier_count++] = dg_str_text(&text);
}

/* ---- a key's values to one ---- */

static double median_of(double *x, size_t count, bool whole)
{
    dg_sort_doubles(x, count);
    if (count % 2 == 1 || whole)
        return x[(count - 1) / 2];
    return (x[count / 2 - 1] + x[count / 2]) / 2;
}

static void unreliable(struct dg_answer *out, const char *reason)
{
    out->value = (struct dg_value){ .kind = DG_VALUE_NULL };
    out->status = DG_UNRELIABLE;
    out->reason = reason;
    out->help = "look at the machines that stand apart, and merge those that are alike";
}

static void merge_numbers(struct merge *m, const struct column *c, struct dg_answer *out)
{
    double *x = dg_alloc_array(m->arena, c->count, sizeof *x);
    double *apart = dg_alloc_array(m->arena, c->count, sizeof *apart);
    if (x == NULL || apart == NULL) {
        m->failed = true;
        return;
    }
    for (size_t i = 0; i < c->count; i++)
        x[i] = c->answer[i].value.number;
    double median = median_of(x, c->count, c->field->type != DG_TYPE_NUMBER);
    for (size_t i = 0; i < c->count; i++)
        apart[i] = fabs(c->answer[i].value.number - median);
    /* the median deviation of a normal distribution is 1/1.4826 of its standard deviation */
    double usual = 3.5 * 1.4826 * median_of(apart, c->count, false);
    double allowed = fmax(usual, dg_noise_of(c->field->unit) * fabs(median));
    out->value = (struct dg_value){ .kind = DG_VALUE_NUMBER, .number = median };
    out->low = out->high = median;
    for (size_t i = 0; i < c->count; i++) {
        if (fabs(c->answer[i].value.number - median) > allowed) {
            note_outlier(m, c, i, &out->value);
            continue;
        }
        out->low = fmin(out->low, c->answer[i].low);
        out->high = fmax(out->high, c->answer[i].high);
    }
}

/* The value that most give; *votes: how many. */
static size_t most_given(const struct column *c, size_t *votes)
{
    size_t best = 0;
    *votes = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < c->count; j++)
            same += dg_value_equal(&c->answer[i].value, &c->answer[j].value);
        if (same > *votes) {
            *votes = same;
            best = i;
        }
    }
    return best;
}

static void merge_equals(struct merge *m, const struct column *c, struct dg_answer *out)
{
    size_t votes, best = most_given(c, &votes);
    out->value = c->answer[best].value;
    out->low = c->answer[best].low;
    out->high = c->answer[best].high;
    for (size_t i = 0; i < c->count && c->field->discrete; i++)
        if (!dg_value_equal(&c->answer[i].value, &out->value))
            note_outlier(m, c, i, &out->value);
    if (3 * votes < 2 * c->count)
        unreliable(out, "the machines give different values");
}

static bool list_has(const struct dg_value *list, const char *text)
{
    for (size_t i = 0; i < list->list_count; i++)
        if (strcmp(list->list[i], text) == 0)
            return true;
    return false;
}

/* What every machine can do. */
static void merge_isa(struct merge *m, const struct column *c, struct dg_answer *out)
{
    const struct dg_value *first = &c->answer[0].value;
    const char **list = dg_alloc_array(m->arena, first->list_count + 1, sizeof *list);
    size_t count = 0;
    m->failed |= list == NULL;
    for (size_t k = 0; list != NULL && k < first->list_count; k++) {
        bool all = true;
        for (size_t i = 1; i < c->count; i++)
            all &= list_has(&c->answer[i].value, first->list[k]);
        if (all)
            list[count++] = first->list[k];
    }
    out->value = (struct dg_value){ .kind = DG_VALUE_LIST, .list = list, .list_count = count };
    for (size_t i = 0; i < c->count; i++)
        if (c->answer[i].value.list_count != count)
            note_outlier(m, c, i, &out->value);
}

static enum dg_status status_of(const struct column *c)
{
    enum dg_status status = DG_MEASURED;
    for (size_t i = 0; i < c->count; i++)
        if (c->answer[i].status > status)
            status = c->answer[i].status;
    return status;
}

static const char *method_of(struct merge *m, const struct column *c)
{
    struct dg_str text;
    dg_str_init(&text, m->arena);
    dg_str_format(&text, "%s of %zu machines, %zu of which know it",
                  c->field->discrete ? "most" : "median", m->count, c->count);
    m->failed |= text.failed;
    return dg_str_text(&text);
}

static void merge_column(struct merge *m, const struct column *c)
{
    struct dg_answer out = { .key = c->key, .unit = c->field->unit, .confidence = 1 };
    if (c->count == 0) {
        if (c->unknown == NULL)
            return;
        out = *c->unknown;
        out.claim_count = 0;
        out.reason = out.reason != NULL ? out.reason : "no machine gives a value";
        out.help = out.help != NULL ? out.help : "probe again on a quiet machine";
        m->answers[m->answer_count++] = out;
        return;
    }
    out.status = status_of(c);
    out.method = method_of(m, c);
    for (size_t i = 0; i < c->count; i++) {
        out.samples += c->answer[i].samples;
        out.confidence = fmin(out.confidence, c->answer[i].confidence);
    }
    if (strcmp(c->key, "isa") == 0)
        merge_isa(m, c, &out);
    else if (!c->field->discrete && c->answer[0].value.kind == DG_VALUE_NUMBER)
        merge_numbers(m, c, &out);
    else
        merge_equals(m, c, &out);
    m->answers[m->answer_count++] = out;
}

/* ---- all keys ---- */

/* Evidence where it stands behind the flat value, which is rounded. */
static struct dg_answer answer_of(const struct dg_profile *p, const char *key,
                                  const struct dg_value *value)
{
    const struct dg_answer *a = dg_profile_evidence(p, key);
    double number = value->kind == DG_VALUE_NUMBER ? value->number : 0;
    if (a != NULL && a->value.kind == value->kind && a->status != DG_ASSERTED)
        return *a;
    return (struct dg_answer){ .key = key, .value = *value, .low = number, .high = number,
                               .confidence = a != NULL ? a->confidence : 0,
                               .status = DG_ASSERTED };
}

static bool take_column(struct merge *m, const char *key)
{
    struct column c = { .key = key, .field = dg_field_of(key),
                        .answer = dg_alloc_array(m->arena, m->count, sizeof *c.answer),
                        .file = dg_alloc_array(m->arena, m->count, sizeof *c.file) };
    if (c.answer == NULL || c.file == NULL)
        return false;
    for (size_t i = 0; i < m->count; i++) {
        const struct dg_profile *p = &m->files[i].profile;
        const struct dg_value *value = dg_profile_find(p, key);
        if (value == NULL) {
            c.unknown = c.unknown != NULL ? c.unknown : dg_profile_evidence(p, key);
            continue;
        }
        c.file[c.count] = i;
        c.answer[c.count++] = answer_of(p, key, value);
    }
    if (c.field != NULL)                 /* name and architecture are not fields */
        merge_column(m, &c);
    return !m->failed;
}

/* Keys in order, each once: the least that stands in any file behind the last one. */
static const char *next_key(const struct merge *m, size_t *at)
{
    const char *least = NULL;
    for (size_t i = 0; i < m->count; i++) {
        const struct dg_profile *p = &m->files[i].profile;
        if (at[i] < p->entry_count &&
            (least == NULL || strcmp(p->entries[at[i]].key, least) < 0))
            least = p->entries[at[i]].key;
    }
    for (size_t i = 0; least != NULL && i < m->count; i++) {
        const struct dg_profile *p = &m->files[i].profile;
        const char *key = at[i] < p->entry_count ? p->entries[at[i]].key : NULL;
        at[i] += key != NULL && strcmp(key, least) == 0;
    }
    return least;
}

static bool take_all(struct merge *m)
{
    size_t most = 0, *at = dg_alloc_array(m->arena, m->count, sizeof *at);
    const char *key;
    for (size_t i = 0; i < m->count; i++)
        most += m->files[i].profile.entry_count;
    m->answers = dg_alloc_array(m->arena, most, sizeof *m->answers);
    if (at == NULL || m->answers == NULL)
        return false;
    while ((key = next_key(m, at)) != NULL)
        if (!take_column(m, key))
            return false;
    return true;
}

/* ---- environment ---- */

static bool equal_in_all(const struct merge *m, const struct dg_fact *fact)
{
    for (size_t i = 1; i < m->count; i++) {
        const struct dg_value *other = dg_profile_fact(&m->files[i].profile, fact->key);
        if (other == NULL || !dg_value_equal(other, &fact->value))
            return false;
    }
    return true;
}

static bool take_environment(const struct merge *m, struct dg_build *build)
{
    const struct dg_profile *first = &m->files[0].profile;
    struct dg_fact *facts = dg_alloc_array(m->arena, first->environment_count + 2, sizeof *facts);
    size_t count = 0;
    if (facts == NULL)
        return false;
    for (size_t i = 0; i < first->environment_count; i++) {
        const struct dg_fact *fact = &first->environment[i];
        if (strcmp(fact->key, "machines") != 0 && strcmp(fact->key, "outliers") != 0 &&
            equal_in_all(m, fact))
            facts[count++] = *fact;
    }
    facts[count++] = (struct dg_fact){
        .key = "machines", .value = { .kind = DG_VALUE_NUMBER, .number = (double)m->count } };
    if (m->outlier_count > 0)
        facts[count++] = (struct dg_fact){
            .key = "outliers", .value = { .kind = DG_VALUE_LIST, .list = m->outliers,
                                          .list_count = m->outlier_count } };
    build->facts = facts;
    build->fact_count = count;
    return true;
}

bool dg_profile_merge(const struct dg_merge_file *files, size_t count, const char *name,
                      struct dg_arena *arena, struct dg_profile *out, struct dg_error *e)
{
    struct merge m = { .files = files, .count = count, .arena = arena };
    const struct dg_profile *first = &files[0].profile;
    struct dg_build build = {
        .name = name != NULL ? name : dg_profile_text(first, "name"),
        .architecture = dg_profile_text(first, "architecture") };
    for (size_t i = 1; i < count; i++) {
        const char *other = dg_profile_other_chip(first, &files[i].profile, arena);
        if (other != NULL)
            return dg_fail(e, DG_EXIT_INPUT, files[i].path, "must be of the same chip as the first "
                           "file", other, "merge the files of each chip by themselves");
    }
    if (!take_all(&m) || !take_environment(&m, &build))
        return dg_fail_memory(e, "");
    build.answers = m.answers;
    build.answer_count = m.answer_count;
    return dg_profile_build(&build, arena, out, e);
}
