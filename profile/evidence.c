/* SPDX-License-Identifier: Apache-2.0
 *
 * measurements: how well a value is known and from where; environment: what held during the run. */
#include <string.h>

#include "base/names.h"
#include "profile/reading.h"

enum member {
    VALUE, UNIT, LOW, HIGH, CONFIDENCE, STATUS, METHOD, CERTIFICATE, SAMPLES, CLAIMS,
    AGREES, REASON, HELP, MEMBER_COUNT
};

static const char *const member_names[MEMBER_COUNT] = {
    "value", "unit", "low", "high", "confidence", "status", "method", "certificate",
    "samples", "claims", "agrees", "reason", "help",
};

static bool unknown(const struct dg_json *json, const char *pointer, const char *rule,
                    const char *key, const char *const *names, size_t count)
{
    char todo[256];
    const char *near = dg_name_nearest(key, names, count);
    if (near != NULL)
        dg_format(todo, sizeof todo, "did you mean %s?", near);
    else
        dg_format(todo, sizeof todo, "remove it");
    return dg_json_fail(json, pointer, rule, key, todo);
}

/* The members of one measurement by their place in member_names. */
static bool sort_members(const struct dg_json *json, const char *pointer, const cJSON *object,
                         const cJSON *members[MEMBER_COUNT])
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        size_t i = 0;
        while (i < MEMBER_COUNT && strcmp(member_names[i], item->string) != 0)
            i++;
        if (i == MEMBER_COUNT) {
            char inner[DG_POINTER_SIZE];
            dg_pointer_add(inner, pointer, item->string);
            return unknown(json, inner, "is not part of a measurement", item->string, member_names,
                           MEMBER_COUNT);
        }
        members[i] = item;
    }
    return true;
}

static bool is_absent(const cJSON *item)
{
    return item == NULL || cJSON_IsNull(item);
}

static bool read_text(const struct dg_json *json, const char *pointer, enum member which,
                      const cJSON *item, const char **out)
{
    char inner[DG_POINTER_SIZE];
    if (is_absent(item))
        return true;
    dg_pointer_add(inner, pointer, member_names[which]);
    if (!cJSON_IsString(item))
        return dg_json_fail_item(json, inner, "must be a text", item, "write it in quotes");
    *out = dg_strdup(json->arena, item->valuestring);
    return *out != NULL || dg_fail_memory(json->e, inner);
}

static bool read_number(const struct dg_json *json, const char *pointer, enum member which,
                        const cJSON *item, double low, double high, double *out)
{
    char inner[DG_POINTER_SIZE];
    if (is_absent(item))
        return true;
    dg_pointer_add(inner, pointer, member_names[which]);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= low && item->valuedouble <= high))
        return dg_json_fail_item(json, inner, which == CONFIDENCE ?
                                 "must be a number from 0 to 1" : "must be a number in range",
                                 item, "correct or remove it");
    *out = item->valuedouble;
    return true;
}

static bool read_status(const struct dg_json *json, const char *pointer, const cJSON *item,
                        enum dg_status *out)
{
    char inner[DG_POINTER_SIZE];
    dg_pointer_add(inner, pointer, "status");
    if (is_absent(item))
        return dg_json_fail(json, pointer, "a measurement must have a status", "",
                            "add \"status\": \"asserted\" when typed by hand");
    if (!cJSON_IsString(item))
        return dg_json_fail_item(json, inner, "must be a text", item, "write it in quotes");
    for (size_t i = 0; i <= DG_UNRELIABLE; i++) {
        if (strcmp(dg_status_names[i], item->valuestring) == 0) {
            *out = (enum dg_status)i;
            return true;
        }
    }
    return unknown(json, inner, "is not a status", item->valuestring, dg_status_names,
                   DG_UNRELIABLE + 1);
}

static bool read_claim(const struct dg_json *json, const char *pointer, const cJSON *item,
                       struct dg_claim *out)
{
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(item, "source");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, "value");
    if (!cJSON_IsObject(item) || !cJSON_IsString(source) || value == NULL ||
        cJSON_GetArraySize(item) != 2)
        return dg_json_fail_item(json, pointer, "a claim is {\"source\": text, \"value\": ...}",
                                 item, "correct or remove it");
    char inner[DG_POINTER_SIZE];
    dg_pointer_add(inner, pointer, "value");
    out->source = dg_strdup(json->arena, source->valuestring);
    return out->source != NULL && dg_value_read_any(json, inner, value, &out->value);
}

static bool read_claims(const struct dg_json *json, const char *pointer, const cJSON *item,
                        struct dg_answer *out)
{
    char inner[DG_POINTER_SIZE], element[DG_POINTER_SIZE], index[24];
    if (is_absent(item))
        return true;
    dg_pointer_add(inner, pointer, "claims");
    if (!cJSON_IsArray(item))
        return dg_json_fail_item(json, inner, "must be a list of claims", item, "write [...]");
    size_t count = (size_t)cJSON_GetArraySize(item), i = 0;
    struct dg_claim *claims = dg_alloc_array(json->arena, count + 1, sizeof *claims);
    const cJSON *claim;
    cJSON_ArrayForEach(claim, item) {
        dg_format(index, sizeof index, "%zu", i);
        dg_pointer_add(element, inner, index);
        if (claims == NULL || !read_claim(json, element, claim, &claims[i++]))
            return false;
    }
    out->claims = claims;
    out->claim_count = count;
    return true;
}

/* What the members must say together. */
static bool check_answer(const struct dg_json *json, const char *pointer,
                         const struct dg_field *field, const struct dg_answer *a)
{
    bool empty = a->status == DG_UNAVAILABLE || a->status == DG_UNRELIABLE;
    if (strcmp(a->unit, field->unit) != 0) {
        char todo[256], inner[DG_POINTER_SIZE];
        dg_format(todo, sizeof todo, "the unit of this key is \"%s\"; convert the value",
                  field->unit);
        dg_pointer_add(inner, pointer, "unit");
        return dg_json_fail(json, inner, "has the wrong unit", a->unit, todo);
    }
    if (empty && a->value.kind != DG_VALUE_NULL)
        return dg_json_fail(json, pointer, "what is unavailable or unreliable has no value",
                            dg_status_names[a->status], "write null, or another status");
    if (empty && (a->reason == NULL || a->help == NULL))
        return dg_json_fail(json, pointer, "what is unavailable or unreliable needs reason and "
                            "help", dg_status_names[a->status], "say why, and what would help");
    if (!empty && a->value.kind == DG_VALUE_NULL)
        return dg_json_fail(json, pointer, "a value is missing", dg_status_names[a->status],
                            "write the value, or status unavailable with reason and help");
    if (a->value.kind == DG_VALUE_NUMBER &&
        !(a->low <= a->value.number && a->value.number <= a->high))
        return dg_json_fail(json, pointer, "low <= value <= high must hold", "",
                            "correct the interval");
    return true;
}

static bool read_answer(const struct dg_json *json, const char *pointer,
                        const struct dg_field *field, const cJSON *object, struct dg_answer *out)
{
    const cJSON *m[MEMBER_COUNT] = { NULL };
    char inner[DG_POINTER_SIZE];
    double samples = 0;
    if (!cJSON_IsObject(object))
        return dg_json_fail_item(json, pointer, "must be an object", object, "write {...}");
    if (!sort_members(json, pointer, object, m))
        return false;
    dg_pointer_add(inner, pointer, "value");
    out->unit = field->unit;
    if (m[VALUE] != NULL && !dg_value_read(json, inner, field, m[VALUE], 1, &out->value))
        return false;
    out->low = out->high = out->value.number;
    bool ok = read_text(json, pointer, UNIT, m[UNIT], &out->unit) &&
              read_number(json, pointer, LOW, m[LOW], -1e300, 1e300, &out->low) &&
              read_number(json, pointer, HIGH, m[HIGH], -1e300, 1e300, &out->high) &&
              read_number(json, pointer, CONFIDENCE, m[CONFIDENCE], 0, 1, &out->confidence) &&
              read_status(json, pointer, m[STATUS], &out->status) &&
              read_text(json, pointer, METHOD, m[METHOD], &out->method) &&
              read_text(json, pointer, CERTIFICATE, m[CERTIFICATE], &out->certificate) &&
              read_number(json, pointer, SAMPLES, m[SAMPLES], 0, 1e15, &samples) &&
              read_claims(json, pointer, m[CLAIMS], out) &&
              read_text(json, pointer, REASON, m[REASON], &out->reason) &&
              read_text(json, pointer, HELP, m[HELP], &out->help);
    if (!ok)
        return false;
    out->samples = (unsigned long)samples;
    if (!is_absent(m[AGREES]) && !cJSON_IsBool(m[AGREES])) {
        dg_pointer_add(inner, pointer, "agrees");
        return dg_json_fail_item(json, inner, "must be true, false or null", m[AGREES],
                                 "correct or remove it");
    }
    return check_answer(json, pointer, field, out);
}

bool dg_evidence_read(const struct dg_json *json, const cJSON *object, struct dg_answer **out,
                      size_t *count)
{
    size_t n = 0;
    const cJSON *item;
    if (!cJSON_IsObject(object))
        return dg_json_fail_item(json, "/measurements", "must be an object", object,
                                 "write {...} or remove it");
    *out = dg_alloc_array(json->arena, (size_t)cJSON_GetArraySize(object) + 1, sizeof **out);
    cJSON_ArrayForEach(item, object) {
        char pointer[DG_POINTER_SIZE];
        dg_pointer_add(pointer, "/measurements", item->string);
        const struct dg_field *field = dg_field_of(item->string);
        if (field == NULL)
            return dg_json_fail(json, pointer, "is not a key of a hardware file", item->string,
                                "give it the name of a flat key, or remove it");
        if (*out == NULL || !read_answer(json, pointer, field, item, &(*out)[n]))
            return false;
        (*out)[n++].key = dg_strdup(json->arena, item->string);
    }
    *count = n;
    dg_answers_sort(*out, n);
    return true;
}

bool dg_facts_read(const struct dg_json *json, const char *at, const cJSON *object,
                   struct dg_fact **out, size_t *count)
{
    size_t n = 0;
    const cJSON *item;
    if (!cJSON_IsObject(object))
        return dg_json_fail_item(json, at, "must be an object", object,
                                 "write {...} or remove it");
    *out = dg_alloc_array(json->arena, (size_t)cJSON_GetArraySize(object) + 1, sizeof **out);
    cJSON_ArrayForEach(item, object) {
        char pointer[DG_POINTER_SIZE];
        dg_pointer_add(pointer, at, item->string);
        if (*out == NULL)
            return false;
        struct dg_fact *fact = &(*out)[n++];
        fact->key = dg_strdup(json->arena, item->string);
        if (cJSON_IsBool(item)) {
            fact->is_boolean = true;
            fact->value = (struct dg_value){ .kind = DG_VALUE_TEXT,
                                             .text = cJSON_IsTrue(item) ? "true" : "false" };
        } else if (!dg_value_read_any(json, pointer, item, &fact->value)) {
            return false;
        }
    }
    *count = n;
    return true;
}
