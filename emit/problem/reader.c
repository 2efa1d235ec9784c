/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings, from a file or from flags, checked into a problem. Every rule on one value stands in
 * keys.def, choices.def and dtypes.def; only what joins several values stands here in code. */
#include <string.h>

#include "base/names.h"
#include "base/number.h"
#include "emit/problem/name.h"
#include "emit/problem/reader.h"

enum key_id {
#define KEY(id, key, type, low, high, title) KEY_##id,
#include "emit/problem/keys.def"
    KEY_COUNT
};

const struct dg_key_row dg_problem_keys[] = {
#define KEY(id, key, type, low, high, title) { key, DG_KEY_##type, low, high, title },
#include "emit/problem/keys.def"
};
const size_t dg_problem_key_count = KEY_COUNT;

static const struct choice { enum key_id key; const char *text; int value; bool built; }
choices[] = {
#define CHOICE(key, text, value, built) { KEY_##key, text, value, built },
#include "emit/problem/choices.def"
#define DTYPE(id, name, other, a, b, c, a_bytes, b_bytes, c_bytes, sum, built) \
    { KEY_DTYPE, name, DG_##id, built }, { KEY_DTYPE, other, DG_##id, built },
#include "emit/problem/dtypes.def"
};
enum { CHOICES = sizeof choices / sizeof *choices };

struct check {
    const struct dg_setting *given[KEY_COUNT];   /* NULL: not given */
    uint64_t number[KEY_COUNT];                  /* integers, booleans and choices */
    bool unbuilt[KEY_COUNT];                     /* a choice that this version lacks */
    struct dg_problem *problem;
    struct dg_error *e;
};

static bool from_flag(const struct dg_setting *setting)
{
    return setting->where[0] == '\0' || strncmp(setting->where, "--", 2) == 0 ||
           strcmp(setting->where, "-o") == 0;
}

static bool refuse(struct check *c, const struct dg_setting *setting, const char *rule,
                   const char *todo)
{
    char where[256], value[128];
    bool flag = from_flag(setting);
    dg_format(where, sizeof where, flag ? "%s%s" : "%s: %s", setting->where,
              flag && setting->where[0] != '\0' ? "" : setting->key);
    dg_format(value, sizeof value, "%s", setting->text);
    return dg_fail(c->e, flag ? DG_EXIT_USAGE : DG_EXIT_INPUT, where, rule, value, todo);
}

/* What a plain YAML scalar would be if it were not a text. */
static bool looks_null(const char *text)
{
    static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        if (strcmp(text, nulls[i]) == 0)
            return true;
    return false;
}

static bool looks_typed(const char *text)
{
    static const char *const words[] = { "true", "false", "yes", "no", "on", "off" };
    double number;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return dg_parse_double(text, &number, NULL);
}

static bool take_integer(struct check *c, enum key_id id, const struct dg_setting *setting)
{
    const char *rule;
    const struct dg_key_row *row = &dg_problem_keys[id];
    char range[128];
    dg_format(range, sizeof range, "give a whole number from %llu to %llu, digits only",
              (unsigned long long)row->low, (unsigned long long)row->high);
    if (setting->quoted)
        return refuse(c, setting, "must be an integer, not a text", "remove the quotes");
    if (!dg_parse_u64_in(setting->text, row->low, row->high, &c->number[id], &rule))
        return refuse(c, setting, rule, range);
    return true;
}

static bool take_boolean(struct check *c, enum key_id id, const struct dg_setting *setting)
{
    c->number[id] = strcmp(setting->text, "true") == 0;
    if (setting->quoted || (c->number[id] == 0 && strcmp(setting->text, "false") != 0))
        return refuse(c, setting, "must be true or false", "write true or false, without quotes");
    return true;
}

static bool take_text(struct check *c, enum key_id id, const struct dg_setting *setting)
{
    const struct dg_key_row *row = &dg_problem_keys[id];
    size_t length = strlen(setting->text);
    char rule[128];
    if (!setting->quoted && !from_flag(setting) && looks_typed(setting->text))
        return refuse(c, setting, "must be a text", "put it in quotes");
    dg_format(rule, sizeof rule, "must have %llu to %llu characters",
              (unsigned long long)row->low, (unsigned long long)row->high);
    if (length < row->low || length > row->high)
        return refuse(c, setting, rule, "choose another");
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)setting->text[i] < 32 || setting->text[i] == 127)
            return refuse(c, setting, "holds a control character", "remove it");
    return true;
}

/* The list of what a choice takes: "packed, row_major". */
static void list_choices(enum key_id id, bool built, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < CHOICES; i++) {
        if (choices[i].key != id || choices[i].text == NULL || (built && !choices[i].built))
            continue;
        length += dg_format(out + length, size - length, "%s%s", length > 0 ? ", " : "",
                            choices[i].text);
        if (length >= size)
            return;
    }
}

static bool unknown_choice(struct check *c, enum key_id id, const struct dg_setting *setting)
{
    const char *names[CHOICES];
    size_t count = 0;
    char all[160], todo[256];
    for (size_t i = 0; i < CHOICES; i++)
        if (choices[i].key == id && choices[i].text != NULL)
            names[count++] = choices[i].text;
    const char *near = dg_name_nearest(setting->text, names, count);
    list_choices(id, false, all, sizeof all);
    if (near != NULL)
        dg_format(todo, sizeof todo, "did you mean %s? There are: %s", near, all);
    else
        dg_format(todo, sizeof todo, "one of: %s", all);
    return refuse(c, setting, "is not one of the values this key takes", todo);
}

static bool take_choice(struct check *c, enum key_id id, const struct dg_setting *setting)
{
    for (size_t i = 0; i < CHOICES; i++) {
        if (choices[i].key != id || choices[i].text == NULL ||
            strcmp(choices[i].text, setting->text) != 0)
            continue;
        c->unbuilt[id] = !choices[i].built;
        c->number[id] = (uint64_t)choices[i].value;
        return true;
    }
    return unknown_choice(c, id, setting);
}

static bool take(struct check *c, enum key_id id, const struct dg_setting *setting)
{
    if (!setting->quoted && looks_null(setting->text))
        return refuse(c, setting, "has no value", "give one, or remove the key");
    switch (dg_problem_keys[id].type) {
    case DG_KEY_INTEGER: return take_integer(c, id, setting);
    case DG_KEY_BOOLEAN: return take_boolean(c, id, setting);
    case DG_KEY_CHOICE: return take_choice(c, id, setting);
    default: return take_text(c, id, setting);
    }
}

/* Asked at the end, since a flag may have replaced what the file wants. */
static bool all_built(struct check *c)
{
    char built[160], todo[256];
    for (size_t id = 0; id < KEY_COUNT; id++) {
        if (!c->unbuilt[id])
            continue;
        list_choices((enum key_id)id, true, built, sizeof built);
        dg_format(todo, sizeof todo, "this version has: %s", built);
        return refuse(c, c->given[id], "is known but not built yet", todo);
    }
    return true;
}

static bool sort_in(struct check *c, const struct dg_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t id = 0;
        while (id < KEY_COUNT && strcmp(dg_problem_keys[id].key, settings[i].key) != 0)
            id++;
        if (id == KEY_COUNT)
            return refuse(c, &settings[i], "unknown key",
                          "keys are those of a configuration file, such as codegen.kernel_name");
        const struct dg_setting *before = c->given[id];
        if (before != NULL && from_flag(before) == from_flag(&settings[i]))
            return refuse(c, &settings[i], "is given twice", "keep one of the two");
        if (!take(c, (enum key_id)id, &settings[i]))
            return false;
        c->given[id] = &settings[i];
    }
    return all_built(c);
}

static bool required(struct check *c)
{
    static const enum key_id ids[] = { KEY_M, KEY_N, KEY_K, KEY_DTYPE };
    static const char *const todo[] = {
        "add `m: ROWS` to the configuration, or give --m ROWS",
        "add `n: COLUMNS` to the configuration, or give --n COLUMNS",
        "add `k: STEPS` to the configuration, or give --k STEPS",
        "add `dtype: f32` to the configuration, or give --dtype f32",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (c->given[ids[i]] == NULL)
            return dg_fail(c->e, DG_EXIT_USAGE, dg_problem_keys[ids[i]].key,
                           "is required and was not given", "", todo[i]);
    return true;
}

static uint64_t number_or(const struct check *c, enum key_id id, uint64_t otherwise)
{
    return c->given[id] != NULL ? c->number[id] : otherwise;
}

static uint64_t at_least_one(uint64_t value)
{
    return value > 0 ? value : 1;
}

static void copy(char *out, size_t size, const struct dg_setting *setting)
{
    if (setting != NULL)
        dg_format(out, size, "%s", setting->text);
}

static void fill(struct check *c)
{
    struct dg_problem *p = c->problem;
    *p = (struct dg_problem){
        .dtype = (enum dg_dtype)c->number[KEY_DTYPE],
        .m = c->number[KEY_M], .n = c->number[KEY_N], .k = c->number[KEY_K],
        .layout_a = (enum dg_layout)number_or(c, KEY_LAYOUT_A, DG_ROW_MAJOR),
        .layout_b = (enum dg_layout)number_or(c, KEY_LAYOUT_B, DG_PACKED),
        .layout_c = (enum dg_layout)number_or(c, KEY_LAYOUT_C, DG_ROW_MAJOR),
        .lda = number_or(c, KEY_LDA, at_least_one(c->number[KEY_K])),
        .ldb = number_or(c, KEY_LDB, c->number[KEY_N]),
        .ldc = number_or(c, KEY_LDC, c->number[KEY_N]),
        .beta = (int)number_or(c, KEY_BETA, 0),
        .objective = number_or(c, KEY_OBJECTIVE, 0) == DG_OBJECTIVE_CYCLES
                         ? DG_OBJECTIVE_CYCLES : DG_OBJECTIVE_INTENSITY,
        .intensity_divides = number_or(c, KEY_OBJECTIVE, 0) > DG_OBJECTIVE_INTENSITY,
        .tile_m = (uint32_t)number_or(c, KEY_TILE_M, 0),
        .tile_n = (uint32_t)number_or(c, KEY_TILE_N, 0),
        .enable_debug = number_or(c, KEY_DEBUG, 0) != 0,
        .workspace = number_or(c, KEY_WORKSPACE, 0) != 0,
        .isa = "auto",
    };
    copy(p->isa, sizeof p->isa, c->given[KEY_ISA]);
    copy(p->target, sizeof p->target, c->given[KEY_TARGET]);
    copy(p->output_dir, sizeof p->output_dir, c->given[KEY_OUTPUT_DIR]);
    dg_format(p->name, sizeof p->name, "gemm_%s_%llux%llux%llu", dg_dtype_names[p->dtype],
              (unsigned long long)p->m, (unsigned long long)p->n, (unsigned long long)p->k);
    copy(p->name, sizeof p->name, c->given[KEY_KERNEL_NAME]);
}

static bool leading(struct check *c, enum key_id id, uint64_t value, uint64_t least)
{
    char rule[128];
    dg_format(rule, sizeof rule, "must be at least %llu, the elements of a row",
              (unsigned long long)least);
    if (c->given[id] != NULL && value < least)
        return refuse(c, c->given[id], rule, "give the distance of two rows in elements");
    return true;
}

/* Bytes of rows x columns at a leading dimension; false when they do not fit 63 bits. */
static bool fits(uint64_t rows, uint64_t columns, uint64_t lead, unsigned bytes)
{
    uint64_t size;
    if (rows == 0 || columns == 0)
        return true;
    return !__builtin_mul_overflow(rows - 1, lead, &size) &&
           !__builtin_add_overflow(size, columns, &size) &&
           !__builtin_mul_overflow(size, bytes, &size) && size <= INT64_MAX;
}

static bool sizes(struct check *c)
{
    const struct dg_problem *p = c->problem;
    const struct dg_dtype_row *row = &dg_dtypes[p->dtype];
    char value[128];
    uint64_t product;
    enum dg_exit code = DG_EXIT_INPUT;
    for (enum key_id id = KEY_M; id <= KEY_K; id++)
        if (from_flag(c->given[id]))
            code = DG_EXIT_USAGE;
    dg_format(value, sizeof value, "%llu x %llu x %llu", (unsigned long long)p->m,
              (unsigned long long)p->n, (unsigned long long)p->k);
    if (__builtin_mul_overflow(p->m, p->n, &product) ||
        __builtin_mul_overflow(product, p->k, &product) || product > INT64_MAX)
        return dg_fail(c->e, code, "m, n, k", "m * n * k must be below 2^63", value,
                       "split the product");
    if (!fits(p->m, p->k, p->lda, row->a_bytes) || !fits(p->k, p->n, p->ldb, row->b_bytes) ||
        !fits(p->m, p->n, p->ldc, row->c_bytes))
        return dg_fail(c->e, code, "m, n, k", "an operand must be below 2^63 bytes",
                       value, "split the product");
    return leading(c, KEY_LDA, p->lda, p->k) && leading(c, KEY_LDB, p->ldb, p->n) &&
           leading(c, KEY_LDC, p->ldc, p->n);
}

/* Sums of K products of bytes must fit s32: 255 x 128 unsigned by signed, 128 x 128 both signed. */
static bool sums_fit(struct check *c)
{
    const struct dg_problem *p = c->problem;
    uint64_t most = dg_k_most(p->dtype);
    char rule[160];
    if (p->k <= most)
        return true;
    dg_format(rule, sizeof rule, "must be at most %llu, so that sums of %s products fit 32 bits",
              (unsigned long long)most, dg_dtype_names[p->dtype]);
    return refuse(c, c->given[KEY_K], rule, "split K and add the parts in 64 bits");
}

/* Packed B of the others has other elements than B, or groups of rows in a lane. */
static bool layout_fits(struct check *c)
{
    const struct dg_problem *p = c->problem;
    if (p->layout_b == DG_PACKED || p->dtype == DG_F32 || p->dtype == DG_F64 ||
        p->dtype == DG_F16)
        return true;
    return refuse(c, c->given[KEY_LAYOUT_B], "is not built yet for this dtype",
                  "use layout.b: packed");
}

bool dg_problem_from(const struct dg_setting *settings, size_t count, struct dg_problem *out,
                     struct dg_error *e)
{
    struct check c = { .problem = out, .e = e };
    const char *rule;
    if (!sort_in(&c, settings, count) || !required(&c))
        return false;
    if (c.given[KEY_KERNEL_NAME] != NULL &&
        !dg_kernel_name_valid(c.given[KEY_KERNEL_NAME]->text, &rule))
        return refuse(&c, c.given[KEY_KERNEL_NAME], rule,
                      "choose another of letters, digits and single underscores, such as "
                      "my_gemm");
    fill(&c);
    return sizes(&c) && sums_fit(&c) && layout_fits(&c);
}

bool dg_problem_load(const char *path, const struct dg_setting *flags, size_t flag_count,
                     struct dg_arena *arena, struct dg_problem *out, struct dg_error *e)
{
    struct dg_setting *settings = NULL;
    size_t count = 0;
    if (path != NULL && !dg_settings_read(path, arena, &settings, &count, e))
        return false;
    struct dg_setting *all = dg_alloc_array(arena, count + flag_count + 1, sizeof *all);
    if (all == NULL)
        return dg_fail_memory(e, path);
    if (count > 0)
        memcpy(all, settings, count * sizeof *all);
    if (flag_count > 0)
        memcpy(all + count, flags, flag_count * sizeof *all);
    return dg_problem_from(all, count + flag_count, out, e);
}
