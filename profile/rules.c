/* SPDX-License-Identifier: Apache-2.0
 *
 * Values that contradict each other. When all of them were measured the file is wrong; when one
 * was typed by hand, it is a warning: people start conservative and open up step by step. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "profile/reading.h"

enum relation {
    PRODUCT,                     /* a = b x c */
    MULTIPLE,                    /* a is a multiple of b */
    AT_MOST,                     /* a <= b */
    AT_MOST_NEARLY,              /* a <= b, with a tenth for the reading of a curve */
};

static const struct rule { enum relation relation; const char *a, *b, *c; } rules[] = {
#define LEVEL(level) \
    { PRODUCT, #level "_size", #level "_ways", #level "_set_stride" }, \
    { MULTIPLE, #level "_size", #level "_line_size", NULL }, \
    { MULTIPLE, #level "_set_stride", #level "_line_size", NULL }, \
    { AT_MOST_NEARLY, #level "_effective_size", #level "_size", NULL },
    LEVEL(l1) LEVEL(l1i) LEVEL(l2) LEVEL(l3)
#undef LEVEL
    { AT_MOST, "l1_size", "l2_size", NULL },
    { AT_MOST, "l1_latency", "l2_latency", NULL },
    { AT_MOST_NEARLY, "l2_to_dram_bandwidth_gbps", "l1_to_l2_bandwidth_gbps", NULL },
};

static bool holds(enum relation relation, double a, double b, double c)
{
    switch (relation) {
    case PRODUCT: return a == b * c;
    case MULTIPLE: return fmod(a, b) == 0;
    case AT_MOST: return a <= b;
    default: return a <= 1.1 * b;
    }
}

static void describe(const struct rule *rule, const double *v, struct dg_contradiction *out)
{
    char n[3][DG_NUMBER_SIZE];
    for (unsigned i = 0; i < 3; i++)
        dg_write_double(n[i], v[i]);
    out->key = rule->a;
    out->doubted = rule->relation == AT_MOST || rule->relation == AT_MOST_NEARLY ? rule->a :
                   rule->c != NULL ? rule->c : rule->b;
    if (rule->relation == PRODUCT) {
        dg_format(out->rule, sizeof out->rule, "%s must be %s x %s", rule->a, rule->b, rule->c);
        dg_format(out->value, sizeof out->value, "%s is not %s x %s", n[0], n[1], n[2]);
    } else {
        dg_format(out->rule, sizeof out->rule, rule->relation == MULTIPLE ?
                  "%s must be a multiple of %s" : "%s must not exceed %s", rule->a, rule->b);
        dg_format(out->value, sizeof out->value, "%s and %s", n[0], n[1]);
    }
}

static bool is_measured(const struct dg_profile *profile, const char *key)
{
    const struct dg_answer *evidence = dg_profile_evidence(profile, key);
    return evidence != NULL &&
           (evidence->status == DG_MEASURED || evidence->status == DG_DERIVED);
}

bool dg_warn(struct dg_profile *profile, struct dg_arena *arena, const char *text)
{
    const char **more = dg_alloc_array(arena, profile->warning_count + 1, sizeof *more);
    char *copy = dg_strdup(arena, text);
    if (more == NULL || copy == NULL)
        return false;
    for (size_t i = 0; i < profile->warning_count; i++)
        more[i] = profile->warnings[i];
    more[profile->warning_count++] = copy;
    profile->warnings = more;
    return true;
}

/* True when all three (two) values are there. */
static bool values_of(const struct dg_profile *profile, const struct rule *rule, double *v)
{
    const char *const keys[3] = { rule->a, rule->b, rule->c };
    for (unsigned i = 0; i < 3; i++) {
        v[i] = keys[i] == NULL ? 0 : dg_profile_number(profile, keys[i], NAN);
        if (isnan(v[i]))
            return false;
    }
    return true;
}

bool dg_rules_check(struct dg_profile *profile, struct dg_arena *arena,
                    struct dg_contradiction *broken)
{
    broken->key = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        double v[3];
        if (!values_of(profile, rule, v) || holds(rule->relation, v[0], v[1], v[2]))
            continue;
        struct dg_contradiction found;
        describe(rule, v, &found);
        if (is_measured(profile, rule->a) && is_measured(profile, rule->b) &&
            (rule->c == NULL || is_measured(profile, rule->c))) {
            *broken = found;
            return true;
        }
        char text[320];
        dg_format(text, sizeof text, "%s: %s", found.rule, found.value);
        if (!dg_warn(profile, arena, text))
            return false;
    }
    return true;
}
