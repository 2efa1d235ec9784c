/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/schema.h"

#include <string.h>

#include "profile/reading.h"
#include "profile/render.h"

static const struct { const char *hole, *expression; } holes[] = {
    { "<name>", "[a-z][a-z0-9_]*" },
    { "<dtype>", "[a-z][a-z0-9]*" },
    { "<page>", "[1-9][0-9]{0,9}[kmg]" },
    { "<n>", "(?:0|[1-9][0-9]{0,9})" },
};

/* One segment of a pattern, its alternatives in a group. */
static void add_segment(struct dg_str *out, const char *text, size_t length)
{
    bool several = memchr(text, '|', length) != NULL;
    dg_str_add(out, several ? "(?:" : "");
    for (size_t i = 0; i < length;) {
        size_t hole = 0, size = 0;
        for (; text[i] == '<' && hole < sizeof holes / sizeof *holes; hole++) {
            size = strlen(holes[hole].hole);
            if (strncmp(text + i, holes[hole].hole, size) == 0)
                break;
        }
        if (text[i] == '<') {
            dg_str_add(out, holes[hole].expression);
            i += size;
        } else {
            dg_str_addc(out, text[i++]);
        }
    }
    dg_str_add(out, several ? ")" : "");
}

static void add_expression(struct dg_str *out, const char *pattern)
{
    struct dg_str expression;
    dg_str_init(&expression, NULL);
    dg_str_addc(&expression, '^');
    for (;;) {
        size_t length = strcspn(pattern, ".");
        add_segment(&expression, pattern, length);
        pattern += length;
        if (*pattern == '\0')
            break;
        dg_str_add(&expression, "\\.");
        pattern++;
    }
    dg_str_addc(&expression, '$');
    dg_str_quoted(out, dg_str_text(&expression));
    out->failed = out->failed || expression.failed;
    dg_str_free(&expression);
}

static void add_powers(struct dg_str *out, const struct dg_field *field, double factor)
{
    dg_str_add(out, "\"enum\": [");
    for (double power = 1; power <= field->max; power *= 2) {
        if (power < field->min)
            continue;
        dg_str_double(out, power / factor);
        dg_str_add(out, ", ");
    }
    dg_str_add(out, "null]");
}

/* What the value may be; `factor` as in names.def. */
static void add_type(struct dg_str *out, const struct dg_field *field, double factor)
{
    switch (field->type) {
    case DG_TYPE_POW2: add_powers(out, field, factor); return;
    case DG_TYPE_TEXT:
        dg_str_add(out, "\"type\": [\"string\", \"null\"], \"minLength\": 1, \"maxLength\": 1023");
        if (strcmp(field->key, DG_CPUS_KEY) == 0)
            dg_str_add(out, ", \"pattern\": \"^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$\"");
        return;
    case DG_TYPE_LIST:
        dg_str_add(out, "\"type\": [\"array\", \"null\"], \"uniqueItems\": true, "
                   "\"items\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 1023");
        if (strcmp(field->key, DG_USERS_KEY) == 0)
            dg_str_add(out, ", \"pattern\": \"^[a-z][a-z0-9_]*\\\\.[a-z][a-z0-9_]*\\\\.[0-9]+"
                       ":[0-9]+(\\\\.[0-9]+)?$\"");
        dg_str_addc(out, '}');
        return;
    default:
        dg_str_format(out, "\"type\": [\"%s\", \"null\"], \"minimum\": ",
                      field->type == DG_TYPE_INTEGER ? "integer" : "number");
        dg_str_double(out, field->min / factor);
        dg_str_add(out, ", \"maximum\": ");
        dg_str_double(out, field->max / factor);
    }
}

static void add_description(struct dg_str *out, const struct dg_field *field)
{
    struct dg_str text;
    dg_str_init(&text, NULL);
    dg_str_add(&text, field->title);
    if (field->unit[0] != '\0')
        dg_str_format(&text, " (%s)", field->unit);
    dg_str_add(out, ", \"description\": ");
    dg_str_quoted(out, dg_str_text(&text));
    out->failed = out->failed || text.failed;
    dg_str_free(&text);
}

static void add_field(struct dg_str *out, const struct dg_field *field)
{
    dg_str_addc(out, '{');
    add_type(out, field, 1);
    add_description(out, field);
    dg_str_addc(out, '}');
}

static void add_other_names(struct dg_str *out)
{
    static const struct { const char *name, *key; double factor; } names[] = {
#define ACCEPTED(name, key, factor) { name, key, factor },
#define WRONG(name, key, advice)
#include "profile/names.def"
#undef ACCEPTED
#undef WRONG
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        dg_str_format(out, ",\n    \"%s\": {", names[i].name);
        add_type(out, dg_field_of(names[i].key), names[i].factor);
        dg_str_format(out, ", \"description\": \"another name of %s\"}", names[i].key);
    }
}

static void add_names(struct dg_str *out)
{
    dg_str_add(out, "    \"schema\": {\"const\": \"deepgemm-hardware/1\"},\n"
               "    \"name\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 63, "
               "\"pattern\": \"^[^\\\\u0000-\\\\u001f\\\\u007f]+$\"},\n"
               "    \"architecture\": {\"enum\": [");
    for (size_t i = 0; i < dg_architecture_count; i++)
        dg_str_format(out, "%s\"%s\"", i == 0 ? "" : ", ", dg_architectures[i]);
    dg_str_add(out, "]}");
}

static void add_measurement(struct dg_str *out)
{
    static const char plain[] =
        "    \"measurement\": {\n      \"type\": \"object\",\n      \"required\": [\"status\"],\n"
        "      \"additionalProperties\": false,\n      \"properties\": {\n"
        "        \"value\": true, \"unit\": true,\n"
        "        \"low\": {\"type\": [\"number\", \"null\"]},\n"
        "        \"high\": {\"type\": [\"number\", \"null\"]},\n"
        "        \"confidence\": {\"type\": [\"number\", \"null\"], \"minimum\": 0, "
        "\"maximum\": 1},\n"
        "        \"method\": {\"type\": [\"string\", \"null\"]},\n"
        "        \"certificate\": {\"type\": [\"string\", \"null\"]},\n"
        "        \"samples\": {\"type\": [\"number\", \"null\"], \"minimum\": 0, "
        "\"maximum\": 1e15},\n"
        "        \"agrees\": {\"type\": [\"boolean\", \"null\"]},\n"
        "        \"reason\": {\"type\": [\"string\", \"null\"]},\n"
        "        \"help\": {\"type\": [\"string\", \"null\"]},\n"
        "        \"claims\": {\"type\": [\"array\", \"null\"], \"items\": {\n"
        "          \"type\": \"object\", \"required\": [\"source\", \"value\"],\n"
        "          \"additionalProperties\": false,\n"
        "          \"properties\": {\"source\": {\"type\": \"string\"}, \"value\": "
        "{\"$ref\": \"#/definitions/any\"}}}},\n";
    static const char conditions[] =
        "      },\n      \"if\": {\"properties\": {\"status\": {\"enum\": [\"unavailable\", "
        "\"unreliable\"]}}},\n"
        "      \"then\": {\"properties\": {\"value\": {\"type\": \"null\"}, "
        "\"reason\": {\"type\": \"string\"}, \"help\": {\"type\": \"string\"}},\n"
        "        \"required\": [\"reason\", \"help\"]},\n"
        "      \"else\": {\"properties\": {\"value\": {\"not\": {\"type\": \"null\"}}}, "
        "\"required\": [\"value\"]}\n    }";
    dg_str_add(out, plain);
    dg_str_add(out, "        \"status\": {\"enum\": [");
    for (size_t i = 0; i <= DG_UNRELIABLE; i++)
        dg_str_format(out, "%s\"%s\"", i == 0 ? "" : ", ", dg_status_names[i]);
    dg_str_add(out, "]}\n");
    dg_str_add(out, conditions);
}

static void add_evidence(struct dg_str *out, const struct dg_field *field)
{
    dg_str_format(out, "{\"allOf\": [{\"$ref\": \"#/definitions/measurement\"}, "
                  "{\"properties\": {\"unit\": {\"enum\": [\"%s\", null]}, \"value\": {",
                  field->unit);
    add_type(out, field, 1);
    dg_str_add(out, "}}}]}");
}

static void add_measurements(struct dg_str *out)
{
    dg_str_add(out, "    \"measurements\": {\n      \"type\": \"object\",\n"
               "      \"additionalProperties\": false,\n      \"properties\": {");
    for (size_t i = 0; i < DG_FIELD_COUNT; i++) {
        dg_str_format(out, "%s\n        \"%s\": ", i == 0 ? "" : ",", dg_fields[i].key);
        add_evidence(out, &dg_fields[i]);
    }
    dg_str_add(out, "\n      },\n      \"patternProperties\": {");
    for (size_t i = 0; i < dg_family_count; i++) {
        dg_str_add(out, i == 0 ? "\n        " : ",\n        ");
        add_expression(out, dg_families[i].key);
        dg_str_add(out, ": ");
        add_evidence(out, &dg_families[i]);
    }
    dg_str_add(out, "\n      }\n    }");
}

void dg_schema_render(struct dg_str *out)
{
    dg_str_add(out, "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
               "  \"title\": \"DeepGEMM hardware file\",\n  \"type\": \"object\",\n"
               "  \"required\": [\"name\", \"architecture\"],\n"
               "  \"additionalProperties\": false,\n  \"properties\": {\n");
    add_names(out);
    for (size_t i = 0; i < DG_FIELD_COUNT; i++) {
        dg_str_format(out, ",\n    \"%s\": ", dg_fields[i].key);
        add_field(out, &dg_fields[i]);
    }
    add_other_names(out);
    dg_str_add(out, ",\n    \"environment\": {\"type\": \"object\", \"additionalProperties\": "
               "{\"anyOf\": [{\"$ref\": \"#/definitions/any\"}, {\"type\": \"boolean\"}]}},\n");
    add_measurements(out);
    dg_str_add(out, "\n  },\n  \"patternProperties\": {");
    for (size_t i = 0; i < dg_family_count; i++) {
        dg_str_add(out, i == 0 ? "\n    " : ",\n    ");
        add_expression(out, dg_families[i].key);
        dg_str_add(out, ": ");
        add_field(out, &dg_families[i]);
    }
    dg_str_add(out, "\n  },\n  \"definitions\": {\n"
               "    \"any\": {\"anyOf\": [{\"type\": [\"number\", \"null\"]}, "
               "{\"type\": \"string\", \"minLength\": 1, \"maxLength\": 1023},\n"
               "      {\"type\": \"array\", \"uniqueItems\": true, \"items\": "
               "{\"type\": \"string\", \"minLength\": 1, \"maxLength\": 1023}}]},\n");
    add_measurement(out);
    dg_str_add(out, "\n  }\n}\n");
}
