/* SPDX-License-Identifier: Apache-2.0
 *
 * { "schema": "deepgemm-samples/1", "info": {...},
 *   "claims": [ { "key": ..., "source": ..., "value": ... } ],
 *   "requests": [ { "request": ..., "cycles": [...], "ns": [...], "rejected": 0 } ] } */
#include "profile/samples.h"

#include <string.h>

#include "base/file.h"
#include "profile/reading.h"
#include "profile/render.h"

enum { FILE_LIMIT = 256 << 20 };
static const char advice[] = "probe again to write the file anew";

char *dg_samples_path(const char *profile_path, struct dg_arena *arena)
{
    size_t length = strlen(profile_path);
    if (length > 5 && strcmp(profile_path + length - 5, ".json") == 0)
        length -= 5;
    char *out = dg_alloc(arena, length + sizeof ".samples.json");
    if (out != NULL) {
        memcpy(out, profile_path, length);
        strcpy(out + length, ".samples.json");
    }
    return out;
}

static void render_numbers(struct dg_str *out, const char *name, const double *x, size_t count)
{
    dg_str_format(out, ", \"%s\": [", name);
    for (size_t i = 0; i < count; i++) {
        dg_str_add(out, i == 0 ? "" : ", ");
        dg_str_double(out, x[i]);
    }
    dg_str_addc(out, ']');
}

static void render_row(struct dg_str *out, const struct dg_sample_row *row)
{
    dg_str_add(out, "{\"request\": ");
    dg_str_quoted(out, row->request);
    render_numbers(out, "cycles", row->cycles, row->count);
    render_numbers(out, "ns", row->ns, row->count);
    dg_str_format(out, ", \"rejected\": %zu", row->rejected);
    if (row->refused != NULL) {
        dg_str_add(out, ", \"refused\": ");
        dg_str_quoted(out, row->refused);
    }
    dg_str_addc(out, '}');
}

static void render_claim(struct dg_str *out, const struct dg_sample_claim *c)
{
    dg_str_add(out, "{\"key\": ");
    dg_str_quoted(out, c->key);
    dg_str_add(out, ", \"source\": ");
    dg_str_quoted(out, c->claim.source);
    dg_str_add(out, ", \"value\": ");
    dg_render_value(out, &c->claim.value);
    dg_str_addc(out, '}');
}

static void render(struct dg_str *out, const struct dg_samples_file *file)
{
    dg_str_add(out, "{\n  \"schema\": \"deepgemm-samples/1\",\n  \"info\": ");
    dg_render_facts(out, file->info, file->info_count);
    dg_str_add(out, ",\n  \"claims\": [");
    for (size_t i = 0; i < file->claim_count; i++) {
        dg_str_add(out, i == 0 ? "\n    " : ",\n    ");
        render_claim(out, &file->claims[i]);
    }
    dg_str_add(out, "],\n  \"requests\": [");
    for (size_t i = 0; i < file->row_count; i++) {
        dg_str_add(out, i == 0 ? "\n    " : ",\n    ");
        render_row(out, &file->rows[i]);
    }
    dg_str_add(out, "]\n}\n");
}

bool dg_samples_write(const char *path, const struct dg_samples_file *file, struct dg_error *e)
{
    struct dg_str out;
    dg_str_init(&out, NULL);
    render(&out, file);
    bool ok = !out.failed || dg_fail_memory(e, path);
    ok = ok && dg_file_write(path, out.text, out.length, e);
    dg_str_free(&out);
    return ok;
}

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static bool malformed(const struct dg_json *json, const char *pointer, const char *rule)
{
    return dg_json_fail(json, pointer, rule, "", advice);
}

static bool read_numbers(const struct dg_json *json, const char *pointer, const cJSON *item,
                         const double **out, size_t *count)
{
    size_t n = 0;
    const cJSON *number;
    if (!cJSON_IsArray(item))
        return malformed(json, pointer, "cycles and ns must be lists of numbers");
    double *x = dg_alloc_array(json->arena, (size_t)cJSON_GetArraySize(item) + 1, sizeof *x);
    if (x == NULL)
        return false;
    cJSON_ArrayForEach(number, item) {
        if (!cJSON_IsNumber(number))
            return malformed(json, pointer, "cycles and ns must be lists of numbers");
        x[n++] = number->valuedouble;
    }
    *out = x;
    *count = n;
    return true;
}

static bool copy_text(const struct dg_json *json, const char *pointer, const cJSON *item,
                      const char **out)
{
    if (!cJSON_IsString(item))
        return malformed(json, pointer, "a text is missing");
    *out = dg_strdup(json->arena, item->valuestring);
    return *out != NULL;
}

static bool read_row(const struct dg_json *json, const char *pointer, const cJSON *item,
                     struct dg_sample_row *out)
{
    const cJSON *rejected = member(item, "rejected"), *refused = member(item, "refused");
    size_t ns_count;
    if (!cJSON_IsNumber(rejected) ||
        !(rejected->valuedouble >= 0 && rejected->valuedouble < 1e15))
        return malformed(json, pointer, "the number `rejected` is missing");
    out->rejected = (size_t)rejected->valuedouble;
    if (!copy_text(json, pointer, member(item, "request"), &out->request) ||
        !read_numbers(json, pointer, member(item, "cycles"), &out->cycles, &out->count) ||
        !read_numbers(json, pointer, member(item, "ns"), &out->ns, &ns_count) ||
        (refused != NULL && !copy_text(json, pointer, refused, &out->refused)))
        return false;
    return ns_count == out->count ||
           malformed(json, pointer, "cycles and ns must be equally many");
}

static bool read_claim(const struct dg_json *json, const char *pointer, const cJSON *item,
                       struct dg_sample_claim *out)
{
    const cJSON *value = member(item, "value");
    if (value == NULL)
        return malformed(json, pointer, "a claim needs key, source and value");
    return copy_text(json, pointer, member(item, "key"), &out->key) &&
           copy_text(json, pointer, member(item, "source"), &out->claim.source) &&
           dg_value_read_any(json, pointer, value, &out->claim.value);
}

static bool read_lists(const struct dg_json *json, const cJSON *claims, const cJSON *rows,
                       struct dg_samples_file *out)
{
    const cJSON *item;
    char pointer[DG_POINTER_SIZE];
    struct dg_sample_claim *c = dg_alloc_array(
        json->arena, (size_t)cJSON_GetArraySize(claims) + 1, sizeof *c);
    struct dg_sample_row *r = dg_alloc_array(
        json->arena, (size_t)cJSON_GetArraySize(rows) + 1, sizeof *r);
    out->claims = c;
    out->rows = r;
    cJSON_ArrayForEach(item, claims) {
        dg_format(pointer, sizeof pointer, "/claims/%zu", out->claim_count);
        if (c == NULL || !read_claim(json, pointer, item, &c[out->claim_count++]))
            return false;
    }
    cJSON_ArrayForEach(item, rows) {
        dg_format(pointer, sizeof pointer, "/requests/%zu", out->row_count);
        if (r == NULL || !read_row(json, pointer, item, &r[out->row_count++]))
            return false;
    }
    return c != NULL && r != NULL;
}

static bool read_tree(const struct dg_json *json, const cJSON *tree, struct dg_samples_file *out)
{
    const cJSON *schema = member(tree, "schema"), *info = member(tree, "info");
    const cJSON *claims = member(tree, "claims"), *rows = member(tree, "requests");
    struct dg_fact *facts;
    if (!cJSON_IsString(schema) || strcmp(schema->valuestring, "deepgemm-samples/1") != 0 ||
        info == NULL || !cJSON_IsArray(claims) || !cJSON_IsArray(rows))
        return malformed(json, "", "is not a file of samples (schema deepgemm-samples/1 with "
                         "info, claims and requests)");
    if (!dg_facts_read(json, "/info", info, &facts, &out->info_count))
        return false;
    out->info = facts;
    return read_lists(json, claims, rows, out);
}

bool dg_samples_read(const char *path, struct dg_arena *arena, struct dg_samples_file *out,
                     struct dg_error *e)
{
    struct dg_error ignored;
    *out = (struct dg_samples_file){ 0 };
    char *text = dg_file_read(path, FILE_LIMIT, arena, NULL, e);
    if (text == NULL)
        return false;
    struct dg_json json = { path, text, strlen(text), arena, e != NULL ? e : &ignored };
    /* Stands when an allocation fails; every other failure says what it is. */
    dg_fail_memory(json.e, path);
    cJSON *tree = dg_json_parse(&json);
    bool ok = tree != NULL && read_tree(&json, tree, out);
    cJSON_Delete(tree);
    if (ok)
        *json.e = (struct dg_error){ .exit_code = DG_EXIT_OK };
    return ok;
}
