/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/writer.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "profile/reading.h"
#include "profile/render.h"

static void render_list(struct dg_str *out, const struct dg_value *value)
{
    dg_str_addc(out, '[');
    for (size_t i = 0; i < value->list_count; i++) {
        dg_str_add(out, i == 0 ? "" : ", ");
        dg_str_quoted(out, value->list[i]);
    }
    dg_str_addc(out, ']');
}

void dg_render_value(struct dg_str *out, const struct dg_value *value)
{
    switch (value->kind) {
    case DG_VALUE_NUMBER: dg_str_double(out, value->number); break;
    case DG_VALUE_TEXT: dg_str_quoted(out, value->text); break;
    case DG_VALUE_LIST: render_list(out, value); break;
    default: dg_str_add(out, "null"); break;
    }
}

static void render_number(struct dg_str *out, const char *name, double x)
{
    dg_str_format(out, ", \"%s\": ", name);
    dg_str_double(out, dg_evidence_number(x));
}

static void render_text_member(struct dg_str *out, const char *name, const char *text)
{
    if (text == NULL)
        return;
    dg_str_format(out, ", \"%s\": ", name);
    dg_str_quoted(out, text);
}

static void render_claims(struct dg_str *out, const struct dg_answer *answer)
{
    static const char *const words[] = { "true", "false", "null" };
    if (answer->claim_count == 0)
        return;
    dg_str_add(out, ", \"claims\": [");
    for (size_t i = 0; i < answer->claim_count; i++) {
        dg_str_add(out, i == 0 ? "{\"source\": " : ", {\"source\": ");
        dg_str_quoted(out, answer->claims[i].source);
        dg_str_add(out, ", \"value\": ");
        dg_render_value(out, &answer->claims[i].value);
        dg_str_addc(out, '}');
    }
    dg_str_format(out, "], \"agrees\": %s", words[dg_answer_agrees(answer)]);
}

static void render_answer(struct dg_str *out, const struct dg_answer *a)
{
    struct dg_value value = a->value;
    if (value.kind == DG_VALUE_NUMBER)
        value.number = dg_evidence_number(value.number);
    dg_str_add(out, "{\"value\": ");
    dg_render_value(out, &value);
    if (a->unit[0] != '\0')
        render_text_member(out, "unit", a->unit);
    if (value.kind == DG_VALUE_NUMBER) {
        render_number(out, "low", fmin(dg_evidence_number(a->low), value.number));
        render_number(out, "high", fmax(dg_evidence_number(a->high), value.number));
    }
    render_text_member(out, "status", dg_status_names[a->status]);
    if (a->status <= DG_DERIVED)
        render_number(out, "confidence", a->confidence);
    render_text_member(out, "method", a->method);
    render_text_member(out, "certificate", a->certificate);
    if (a->samples > 0)
        dg_str_format(out, ", \"samples\": %lu", a->samples);
    render_claims(out, a);
    render_text_member(out, "reason", a->reason);
    render_text_member(out, "help", a->help);
    dg_str_addc(out, '}');
}

static void render_member(struct dg_str *out, const char *indent, const char *key, bool *first)
{
    dg_str_format(out, "%s%s", *first ? "\n" : ",\n", indent);
    dg_str_quoted(out, key);
    dg_str_add(out, ": ");
    *first = false;
}

static void render_flat(struct dg_str *out, const char *key, const struct dg_value *value,
                        bool *first)
{
    static const struct dg_value null = { .kind = DG_VALUE_NULL };
    render_member(out, "  ", key, first);
    dg_render_value(out, value != NULL ? value : &null);
}

void dg_render_facts(struct dg_str *out, const struct dg_fact *facts, size_t count)
{
    bool first = true;
    dg_str_addc(out, '{');
    for (size_t i = 0; i < count; i++) {
        render_member(out, "    ", facts[i].key, &first);
        if (facts[i].is_boolean && facts[i].value.kind == DG_VALUE_TEXT)
            dg_str_add(out, strcmp(facts[i].value.text, "true") == 0 ? "true" : "false");
        else
            dg_render_value(out, &facts[i].value);
    }
    dg_str_add(out, count > 0 ? "\n  }" : "}");
}

static void render_measurements(struct dg_str *out, const struct dg_profile *profile)
{
    bool first = true;
    for (size_t i = 0; i < profile->measurement_count; i++) {
        render_member(out, "    ", profile->measurements[i].key, &first);
        render_answer(out, &profile->measurements[i]);
    }
}

void dg_profile_render(const struct dg_profile *profile, struct dg_str *out)
{
    bool first = true;
    dg_str_addc(out, '{');
    render_member(out, "  ", "schema", &first);
    dg_str_quoted(out, "deepgemm-hardware/1");
    render_flat(out, "name", dg_profile_find(profile, "name"), &first);
    render_flat(out, "architecture", dg_profile_find(profile, "architecture"), &first);
    for (size_t i = 0; i < DG_FIELD_COUNT; i++)
        render_flat(out, dg_fields[i].key, dg_profile_find(profile, dg_fields[i].key), &first);
    for (size_t i = 0; i < profile->entry_count; i++)
        if (strchr(profile->entries[i].key, '.') != NULL)
            render_flat(out, profile->entries[i].key, &profile->entries[i].value, &first);
    render_member(out, "  ", "environment", &first);
    dg_render_facts(out, profile->environment, profile->environment_count);
    render_member(out, "  ", "measurements", &first);
    dg_str_addc(out, '{');
    render_measurements(out, profile);
    dg_str_add(out, profile->measurement_count > 0 ? "\n  }\n}\n" : "}\n}\n");
}

bool dg_profile_save(const char *path, const struct dg_profile *profile, struct dg_error *e)
{
    struct dg_str text;
    dg_str_init(&text, NULL);
    dg_profile_render(profile, &text);
    bool ok = !text.failed || dg_fail_memory(e, path);
    ok = ok && dg_file_write(path, text.text, text.length, e);
    dg_str_free(&text);
    return ok;
}
