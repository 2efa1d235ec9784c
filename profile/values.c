/* SPDX-License-Identifier: Apache-2.0
 *
 * One value of hardware.json: type, unit and range as fields.def says. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "profile/reading.h"

const char *const dg_status_names[DG_UNRELIABLE + 1] = {
    "measured", "derived", "claimed", "asserted", "unavailable", "unreliable",
};
const char *const dg_architectures[] = { "aarch64", "portable", "riscv64", "x86_64" };
const size_t dg_architecture_count = sizeof dg_architectures / sizeof *dg_architectures;

bool dg_value_equal(const struct dg_value *a, const struct dg_value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case DG_VALUE_NUMBER: return a->number == b->number;
    case DG_VALUE_TEXT: return strcmp(a->text, b->text) == 0;
    case DG_VALUE_LIST:
        if (a->list_count != b->list_count)
            return false;
        for (size_t i = 0; i < a->list_count; i++)
            if (strcmp(a->list[i], b->list[i]) != 0)
                return false;
        return true;
    default: return true;
    }
}

const char *dg_value_rule(const struct dg_field *field, double number, char *rule, size_t size)
{
    char low[DG_NUMBER_SIZE], high[DG_NUMBER_SIZE];
    if (!isfinite(number) || number < field->min || number > field->max) {
        dg_write_double(low, field->min);
        dg_write_double(high, field->max);
        dg_format(rule, size, "must be %s to %s %s", low, high, field->unit);
        return rule;
    }
    if (field->type == DG_TYPE_NUMBER)
        return NULL;
    uint64_t whole;
    if (!dg_double_to_u64(number, &whole)) {
        dg_format(rule, size, "must be a whole number of %s", field->unit);
        return rule;
    }
    if (field->type == DG_TYPE_POW2 && (whole & (whole - 1)) != 0) {
        dg_format(rule, size, "must be a power of two (%s)", field->unit);
        return rule;
    }
    return NULL;
}

static bool refuse_number(const struct dg_json *json, const char *pointer,
                          const struct dg_field *field, const cJSON *item, double number)
{
    char rule[192], todo[256], text[DG_NUMBER_SIZE], ignored[192];
    dg_value_rule(field, number, rule, sizeof rule);
    dg_format(todo, sizeof todo, "correct it: %s", field->title);
    double kib = number * 1024;
    if (strcmp(field->unit, "bytes") == 0 && number < field->min && number >= 4 &&
        dg_value_rule(field, kib, ignored, sizeof ignored) == NULL) {
        dg_write_double(text, kib);
        dg_format(todo, sizeof todo, "sizes are in bytes; if KiB was meant, write %s", text);
    }
    return dg_json_fail_item(json, pointer, rule, item, todo);
}

static bool read_number(const struct dg_json *json, const char *pointer,
                        const struct dg_field *field, const cJSON *item, double factor,
                        struct dg_value *out)
{
    char rule[192], todo[256];
    if (!cJSON_IsNumber(item)) {
        dg_format(rule, sizeof rule, "must be a number (%s) or null", field->unit);
        dg_format(todo, sizeof todo, "write a plain number in %s, without quotes, or null",
                  field->unit);
        return dg_json_fail_item(json, pointer, rule, item, todo);
    }
    double number = item->valuedouble * factor;
    if (dg_value_rule(field, number, rule, sizeof rule) != NULL)
        return refuse_number(json, pointer, field, item, number);
    *out = (struct dg_value){ .kind = DG_VALUE_NUMBER, .number = number };
    return true;
}

static bool no_memory(const struct dg_json *json, const char *pointer)
{
    return dg_fail_memory(json->e, pointer);
}

static bool read_text(const struct dg_json *json, const char *pointer, const cJSON *item,
                      struct dg_value *out)
{
    if (!cJSON_IsString(item) || item->valuestring[0] == '\0' || strlen(item->valuestring) > 1023)
        return dg_json_fail_item(json, pointer, "must be a text of 1 to 1023 bytes, or null", item,
                                 "write it in quotes");
    *out = (struct dg_value){ .kind = DG_VALUE_TEXT,
                              .text = dg_strdup(json->arena, item->valuestring) };
    return out->text != NULL || no_memory(json, pointer);
}

static bool read_list(const struct dg_json *json, const char *pointer, const cJSON *item,
                      struct dg_value *out)
{
    if (!cJSON_IsArray(item))
        return dg_json_fail_item(json, pointer, "must be a list of texts, or null", item,
                                 "write [\"one\", \"two\"]");
    size_t count = (size_t)cJSON_GetArraySize(item), i = 0;
    const char **list = dg_alloc_array(json->arena, count + 1, sizeof *list);
    const cJSON *element;
    if (list == NULL)
        return no_memory(json, pointer);
    cJSON_ArrayForEach(element, item) {
        struct dg_value text = { .text = NULL };
        char inner[DG_POINTER_SIZE], index[24];
        dg_format(index, sizeof index, "%zu", i);
        dg_pointer_add(inner, pointer, index);
        if (!read_text(json, inner, element, &text))
            return false;
        for (size_t j = 0; j < i; j++) {
            assert(list[j] != NULL && text.text != NULL);
            if (strcmp(list[j], text.text) == 0)
                return dg_json_fail_item(json, inner, "stands twice in the list", element,
                                         "remove one of the two");
        }
        list[i++] = text.text;
    }
    *out = (struct dg_value){ .kind = DG_VALUE_LIST, .list = list, .list_count = count };
    return true;
}

static const char *skip(const char *text, const char *allowed)
{
    return text + strspn(text, allowed);
}

/* OPERATION.TYPE.BITS:UNITS; the pattern in schema.c says the same. */
static bool is_user(const char *text)
{
    static const char digits[] = "0123456789", letters[] = "abcdefghijklmnopqrstuvwxyz";
    static const char name[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const char *type = skip(text, name), *bits, *units, *end;
    if (strspn(text, letters) == 0 || *type++ != '.' || strspn(type, letters) == 0)
        return false;
    bits = skip(type, name);
    if (*bits++ != '.' || (units = skip(bits, digits)) == bits || *units++ != ':' ||
        (end = skip(units, digits)) == units)
        return false;
    if (*end == '.' && strspn(end + 1, digits) > 0)
        end = skip(end + 1, digits);
    return *end == '\0';
}

/* The planner would take what it cannot read for "uses nothing" and promise too much. */
static bool check_users(const struct dg_json *json, const char *pointer, const cJSON *item,
                        const struct dg_value *value)
{
    for (size_t i = 0; i < value->list_count; i++) {
        char inner[DG_POINTER_SIZE], index[24];
        if (is_user(value->list[i]))
            continue;
        dg_format(index, sizeof index, "%zu", i);
        dg_pointer_add(inner, pointer, index);
        return dg_json_fail_item(json, inner, "must be OPERATION.TYPE.BITS:UNITS",
                                 cJSON_GetArrayItem(item, (int)i),
                                 "write it like fma.f32.256:1.0");
    }
    return true;
}

/* A number of a CPU; false: none, or one that no machine has. */
static bool take_cpu(const char **text, unsigned *out)
{
    size_t digits = strspn(*text, "0123456789");
    *out = 0;
    if (digits == 0 || digits > 5 || (digits > 1 && **text == '0'))
        return false;
    for (; digits > 0; digits--)
        *out = *out * 10 + (unsigned)(*(*text)++ - '0');
    return true;
}

/* Numbers and ranges, ascending, as the system writes them; the pattern in schema.c says less. */
static bool is_cpus(const char *text)
{
    for (unsigned first, last, next = 0;; next = last + 1) {
        if (!take_cpu(&text, &first))
            return false;
        last = first;
        if (*text == '-' && (text++, !take_cpu(&text, &last)))
            return false;
        if (first < next || last < first)
            return false;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

static bool check_cpus(const struct dg_json *json, const char *pointer, const cJSON *item,
                       const struct dg_value *value)
{
    return is_cpus(value->text) ||
           dg_json_fail_item(json, pointer, "must be a list of CPUs in ascending order", item,
                             "write it like 0-3,8");
}

bool dg_value_read(const struct dg_json *json, const char *pointer, const struct dg_field *field,
                   const cJSON *item, double factor, struct dg_value *out)
{
    *out = (struct dg_value){ .kind = DG_VALUE_NULL };
    if (cJSON_IsNull(item))
        return true;
    if (field->type == DG_TYPE_TEXT)
        return read_text(json, pointer, item, out) &&
               (strcmp(field->key, DG_CPUS_KEY) != 0 || check_cpus(json, pointer, item, out));
    if (field->type == DG_TYPE_LIST)
        return read_list(json, pointer, item, out) &&
               (strcmp(field->key, DG_USERS_KEY) != 0 || check_users(json, pointer, item, out));
    return read_number(json, pointer, field, item, factor, out);
}

bool dg_value_read_any(const struct dg_json *json, const char *pointer, const cJSON *item,
                       struct dg_value *out)
{
    *out = (struct dg_value){ .kind = DG_VALUE_NULL };
    if (cJSON_IsNull(item))
        return true;
    if (cJSON_IsArray(item))
        return read_list(json, pointer, item, out);
    if (!cJSON_IsNumber(item))
        return read_text(json, pointer, item, out);
    *out = (struct dg_value){ .kind = DG_VALUE_NUMBER, .number = item->valuedouble };
    return true;
}

/* Cycles are calibrated to no better than this: a value may always move by it to a rounder one. */
static const double calibration = 0.002;

/* Cells priced by the cycle: their intervals are wide on a noisy machine, their medians are
 * much nearer, and a rounder value would cost the planner more than plans differ by. */
static const double repeated = 0.0005;

static bool priced(const char *key)
{
    return strncmp(key, "mix.", 4) == 0 || strncmp(key, "bw.", 3) == 0;
}

double dg_evidence_number(double x)
{
    enum { DIGITS = 6 };
    return x == floor(x) && fabs(x) < 1e15 ? x : dg_round_digits(x, DIGITS);
}

/* Of the evidence as it stands in a file, so that a reader comes to the same. */
static double round_value(const struct dg_answer *written)
{
    struct dg_answer evidence = *written, *a = &evidence;
    a->low = dg_evidence_number(a->low);
    a->high = dg_evidence_number(a->high);
    a->value.number = dg_evidence_number(a->value.number);
    double v = a->value.number, near = (priced(a->key) ? repeated : calibration) * fabs(v);
    /* Samples may all read alike; that makes a measured value no more exact than its clock. */
    if (a->low == a->high && a->status == DG_ASSERTED)
        return written->value.number;
    double low = priced(a->key) ? v - near : fmin(a->low, v - near);
    double high = priced(a->key) ? v + near : fmax(a->high, v + near);
    return dg_round_to_interval(v, low, high);
}

struct dg_value dg_flat_value(const struct dg_field *field, const struct dg_answer *answer)
{
    struct dg_value value = answer->value;
    char rule[192];
    if (value.kind != DG_VALUE_NUMBER || field == NULL || field->type != DG_TYPE_NUMBER)
        return value;
    double rounded = strcmp(answer->key, "clock_hz") == 0 ? dg_round_digits(value.number, 2) :
                     round_value(answer);
    if (dg_value_rule(field, rounded, rule, sizeof rule) == NULL)
        value.number = rounded;
    return value;
}

static int compare_entries(const void *a, const void *b)
{
    return dg_key_compare(((const struct dg_entry *)a)->key, ((const struct dg_entry *)b)->key);
}

static int compare_answers(const void *a, const void *b)
{
    return dg_key_compare(((const struct dg_answer *)a)->key, ((const struct dg_answer *)b)->key);
}

void dg_entries_sort(struct dg_entry *entries, size_t count)
{
    if (count > 1)
        qsort(entries, count, sizeof *entries, compare_entries);
}

void dg_answers_sort(struct dg_answer *answers, size_t count)
{
    if (count > 1)
        qsort(answers, count, sizeof *answers, compare_answers);
}
