/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "emit/write/manifest_fields.h"

#define FIELD(object, name, kind, member) \
    { object, name, DG_MANIFEST_##kind, offsetof(struct dg_manifest, member) },
const struct dg_manifest_field dg_manifest_fields[] = {
#include "emit/write/manifest.def"
};
const size_t dg_manifest_field_count = sizeof dg_manifest_fields / sizeof *dg_manifest_fields;

static void put_name(struct dg_str *out, unsigned indent, const char *name)
{
    dg_str_add(out, indent == 2 ? "  " : "    ");
    dg_str_quoted(out, name);
    dg_str_add(out, ": ");
}

static void put_field(struct dg_str *out, const struct dg_manifest *manifest,
                      const struct dg_manifest_field *field)
{
    const char *at = (const char *)manifest + field->offset;
    uint64_t u64;
    unsigned u32;
    double number;
    bool flag;
    const char *text;
    switch (field->kind) {
    case DG_MANIFEST_TEXT:
        memcpy(&text, at, sizeof text);
        dg_str_quoted(out, text != NULL ? text : "");
        break;
    case DG_MANIFEST_U64:
        memcpy(&u64, at, sizeof u64);
        dg_str_format(out, "%llu", (unsigned long long)u64);
        break;
    case DG_MANIFEST_U32:
        memcpy(&u32, at, sizeof u32);
        dg_str_format(out, "%u", u32);
        break;
    case DG_MANIFEST_BOOL:
        memcpy(&flag, at, sizeof flag);
        dg_str_add(out, flag ? "true" : "false");
        break;
    case DG_MANIFEST_NUMBER:
    case DG_MANIFEST_KNOWN:
        memcpy(&number, at, sizeof number);
        if (field->kind == DG_MANIFEST_KNOWN && number == 0)
            dg_str_add(out, "null");
        else
            dg_str_double(out, number);
        break;
    }
}

static void put_terms(struct dg_str *out, const struct dg_manifest *manifest)
{
    size_t count = manifest->predicted.term_count;
    dg_str_add(out, ",\n    \"terms\": [");
    for (size_t i = 0; i < count; i++) {
        const struct dg_manifest_term *term = &manifest->predicted.terms[i];
        dg_str_add(out, i == 0 ? "\n      {\"id\": " : ",\n      {\"id\": ");
        dg_str_quoted(out, term->id);
        dg_str_add(out, ", \"title\": ");
        dg_str_quoted(out, term->title);
        dg_str_add(out, ", \"cycles\": ");
        dg_str_double(out, term->cycles);
        dg_str_addc(out, '}');
    }
    dg_str_add(out, count > 0 ? "\n    ]" : "]");
}

static void put_keys(struct dg_str *out, const struct dg_manifest *manifest)
{
    size_t count = manifest->profile.key_count;
    dg_str_add(out, ",\n    \"keys\": [");
    for (size_t i = 0; i < count; i++) {
        const struct dg_manifest_key *key = &manifest->profile.keys[i];
        dg_str_add(out, i == 0 ? "\n      {\"key\": " : ",\n      {\"key\": ");
        dg_str_quoted(out, key->key);
        dg_str_format(out, ", \"value\": %s, \"assumed\": %s, \"used\": ", key->value,
                      key->assumed ? "true" : "false");
        dg_str_double(out, key->used);
        dg_str_addc(out, '}');
    }
    dg_str_add(out, count > 0 ? "\n    ]" : "]");
}

static void put_assumed(struct dg_str *out, const struct dg_manifest *manifest)
{
    bool first = true;
    dg_str_add(out, ",\n  \"assumed\": [");
    for (size_t i = 0; i < manifest->profile.key_count; i++) {
        const struct dg_manifest_key *key = &manifest->profile.keys[i];
        if (!key->assumed)
            continue;
        dg_str_add(out, first ? "" : ", ");
        dg_str_quoted(out, key->key);
        first = false;
    }
    dg_str_addc(out, ']');
}

static void put_files(struct dg_str *out, const struct dg_manifest *manifest)
{
    dg_str_add(out, ",\n  \"files\": [");
    for (size_t i = 0; i < manifest->file_count; i++) {
        dg_str_add(out, i == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ");
        dg_str_quoted(out, manifest->files[i].name);
        dg_str_add(out, ", \"sha256\": ");
        dg_str_quoted(out, manifest->files[i].sha256);
        dg_str_addc(out, '}');
    }
    dg_str_add(out, manifest->file_count > 0 ? "\n  ]" : "]");
}

static void close_object(struct dg_str *out, const struct dg_manifest *manifest,
                         const char *object)
{
    if (strcmp(object, "predicted") == 0)
        put_terms(out, manifest);
    if (strcmp(object, "profile") == 0)
        put_keys(out, manifest);
    if (object[0] != '\0')
        dg_str_add(out, "\n  }");
}

const char *dg_manifest_text(const struct dg_manifest *manifest, struct dg_arena *arena)
{
    struct dg_str out;
    const char *object = "";
    dg_str_init(&out, arena);
    dg_str_add(&out, "{\n  \"schema\": ");
    dg_str_quoted(&out, DG_MANIFEST_SCHEMA);
    for (size_t i = 0; i < dg_manifest_field_count; i++) {
        const struct dg_manifest_field *field = &dg_manifest_fields[i];
        bool opens = strcmp(field->object, object) != 0;
        if (opens) {
            close_object(&out, manifest, object);
            object = field->object;
            dg_str_add(&out, ",\n");
            put_name(&out, 2, object);
            dg_str_add(&out, "{\n");
        } else {
            dg_str_add(&out, ",\n");
        }
        put_name(&out, object[0] != '\0' ? 4 : 2, field->name);
        put_field(&out, manifest, field);
    }
    close_object(&out, manifest, object);
    put_assumed(&out, manifest);
    put_files(&out, manifest);
    dg_str_add(&out, "\n}\n");
    return out.failed ? NULL : dg_str_text(&out);
}
