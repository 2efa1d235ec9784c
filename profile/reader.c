/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/reader.h"

#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "profile/reading.h"

enum { FILE_LIMIT = 16 << 20, NAME_LIMIT = 63 };

/* One flat value while reading; `written` is the name it has in the file. */
struct flat {
    struct dg_entry entry;
    const char *written;
};

struct reader {
    struct dg_json json;
    struct flat *flats;
    size_t count;
    struct dg_answer *answers;
    size_t answer_count;
    struct dg_profile *out;
};

static const struct name { const char *name, *key; double factor; const char *advice; } names[] = {
#define ACCEPTED(name, key, factor) { name, key, factor, NULL },
#define WRONG(name, key, advice) { name, key, 0, advice },
#include "profile/names.def"
#undef ACCEPTED
#undef WRONG
};

static const struct name *name_of(const char *key)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, key) == 0)
            return &names[i];
    return NULL;
}

static bool refuse_unknown(struct reader *r, const char *pointer, const char *key)
{
    const char *more[16] = { "name", "architecture", "schema", "environment", "measurements" };
    size_t count = 5;
    char near[128], todo[256];
    for (size_t i = 0; i < sizeof names / sizeof *names && count < 16; i++)
        if (names[i].advice == NULL)
            more[count++] = names[i].name;
    if (dg_suggest_key(key, more, count, near, sizeof near))
        dg_format(todo, sizeof todo, "did you mean %s?", near);
    else
        dg_format(todo, sizeof todo, "remove it; hardware.schema.json lists all keys");
    return dg_json_fail(&r->json, pointer, "is not a key of a hardware file", key, todo);
}

static struct flat *flat_of(struct reader *r, const char *key)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->flats[i].entry.key, key) == 0)
            return &r->flats[i];
    return NULL;
}

/* Puts a value in; two names of one field must say the same. */
static bool put(struct reader *r, const char *pointer, const char *key, const char *written,
                const struct dg_value *value)
{
    struct flat *old = strchr(key, '.') == NULL ? flat_of(r, key) : NULL;
    if (old == NULL) {
        r->flats[r->count++] = (struct flat){ { key, *value }, written };
        return true;
    }
    if (old->entry.value.kind == DG_VALUE_NULL)
        old->entry.value = *value;
    if (value->kind == DG_VALUE_NULL || dg_value_equal(&old->entry.value, value))
        return true;
    char rule[192], a[DG_NUMBER_SIZE], b[DG_NUMBER_SIZE], text[96];
    dg_write_double(a, old->entry.value.number);
    dg_write_double(b, value->number);
    dg_format(rule, sizeof rule, "%s and %s are names of one value (%s) and must agree",
              old->written, written, key);
    dg_format(text, sizeof text, "%s and %s", a, b);
    return dg_json_fail(&r->json, pointer, rule, text, "remove one of the two or correct it");
}

static bool read_cell(struct reader *r, const char *pointer, const cJSON *item)
{
    const struct name *other = name_of(item->string);
    if (other != NULL && other->advice != NULL) {
        char rule[192];
        dg_format(rule, sizeof rule, "is not a key of a hardware file; the right one is %s",
                  other->key);
        return dg_json_fail(&r->json, pointer, rule, item->string, other->advice);
    }
    const char *key = other != NULL ? other->key : item->string;
    const struct dg_field *field = dg_field_of(key);
    if (field == NULL)
        return refuse_unknown(r, pointer, item->string);
    struct dg_value value;
    const char *copy = dg_strdup(r->json.arena, item->string);
    return copy != NULL &&
           dg_value_read(&r->json, pointer, field, item, other != NULL ? other->factor : 1,
                         &value) &&
           put(r, pointer, other != NULL ? key : copy, copy, &value);
}

static bool read_name(struct reader *r, const char *pointer, const cJSON *item)
{
    struct dg_value value = { .kind = DG_VALUE_TEXT };
    const char *key = dg_strdup(r->json.arena, item->string);
    bool is_name = strcmp(item->string, "name") == 0;
    if (!cJSON_IsString(item) || item->valuestring[0] == '\0' ||
        strlen(item->valuestring) > NAME_LIMIT)
        return dg_json_fail_item(&r->json, pointer, "must be a text of 1 to 63 bytes", item,
                                 is_name ? "give the chip a name" : "write x86_64 or aarch64");
    for (const char *c = item->valuestring; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return dg_json_fail_item(&r->json, pointer, "holds a control character", item,
                                     "remove it");
    if (!is_name) {
        size_t i = 0;
        while (i < dg_architecture_count &&
               strcmp(dg_architectures[i], item->valuestring) != 0)
            i++;
        if (i == dg_architecture_count)
            return dg_json_fail_item(&r->json, pointer, "is not a known architecture", item,
                                     "write aarch64, x86_64, riscv64 or portable");
    }
    value.text = dg_strdup(r->json.arena, item->valuestring);
    return key != NULL && value.text != NULL && put(r, pointer, key, key, &value);
}

static bool read_schema(struct reader *r, const char *pointer, const cJSON *item)
{
    if (cJSON_IsString(item) && strcmp(item->valuestring, "deepgemm-hardware/1") == 0)
        return true;
    return dg_json_fail_item(&r->json, pointer, "must be \"deepgemm-hardware/1\"", item,
                             "this version reads no other; probe again or convert the file");
}

static bool read_member(struct reader *r, const cJSON *item)
{
    char pointer[DG_POINTER_SIZE];
    dg_pointer_add(pointer, "", item->string);
    if (strcmp(item->string, "schema") == 0)
        return read_schema(r, pointer, item);
    if (strcmp(item->string, "name") == 0 || strcmp(item->string, "architecture") == 0)
        return read_name(r, pointer, item);
    if (strcmp(item->string, "measurements") == 0)
        return dg_evidence_read(&r->json, item, &r->answers, &r->answer_count);
    if (strcmp(item->string, "environment") == 0) {
        struct dg_fact *facts;
        bool ok = dg_facts_read(&r->json, pointer, item, &facts,
                                &r->out->environment_count);
        r->out->environment = facts;
        return ok;
    }
    return read_cell(r, pointer, item);
}

/* fp16_per_neon says how many fp16 lanes a vector has: the chip computes with them. */
static bool imply_isa(struct reader *r)
{
    static const char *const implied[] = { "fp", "asimd", "asimdhp" };
    bool fp16 = false;
    for (size_t i = 0; i < r->count; i++) {
        fp16 = fp16 || (strcmp(r->flats[i].written, "fp16_per_neon") == 0 &&
                        r->flats[i].entry.value.kind == DG_VALUE_NUMBER);
        if (strcmp(r->flats[i].entry.key, "isa") == 0)
            return true;
    }
    if (!fp16)
        return true;
    struct dg_value value = { .kind = DG_VALUE_LIST, .list = implied, .list_count = 3 };
    return put(r, "", "isa", "isa", &value);
}

static bool require(struct reader *r, const char *key)
{
    if (flat_of(r, key) != NULL)
        return true;
    char rule[96];
    dg_format(rule, sizeof rule, "the key \"%s\" is missing", key);
    return dg_json_fail(&r->json, "", rule, "", "add it");
}

/* Asked at the end, since the architecture may stand behind its cells. */
static bool check_operations(struct reader *r)
{
    const char *architecture = flat_of(r, "architecture")->entry.value.text;
    char pointer[DG_POINTER_SIZE], value[DG_POINTER_SIZE];
    for (size_t i = 0; i < r->count; i++) {
        const struct flat *flat = &r->flats[i];
        dg_pointer_add(pointer, "", flat->written);
        if (!dg_operation_check(&r->json, pointer, architecture, flat->entry.key) ||
            !dg_users_check(&r->json, pointer, architecture, &flat->entry))
            return false;
    }
    for (size_t i = 0; i < r->answer_count; i++) {
        struct dg_entry entry = { r->answers[i].key, r->answers[i].value };
        dg_pointer_add(pointer, "/measurements", entry.key);
        dg_pointer_add(value, pointer, "value");
        if (!dg_operation_check(&r->json, pointer, architecture, entry.key) ||
            !dg_users_check(&r->json, value, architecture, &entry))
            return false;
    }
    return true;
}

static bool read_tree(struct reader *r, const cJSON *tree)
{
    const cJSON *item;
    if (!cJSON_IsObject(tree))
        return dg_json_fail_item(&r->json, "", "a hardware file is one object", tree,
                                 "write { ... }");
    r->flats = dg_alloc_array(r->json.arena, (size_t)cJSON_GetArraySize(tree) + 1,
                              sizeof *r->flats);
    cJSON_ArrayForEach(item, tree) {
        if (r->flats == NULL || !read_member(r, item))
            return false;
    }
    return require(r, "name") && require(r, "architecture") && check_operations(r) &&
           imply_isa(r);
}

/* Sorts, joins flat values with their evidence, looks for contradictions. */
static bool finish(struct reader *r)
{
    struct dg_contradiction broken;
    struct dg_entry *entries = dg_alloc_array(r->json.arena, r->count + 1, sizeof *entries);
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < r->count; i++)
        entries[i] = r->flats[i].entry;
    dg_entries_sort(entries, r->count);
    r->out->entries = entries;
    r->out->entry_count = r->count;
    if (!dg_evidence_join(r->out, r->answers, r->answer_count, r->json.arena) ||
        !dg_rules_check(r->out, r->json.arena, &broken))
        return false;
    if (broken.key == NULL)
        return true;
    char pointer[DG_POINTER_SIZE];
    dg_pointer_add(pointer, "", broken.key);
    return dg_json_fail(&r->json, pointer, broken.rule, broken.value,
                        "measured values contradict each other: probe again, or type the right "
                        "one by hand");
}

bool dg_profile_read_text(const char *text, size_t size, const char *where,
                          struct dg_arena *arena, struct dg_profile *out, struct dg_error *e)
{
    struct dg_error ignored;
    struct reader r = { .json = { where, text, size, arena, e != NULL ? e : &ignored },
                        .out = out };
    *out = (struct dg_profile){ 0 };
    /* Stands when an allocation fails; every other failure says what it is. */
    dg_fail_memory(r.json.e, where);
    cJSON *tree = dg_json_parse(&r.json);
    bool ok = tree != NULL && read_tree(&r, tree);
    cJSON_Delete(tree);
    ok = ok && finish(&r);
    if (ok)
        *r.json.e = (struct dg_error){ .exit_code = DG_EXIT_OK };
    else
        *out = (struct dg_profile){ 0 };
    return ok;
}

bool dg_profile_load(const char *path, struct dg_arena *arena, struct dg_profile *out,
                     struct dg_error *e)
{
    *out = (struct dg_profile){ 0 };
    char *text = dg_file_read(path, FILE_LIMIT, arena, NULL, e);
    return text != NULL && dg_profile_read_text(text, strlen(text), path, arena, out, e);
}
