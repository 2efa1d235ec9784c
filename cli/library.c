/* SPDX-License-Identifier: Apache-2.0
 *
 * libdeepgemm: the public functions over the folders, as thin as the commands. Each object owns
 * the arena that its parts live in. */
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
#include "deepgemm/deepgemm.h"
#pragma GCC visibility pop

#include "base/arena.h"
#include "base/error.h"
#include "emit/plan/plan.h"
#include "emit/problem/reader.h"
#include "emit/write/emit.h"
#include "profile/reader.h"
#include "profile/writer.h"

struct dg_hardware {
    struct dg_arena arena;
    struct dg_profile profile;
};

struct dg_product {
    struct dg_arena arena;
    struct dg_problem problem;
};

struct dg_planned {
    struct dg_arena arena;
    const struct dg_product *product;
    struct dg_plan_result result;
};

const char *dg_version(void)
{
    return DG_VERSION;
}

static void *no_memory(struct dg_error *e)
{
    dg_fail_memory(e, "");
    return NULL;
}

struct dg_hardware *dg_profile_read(const char *path, struct dg_error *e)
{
    struct dg_hardware *out = calloc(1, sizeof *out);
    if (out == NULL)
        return no_memory(e);
    dg_arena_init(&out->arena);
    if (dg_profile_load(path, &out->arena, &out->profile, e))
        return out;
    dg_profile_free(out);
    return NULL;
}

void dg_profile_free(struct dg_hardware *hardware)
{
    if (hardware != NULL)
        dg_arena_free(&hardware->arena);
    free(hardware);
}

bool dg_profile_write(const struct dg_hardware *hardware, const char *path, struct dg_error *e)
{
    return hardware != NULL && dg_profile_save(path, &hardware->profile, e);
}

bool dg_profile_validate(const char *path, size_t *warnings, struct dg_error *e)
{
    struct dg_hardware *hardware = dg_profile_read(path, e);
    bool ok = hardware != NULL;
    if (ok && warnings != NULL)
        *warnings = hardware->profile.warning_count;
    dg_profile_free(hardware);
    return ok;
}

const char *dg_profile_warning(const struct dg_hardware *hardware, size_t index)
{
    return index < hardware->profile.warning_count ? hardware->profile.warnings[index] : NULL;
}

bool dg_profile_value(const struct dg_hardware *hardware, const char *key, double *out)
{
    const struct dg_value *value = dg_profile_find(&hardware->profile, key);
    if (value == NULL || value->kind != DG_VALUE_NUMBER)
        return false;
    *out = value->number;
    return true;
}

const char *dg_profile_name(const struct dg_hardware *hardware)
{
    return dg_profile_text(&hardware->profile, "name");
}

/* "key=value" texts as settings; the place of a wrong one is its key. */
static struct dg_setting *take_settings(struct dg_arena *arena, const char *const *texts,
                                        size_t *count, struct dg_error *e)
{
    size_t n = 0;
    while (texts != NULL && texts[n] != NULL)
        n++;
    struct dg_setting *out = dg_alloc_array(arena, n + 1, sizeof *out);
    if (out == NULL)
        return no_memory(e);
    for (size_t i = 0; i < n; i++) {
        char *key = dg_strdup(arena, texts[i]);
        char *mark = key == NULL ? NULL : strchr(key, '=');
        if (key == NULL)
            return no_memory(e);
        if (mark == NULL) {
            dg_fail(e, DG_EXIT_USAGE, "settings", "must be key=value", texts[i],
                    "write it like m=64");
            return NULL;
        }
        *mark = '\0';
        out[i] = (struct dg_setting){ .key = key, .text = mark + 1, .where = "" };
    }
    *count = n;
    return out;
}

struct dg_product *dg_problem_read(const char *path, const char *const *settings,
                                   struct dg_error *e)
{
    size_t count = 0;
    struct dg_product *out = calloc(1, sizeof *out);
    if (out == NULL)
        return no_memory(e);
    dg_arena_init(&out->arena);
    const struct dg_setting *given = take_settings(&out->arena, settings, &count, e);
    if (given != NULL && dg_problem_load(path, given, count, &out->arena, &out->problem, e))
        return out;
    dg_problem_free(out);
    return NULL;
}

void dg_problem_free(struct dg_product *product)
{
    if (product != NULL)
        dg_arena_free(&product->arena);
    free(product);
}

const char *dg_problem_name(const struct dg_product *product)
{
    return product->problem.name;
}

struct dg_planned *dg_plan(const struct dg_product *product, const struct dg_hardware *hardware,
                           bool strict, struct dg_error *e)
{
    if (product == NULL || hardware == NULL)
        return NULL;
    struct dg_planned *out = calloc(1, sizeof *out);
    if (out == NULL)
        return no_memory(e);
    dg_arena_init(&out->arena);
    out->product = product;
    if (dg_plan_make(&product->problem, &hardware->profile, strict, &out->arena, &out->result, e))
        return out;
    dg_plan_free(out);
    return NULL;
}

void dg_plan_free(struct dg_planned *planned)
{
    if (planned != NULL)
        dg_arena_free(&planned->arena);
    free(planned);
}

void dg_plan_describe(const struct dg_planned *planned, struct dg_plan_facts *out)
{
    const struct dg_plan *best = &planned->result.best;
    size_t assumed = 0, size = out->size < sizeof *out ? out->size : sizeof *out;
    while (dg_plan_assumed(planned, assumed, NULL) != NULL)
        assumed++;
    struct dg_plan_facts facts = {
        .size = size, .isa = best->body.isa->name, .mr = best->tile.rows,
        .nr = best->tile.vectors * best->body.lanes, .mc = best->mc, .nc = best->nc,
        .kc = best->kc_elements, .predicted_cycles = (double)best->cycles / DG_COST_ONE,
        .runner_up_cycles = (double)planned->result.runner_up.cycles / DG_COST_ONE,
        .peak = (double)best->peak / DG_COST_ONE, .binding = best->binding, .assumed = assumed,
    };
    memcpy(out, &facts, size);             /* an older caller's struct is shorter */
}

const char *dg_plan_assumed(const struct dg_planned *planned, size_t index, double *used)
{
    const struct dg_view *view = &planned->result.view;
    for (size_t i = 0; i < view->read_count; i++) {
        if (!view->reads[i].assumed || index-- > 0)
            continue;
        if (used != NULL)
            *used = view->reads[i].used;
        return view->reads[i].key;
    }
    return NULL;
}

bool dg_emit(const struct dg_planned *planned, const char *folder, const char *as, const char *cc,
             struct dg_error *e)
{
    if (planned == NULL)
        return false;
    struct dg_arena arena;
    struct dg_emitted emitted;
    const struct dg_emit_options options = { .tool_version = DG_VERSION, .assembler = { as, cc } };
    dg_arena_init(&arena);
    bool ok = dg_emit_make(&planned->product->problem, &planned->result, &options, &arena,
                           &emitted, e) &&
              dg_emit_write(&emitted, folder, &arena, e);
    dg_arena_free(&arena);
    return ok;
}
