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

/* Bits of the widest vector that a feature brings. Where the list names none of them, or one whose
 * vectors have no fixed width, nothing is known. */
static double widest_vector(const struct dg_profile *profile)
{
    static const struct { const char *feature; double bits; } rows[] = {
        { "sse2", 128 }, { "asimd", 128 }, { "avx", 256 }, { "avx512f", 512 }, { "sve", 0 },
    };
    const struct dg_value *isa = dg_profile_find(profile, "isa");
    double widest = 0;
    for (size_t i = 0; isa != NULL && isa->kind == DG_VALUE_LIST && i < isa->list_count; i++)
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++)
            if (strcmp(isa->list[i], rows[j].feature) == 0) {
                if (rows[j].bits == 0)
                    return 0;
                widest = fmax(widest, rows[j].bits);
            }
    return widest;
}

/* True: it fits, or a warning was noted. */
static bool vectors_fit(struct dg_profile *profile, struct dg_arena *arena,
                        struct dg_contradiction *broken, bool *memory)
{
    double bits = dg_profile_number(profile, "vector_bits", 0), widest = widest_vector(profile);
    char text[320];
    *memory = true;
    if (widest == 0 || bits <= widest)
        return true;
    struct dg_contradiction found = { .key = "vector_bits", .doubted = "isa" };
    dg_format(found.rule, sizeof found.rule, "vector_bits must not exceed what isa lists");
    dg_format(found.value, sizeof found.value, "%u, while the widest vectors of isa have %u",
              (unsigned)bits, (unsigned)widest);
    if (is_measured(profile, "vector_bits") && is_measured(profile, "isa")) {
        *broken = found;
        return false;
    }
    dg_format(text, sizeof text, "%s: %s", found.rule, found.value);
    *memory = dg_warn(profile, arena, text);
    return true;
}

/* The planner counts a resource by its users: a capacity alone changes nothing. */
static bool users_given(struct dg_profile *profile, struct dg_arena *arena)
{
    static const char end[] = ".capacity";
    for (size_t i = 0; i < profile->entry_count; i++) {
        const char *key = profile->entries[i].key;
        size_t length = strlen(key), tail = sizeof end - 1;
        char users[128], text[320];
        if (profile->entries[i].value.kind == DG_VALUE_NULL || strncmp(key, "res.", 4) != 0 ||
            length <= tail || strcmp(key + length - tail, end) != 0)
            continue;
        dg_format(users, sizeof users, "%s", key);
        if (length >= sizeof users)
            continue;
        dg_format(users + length - tail, sizeof users - (length - tail), ".users");
        if (dg_profile_find(profile, users) != NULL)
            continue;
        dg_format(text, sizeof text, "%s has no effect without %s: add the operations that use it, "
                  "as [\"fma.f32.256:1.0\"]", key, users);
        if (!dg_warn(profile, arena, text))
            return false;
    }
    return true;
}

bool dg_rules_check(struct dg_profile *profile, struct dg_arena *arena,
                    struct dg_contradiction *broken)
{
    bool memory;
    broken->key = NULL;
    if (!vectors_fit(profile, arena, broken, &memory))
        return true;
    if (!memory || !users_given(profile, arena))
        return false;
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
