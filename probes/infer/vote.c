/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/vote.h"

#include <math.h>
#include <string.h>

#include "probes/infer/stats.h"

enum { MOST = 64 };

static bool same_list(const struct dg_value *a, const struct dg_value *b)
{
    if (a->list_count != b->list_count)
        return false;
    for (size_t i = 0; i < a->list_count; i++)
        if (strcmp(a->list[i], b->list[i]) != 0)
            return false;
    return true;
}

static bool agree(const struct dg_vote_rule *rule, const struct dg_answer *a,
                  const struct dg_answer *b)
{
    const struct dg_value *x = &a->value, *y = &b->value;
    if (x->kind != y->kind)
        return false;
    if (x->kind == DG_VALUE_TEXT)
        return strcmp(x->text, y->text) == 0;
    if (x->kind == DG_VALUE_LIST)
        return !rule->discrete || same_list(x, y);
    if (rule->discrete)
        return x->number == y->number;
    return dg_near(x->number, y->number, rule->tolerance) ||
           fabs(x->number - y->number) <= rule->floor;
}

static bool has_value(const struct dg_answer *a)
{
    return a->value.kind != DG_VALUE_NULL;
}

/* Repeats that agree with the i-th, itself among them. */
static size_t supporters(const struct dg_vote_rule *rule, const struct dg_answer *r, size_t count,
                         size_t i)
{
    size_t with = 0;
    for (size_t j = 0; j < count && has_value(&r[i]); j++)
        with += has_value(&r[j]) && agree(rule, &r[i], &r[j]);
    return with;
}

/* The repeat that most others agree with, or the largest that enough agree with; ties: the later
 * one, nearer to a warm machine. */
static size_t best_repeat(const struct dg_vote_rule *rule, const struct dg_answer *r, size_t count,
                          size_t *support)
{
    size_t best = count;
    *support = 0;
    for (size_t i = 0; i < count; i++) {
        size_t with = supporters(rule, r, count, i);
        bool better = with >= *support;
        if (rule->fastest && with >= rule->needed && *support >= rule->needed)
            better = r[i].value.number >= r[best].value.number;
        if (with > 0 && better) {
            *support = with;
            best = i;
        }
    }
    return best;
}

/* The middle of the repeats that agree, and the middle of their quartiles: what one repeat's noise
 * makes wide stays out of it. */
static void join(const struct dg_vote_rule *rule, const struct dg_answer *r, size_t count,
                 size_t best, struct dg_answer *out)
{
    double values[MOST], lows[MOST], highs[MOST];
    size_t used = 0;
    *out = r[best];
    out->samples = 0;
    out->confidence = 1;
    for (size_t i = 0; i < count; i++) {
        if (!has_value(&r[i]) || !agree(rule, &r[best], &r[i]))
            continue;
        values[used] = r[i].value.number;
        lows[used] = r[i].low;
        highs[used++] = r[i].high;
        out->samples += r[i].samples;
        out->confidence = fmin(out->confidence, r[i].confidence);
    }
    out->confidence *= (double)used / (double)count;
    if (out->value.kind != DG_VALUE_NUMBER)
        return;
    if (!rule->discrete)
        out->value.number = dg_stat_of(values, used).median;
    if (rule->whole)
        out->value.number = ceil(out->value.number);
    out->low = fmin(out->value.number, dg_stat_of(lows, used).median);
    out->high = fmax(out->value.number, dg_stat_of(highs, used).median);
}

/* The largest of the repeats that another one comes near to; how far the middle of all stands below
 * it is the interval. */
static bool take_largest(const struct dg_vote_rule *rule, const struct dg_answer *r, size_t count,
                         struct dg_answer *out)
{
    size_t best = count, used = 0;
    unsigned long samples = 0;
    double values[MOST];
    for (size_t i = 0; i < count; i++) {
        size_t with = 0;
        if (!has_value(&r[i]))
            continue;
        values[used++] = r[i].value.number;
        samples += r[i].samples;
        for (size_t j = 0; j < count; j++)
            with += has_value(&r[j]) && agree(rule, &r[i], &r[j]);
        if (with > 1 && (best == count || r[i].value.number > r[best].value.number))
            best = i;
    }
    if (best == count)
        return false;
    struct dg_stat s = dg_stat_of(values, used);
    double value = r[best].value.number;
    *out = r[best];
    out->samples = samples;
    out->low = fmin(out->low, s.median);
    out->confidence *= fmin(value, s.median) / fmax(value, s.median);
    return true;
}

static void refuse(const struct dg_answer *r, size_t count, size_t support,
                   const struct dg_vote_rule *rule, struct dg_answer *out)
{
    *out = r[count - 1];
    for (size_t i = 0; i < count; i++)
        if (has_value(&r[i]))
            *out = r[i];
    if (!has_value(out))
        return;                                  /* never measured: its own reason stands */
    memset(&out->value, 0, sizeof out->value);
    out->status = DG_UNRELIABLE;
    out->confidence = (double)support / (double)count;
    out->reason = count < rule->needed ? "too few repeats before the budget was over"
                                       : "the repeats do not agree";
    out->help = "run again on a quiet machine, or with a larger --budget";
}

/* Not a matter of noise: asking again is no use. */
static bool all_unavailable(const struct dg_answer *r, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (r[i].status != DG_UNAVAILABLE)
            return false;
    return true;
}

bool dg_infer_vote(const struct dg_vote_rule *rule, const struct dg_answer *r, size_t count,
                   struct dg_answer *out)
{
    if (count > MOST) {
        r += count - MOST;
        count = MOST;
    }
    size_t support = 0, best = best_repeat(rule, r, count, &support);
    size_t with_value = 0;
    for (size_t i = 0; i < count; i++)
        with_value += has_value(&r[i]);
    bool often = 2 * with_value >= count && with_value >= rule->needed;
    if (rule->largest && often && take_largest(rule, r, count, out))
        return true;
    bool clearly = !rule->discrete || 3 * support >= 2 * with_value;
    if (rule->largest || !often || best == count || support < rule->needed || !clearly) {
        refuse(r, count, support, rule, out);
        return count >= rule->needed && all_unavailable(r, count);
    }
    join(rule, r, count, best, out);
    return true;
}
