/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "base/sha256.h"
#include "emit/write/json.h"
#include "emit/write/manifest_fields.h"

enum { MANIFEST_LIMIT = 1 << 20, FILE_LIMIT = 1 << 28, PLACE = 192 };

struct reader {
    struct dg_json json;
    struct dg_arena *arena;
    struct dg_error *e;
};

static bool bad(struct reader *r, const char *place, const char *rule)
{
    char where[sizeof r->e->where];
    dg_format(where, sizeof where, "%s: %s", r->json.where, place);
    const struct dg_json_item *item = dg_json_find(&r->json, place);
    char value[sizeof r->e->value] = "absent";
    if (item != NULL)
        dg_format(value, sizeof value, "%s",
                  item->kind == DG_JSON_TEXT ? item->text : "a value of another kind");
    dg_fail(r->e, DG_EXIT_INPUT, where, rule, value,
            "generate the kernel again with this version of deepgemm-gen");
    return false;
}

static const struct dg_json_item *take(struct reader *r, const char *place, enum dg_json_kind kind)
{
    struct dg_json_item *item = dg_json_find(&r->json, place);
    if (item == NULL || item->kind != kind)
        return NULL;
    item->used = true;
    return item;
}

static bool take_text(struct reader *r, const char *place, const char **out)
{
    const struct dg_json_item *item = take(r, place, DG_JSON_TEXT);
    if (item == NULL)
        return bad(r, place, "must be a text");
    *out = item->text;
    return true;
}

static bool take_number(struct reader *r, const char *place, double *out)
{
    const struct dg_json_item *item = take(r, place, DG_JSON_NUMBER);
    if (item == NULL)
        return bad(r, place, "must be a number");
    *out = item->number;
    return true;
}

static bool take_bool(struct reader *r, const char *place, bool *out)
{
    const struct dg_json_item *item = take(r, place, DG_JSON_TRUE);
    *out = item != NULL;
    if (item == NULL && take(r, place, DG_JSON_FALSE) == NULL)
        return bad(r, place, "must be true or false");
    return true;
}

/* From the digits, not from the double: sizes beyond 2^53 stay exact. */
static bool take_u64(struct reader *r, const char *place, uint64_t high, uint64_t *out)
{
    const struct dg_json_item *item = take(r, place, DG_JSON_NUMBER);
    char digits[DG_NUMBER_SIZE] = "";
    if (item != NULL && item->raw_size < sizeof digits)
        memcpy(digits, item->raw, item->raw_size);
    return dg_parse_u64_in(digits, 0, high, out, NULL) ||
           bad(r, place, "must be a whole number in range");
}

static bool read_field(struct reader *r, const struct dg_manifest_field *field,
                       struct dg_manifest *out)
{
    char place[PLACE], *at = (char *)out + field->offset;
    dg_format(place, sizeof place, "%s%s/%s", field->object[0] != '\0' ? "/" : "", field->object,
              field->name);
    const char *text = "";
    uint64_t u64 = 0;
    double number = 0;
    bool flag, ok = false;
    switch (field->kind) {
    case DG_MANIFEST_TEXT:
        if ((ok = take_text(r, place, &text)))
            memcpy(at, &text, sizeof text);
        break;
    case DG_MANIFEST_U64:
        if ((ok = take_u64(r, place, UINT64_MAX, &u64)))
            memcpy(at, &u64, sizeof u64);
        break;
    case DG_MANIFEST_U32:
        if ((ok = take_u64(r, place, INT_MAX, &u64)))
            memcpy(at, &(unsigned){ (unsigned)u64 }, sizeof(unsigned));
        break;
    case DG_MANIFEST_BOOL:
        if ((ok = take_bool(r, place, &flag)))
            memcpy(at, &flag, sizeof flag);
        break;
    case DG_MANIFEST_NUMBER:
    case DG_MANIFEST_KNOWN:
        ok = (field->kind == DG_MANIFEST_KNOWN && take(r, place, DG_JSON_NULL) != NULL) ||
             take_number(r, place, &number);
        memcpy(at, &number, sizeof number);
        break;
    }
    return ok;
}

/* Room for the members of a list. */
static void *take_array(struct reader *r, const char *place, size_t size, size_t *count)
{
    const struct dg_json_item *item = take(r, place, DG_JSON_ARRAY);
    void *room = item != NULL ? dg_alloc_array(r->arena, item->count + 1, size) : NULL;
    *count = item != NULL ? item->count : 0;
    if (room == NULL)
        bad(r, place, "must be a list");
    return room;
}

/* "/files" and 3 and "name" give "/files/3/name". */
static const char *member(char place[PLACE], const char *array, size_t index, const char *name)
{
    dg_format(place, PLACE, "%s/%zu%s%s", array, index, name[0] != '\0' ? "/" : "", name);
    return place;
}

static bool read_terms(struct reader *r, struct dg_manifest *out)
{
    static const char array[] = "/predicted/terms";
    char at[PLACE];
    struct dg_manifest_term *terms = take_array(r, array, sizeof *terms,
                                                &out->predicted.term_count);
    if (terms == NULL)
        return false;
    out->predicted.terms = terms;
    for (size_t i = 0; i < out->predicted.term_count; i++)
        if (!take_text(r, member(at, array, i, "id"), &terms[i].id) ||
            !take_text(r, member(at, array, i, "title"), &terms[i].title) ||
            !take_number(r, member(at, array, i, "cycles"), &terms[i].cycles))
            return false;
    return true;
}

static void use_below(struct reader *r, const char *place)
{
    size_t length = strlen(place);
    for (size_t i = 0; i < r->json.count; i++)
        if (strncmp(r->json.items[i].place, place, length) == 0 &&
            (r->json.items[i].place[length] == '/' || r->json.items[i].place[length] == '\0'))
            r->json.items[i].used = true;
}

static bool read_keys(struct reader *r, struct dg_manifest *out)
{
    static const char array[] = "/profile/keys";
    char at[PLACE];
    struct dg_manifest_key *keys = take_array(r, array, sizeof *keys, &out->profile.key_count);
    if (keys == NULL)
        return false;
    out->profile.keys = keys;
    for (size_t i = 0; i < out->profile.key_count; i++) {
        const struct dg_json_item *value = dg_json_find(&r->json, member(at, array, i, "value"));
        if (value == NULL)
            return bad(r, at, "must be there");
        use_below(r, at);
        char *text = dg_alloc(r->arena, value->raw_size + 1);
        if (text == NULL)
            return bad(r, at, "needs more memory");
        memcpy(text, value->raw, value->raw_size);
        keys[i].value = text;
        if (!take_text(r, member(at, array, i, "key"), &keys[i].key) ||
            !take_bool(r, member(at, array, i, "assumed"), &keys[i].assumed) ||
            !take_number(r, member(at, array, i, "used"), &keys[i].used))
            return false;
    }
    use_below(r, "/assumed");            /* the same once more, for people */
    return true;
}

static bool read_files(struct reader *r, struct dg_manifest *out)
{
    char at[PLACE];
    struct dg_manifest_file *files = take_array(r, "/files", sizeof *files, &out->file_count);
    if (files == NULL)
        return false;
    out->files = files;
    for (size_t i = 0; i < out->file_count; i++) {
        if (!take_text(r, member(at, "/files", i, "sha256"), &files[i].sha256) ||
            !take_text(r, member(at, "/files", i, "name"), &files[i].name))
            return false;
        if (files[i].name[0] == '\0' || strchr(files[i].name, '/') != NULL)
            return bad(r, at, "must be a file beside the manifest");
    }
    return true;
}

static bool check_leftover(struct reader *r)
{
    for (size_t i = 0; i < r->json.count; i++) {
        const struct dg_json_item *item = &r->json.items[i];
        if (!item->used && item->kind != DG_JSON_OBJECT)
            return bad(r, item->place, "is not a key of " DG_MANIFEST_SCHEMA);
    }
    return true;
}

bool dg_manifest_parse(const char *text, size_t size, const char *where, struct dg_arena *arena,
                       struct dg_manifest *out, struct dg_error *e)
{
    struct dg_error none;
    struct reader r = { .arena = arena, .e = e != NULL ? e : &none };
    const char *schema = "";
    *out = (struct dg_manifest){ 0 };
    if (!dg_json_flatten(text, size, where, arena, &r.json, r.e) ||
        !take_text(&r, "/schema", &schema))
        return false;
    if (strcmp(schema, DG_MANIFEST_SCHEMA) != 0)
        return bad(&r, "/schema", "must be " DG_MANIFEST_SCHEMA);
    for (size_t i = 0; i < dg_manifest_field_count; i++)
        if (!read_field(&r, &dg_manifest_fields[i], out))
            return false;
    return read_terms(&r, out) && read_keys(&r, out) && read_files(&r, out) && check_leftover(&r);
}

bool dg_manifest_read(const char *path, struct dg_arena *arena, struct dg_manifest *out,
                      struct dg_error *e)
{
    size_t size;
    const char *text = dg_file_read(path, MANIFEST_LIMIT, arena, &size, e);
    return text != NULL && dg_manifest_parse(text, size, path, arena, out, e);
}

static bool check_file(const char *path, size_t folder, const struct dg_manifest_file *file,
                       struct dg_error *e)
{
    struct dg_arena arena;
    char hex[DG_SHA256_HEX], rule[128];
    size_t size, length = strlen(file->name);
    dg_arena_init(&arena);
    char *full = dg_alloc(&arena, folder + length + 1);
    bool ok = false;
    if (full != NULL) {
        memcpy(full, path, folder);
        memcpy(full + folder, file->name, length);
        const char *bytes = dg_file_read(full, FILE_LIMIT, &arena, &size, e);
        if (bytes != NULL) {
            dg_sha256_hex(bytes, size, hex);
            dg_format(rule, sizeof rule, "must have the manifest's sha256 %s", file->sha256);
            ok = strcmp(hex, file->sha256) == 0 ||
                 dg_fail(e, DG_EXIT_INPUT, full, rule, hex, "generate the kernel again; for a file "
                         "changed on purpose, write the sha256 found into the manifest");
        }
    } else {
        dg_fail_memory(e, path);
    }
    dg_arena_free(&arena);
    return ok;
}

bool dg_manifest_check_files(const char *path, const struct dg_manifest *manifest,
                             struct dg_error *e)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    for (size_t i = 0; i < manifest->file_count; i++)
        if (!check_file(path, folder, &manifest->files[i], e))
            return false;
    return true;
}
