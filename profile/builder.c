/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/builder.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "profile/reading.h"

struct builder {
    const struct dg_build *build;
    struct dg_arena *arena;
    struct dg_answer *answers;   /* sorted; grows to capacity */
    size_t count, capacity;
    struct dg_profile *out;
    struct dg_error *e;
};

static bool wrong(struct builder *b, const char *key, const char *rule, const char *value)
{
    return dg_fail(b->e, DG_EXIT_INTERNAL, key, rule, value,
                   "this is a mistake in the probe that gave the answer; please report it");
}

static bool no_memory(struct builder *b)
{
    return dg_fail_memory(b->e, "profile");
}

static struct dg_answer *find(struct builder *b, const char *key)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->answers[i].key, key) == 0)
            return &b->answers[i];
    return NULL;
}

static bool empties(enum dg_status status)
{
    return status == DG_UNAVAILABLE || status == DG_UNRELIABLE;
}

/* Against the row of its field or family. */
static bool check(struct builder *b, const struct dg_answer *a)
{
    static const enum dg_value_kind kinds[] = {
        [DG_TYPE_INTEGER] = DG_VALUE_NUMBER, [DG_TYPE_POW2] = DG_VALUE_NUMBER,
        [DG_TYPE_NUMBER] = DG_VALUE_NUMBER, [DG_TYPE_TEXT] = DG_VALUE_TEXT,
        [DG_TYPE_LIST] = DG_VALUE_LIST,
    };
    const struct dg_field *field = dg_field_of(a->key);
    char rule[192], text[DG_NUMBER_SIZE];
    if (field == NULL)
        return wrong(b, a->key, "is not a key of a hardware file", a->key);
    if (a->unit == NULL || strcmp(a->unit, field->unit) != 0)
        return wrong(b, a->key, "has the wrong unit", a->unit != NULL ? a->unit : "none");
    if (empties(a->status))
        return (a->reason != NULL && a->help != NULL) ||
               wrong(b, a->key, "needs reason and help", dg_status_names[a->status]);
    if (a->value.kind != kinds[field->type])
        return wrong(b, a->key, "has the wrong type of value", dg_status_names[a->status]);
    if (a->value.kind != DG_VALUE_NUMBER)
        return true;
    dg_write_double(text, a->value.number);
    if (dg_value_rule(field, a->value.number, rule, sizeof rule) != NULL)
        return wrong(b, a->key, rule, text);
    return (a->low <= a->value.number && a->value.number <= a->high) ||
           wrong(b, a->key, "lies outside its interval", text);
}

static bool take_answers(struct builder *b)
{
    b->capacity = b->build->answer_count + DG_FIELD_COUNT;
    b->answers = dg_alloc_array(b->arena, b->capacity, sizeof *b->answers);
    if (b->answers == NULL)
        return no_memory(b);
    for (size_t i = 0; i < b->build->answer_count; i++) {
        const struct dg_answer *a = &b->build->answers[i];
        if (!check(b, a))
            return false;
        b->answers[b->count] = *a;
        if (empties(a->status))
            b->answers[b->count].value = (struct dg_value){ .kind = DG_VALUE_NULL };
        b->count++;
    }
    dg_answers_sort(b->answers, b->count);
    for (size_t i = 1; i < b->count; i++)
        if (strcmp(b->answers[i - 1].key, b->answers[i].key) == 0)
            return wrong(b, b->answers[i].key, "has two answers", "");
    return true;
}

static bool check_facts(struct builder *b)
{
    for (size_t i = 0; i < b->build->fact_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(b->build->facts[i].key, b->build->facts[j].key) == 0)
                return wrong(b, b->build->facts[i].key, "has two facts", "");
    return true;
}

/* The scalar from the cell that says the same, times factor. */
static void derive(struct builder *b, const char *key, const struct dg_answer *from,
                   double factor, const char *method)
{
    const struct dg_field *field = dg_field_of(key);
    char rule[192];
    if (from == NULL || from->value.kind != DG_VALUE_NUMBER || find(b, key) != NULL ||
        dg_value_rule(field, from->value.number * factor, rule, sizeof rule) != NULL)
        return;
    struct dg_answer a = *from;
    a.key = field->key;
    a.unit = field->unit;
    a.value.number *= factor;
    a.low *= factor;
    a.high *= factor;
    a.status = DG_DERIVED;
    a.method = method;
    a.claims = NULL;
    a.claim_count = 0;
    b->answers[b->count++] = a;
}

/* The widest measured f32 multiply-add's latency through its accumulate operand. */
static const struct dg_answer *widest_fma(struct builder *b)
{
    char key[64];
    for (unsigned bits = 2048; bits >= 64; bits /= 2) {
        dg_format(key, sizeof key, "op.fma.f32.%u.acc_latency", bits);
        const struct dg_answer *a = find(b, key);
        if (a != NULL && a->value.kind == DG_VALUE_NUMBER)
            return a;
    }
    return NULL;
}

static void derive_scalars(struct builder *b)
{
    const struct dg_answer *clock = find(b, "clock_hz"), *l2 = find(b, "bw.l2.read.1");
    derive(b, "fma_latency", widest_fma(b), 1, "acc_latency of the widest f32 multiply-add");
    derive(b, "memory_bandwidth_gbps", find(b, "bw.dram.triad.all"), 1, "bw.dram.triad.all");
    derive(b, "l2_to_dram_bandwidth_gbps", find(b, "bw.dram.read.1"), 1, "bw.dram.read.1");
    if (clock != NULL && clock->value.kind == DG_VALUE_NUMBER)
        derive(b, "l1_to_l2_bandwidth_gbps", l2, dg_round_digits(clock->value.number, 2) / 1e9,
               "bw.l2.read.1 times clock_hz");
}

static void fill_scalars(struct builder *b)
{
    for (size_t i = 0; i < DG_FIELD_COUNT; i++) {
        if (find(b, dg_fields[i].key) != NULL)
            continue;
        b->answers[b->count++] = (struct dg_answer){
            .key = dg_fields[i].key, .unit = dg_fields[i].unit, .status = DG_UNAVAILABLE,
            .reason = "not probed", .help = "run the probe that provides it, or type a value",
        };
    }
}

/* Entries from answers; those without a value stand as null. */
static bool make_entries(struct builder *b)
{
    struct dg_entry *entries = dg_alloc_array(b->arena, b->count + 2, sizeof *entries);
    if (entries == NULL)
        return no_memory(b);
    entries[0] = (struct dg_entry){ "name", { .kind = DG_VALUE_TEXT, .text = b->build->name } };
    entries[1] = (struct dg_entry){ "architecture", { .kind = DG_VALUE_TEXT,
                                                      .text = b->build->architecture } };
    for (size_t i = 0; i < b->count; i++)
        entries[i + 2] = (struct dg_entry){
            b->answers[i].key, dg_flat_value(dg_field_of(b->answers[i].key), &b->answers[i]) };
    dg_entries_sort(entries, b->count + 2);
    b->out->entries = entries;
    b->out->entry_count = b->count + 2;
    b->out->measurements = b->answers;
    b->out->measurement_count = b->count;
    return true;
}

/* Takes back measured values until none contradicts another. */
static bool settle(struct builder *b)
{
    for (size_t round = 0; round <= b->capacity; round++) {
        struct dg_contradiction broken;
        b->out->warnings = NULL;
        b->out->warning_count = 0;
        if (!make_entries(b) || !dg_rules_check(b->out, b->arena, &broken))
            return no_memory(b);
        if (broken.key == NULL)
            return true;
        struct dg_answer *a = find(b, broken.doubted);
        char text[320];
        dg_format(text, sizeof text, "contradicts another measured value: %s: %s", broken.rule,
                  broken.value);
        a->value = (struct dg_value){ .kind = DG_VALUE_NULL };
        a->status = DG_UNRELIABLE;
        a->reason = dg_strdup(b->arena, text);
        a->help = "probe again on a quiet machine";
        if (a->reason == NULL)
            return no_memory(b);
    }
    return true;
}

static bool take_names(struct builder *b)
{
    const char *name = b->build->name, *architecture = b->build->architecture;
    if (name == NULL || name[0] == '\0' || strlen(name) > 63)
        return wrong(b, "name", "must be a text of 1 to 63 bytes", name != NULL ? name : "none");
    for (size_t i = 0; architecture != NULL && i < dg_architecture_count; i++)
        if (strcmp(dg_architectures[i], architecture) == 0)
            return true;
    return wrong(b, "architecture", "is not a known architecture",
                 architecture != NULL ? architecture : "none");
}

bool dg_profile_build(const struct dg_build *build, struct dg_arena *arena,
                      struct dg_profile *out, struct dg_error *e)
{
    struct builder b = { .build = build, .arena = arena, .out = out, .e = e };
    *out = (struct dg_profile){ .environment = build->facts,
                                .environment_count = build->fact_count };
    if (!take_names(&b) || !check_facts(&b) || !take_answers(&b))
        return false;
    derive_scalars(&b);
    fill_scalars(&b);
    dg_answers_sort(b.answers, b.count);
    return settle(&b);
}
