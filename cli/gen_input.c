/* SPDX-License-Identifier: Apache-2.0
 *
 * From options to a problem and a profile. */
#include <string.h>

#include "base/report.h"
#include "base/str.h"
#include "cli/gen.h"
#include "emit/problem/reader.h"
#include "profile/reader.h"

/* Exceptions to "key a.b_c is flag --a-b-c"; "" for a key without a flag. */
static const struct { const char *key, *option; } exceptions[] = {
    { "target", "" }, { "codegen.output_dir", "output-dir" }, { "codegen.kernel_name", "name" },
};

static bool option_of(const char *key, char *out, size_t size)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(key, exceptions[i].key) == 0)
            return dg_format(out, size, "%s", exceptions[i].option) > 0;
    dg_format(out, size, "%s", key);
    for (char *c = out; *c != '\0'; c++)
        if (*c == '.' || *c == '_')
            *c = '-';
    return true;
}

static bool in_table(const struct dg_options *options, const char *name)
{
    for (size_t i = 0; i < options->command->option_count; i++)
        if (strcmp(options->command->options[i].name, name) == 0)
            return true;
    return false;
}

static bool read_problem(const struct dg_options *options, struct dg_problem *out,
                         struct dg_error *e)
{
    struct dg_setting *flags = dg_alloc_array(options->arena, dg_problem_key_count, sizeof *flags);
    size_t count = 0;
    for (size_t i = 0; flags != NULL && i < dg_problem_key_count; i++) {
        char name[64], place[80];
        const char *key = dg_problem_keys[i].key, *text;
        if (!option_of(key, name, sizeof name) || !in_table(options, name) ||
            (text = dg_option_text(options, name)) == NULL)
            continue;
        dg_format(place, sizeof place, strcmp(name, "output-dir") == 0 ? "-o" : "--%s", name);
        flags[count++] = (struct dg_setting){ key, text, dg_strdup(options->arena, place), false };
        if (flags[count - 1].where == NULL)
            flags = NULL;
    }
    if (flags == NULL)
        return dg_fail_memory(e, "deepgemm-gen");
    return dg_problem_load(dg_option_text(options, "config"), flags, count, options->arena, out, e);
}

/* What the planner calls by its key, as the user gave it: a flag, or a line of the configuration,
 * or else a value of the hardware file. */
static bool blame(const struct dg_options *options, struct dg_error *e)
{
    char key[sizeof e->where], name[64];
    const char *config = dg_option_text(options, "config");
    struct dg_setting *settings;
    size_t count = 0;
    if (e->exit_code != DG_EXIT_INPUT)
        return false;
    dg_format(key, sizeof key, "%s", e->where);
    key[strcspn(key, ",")] = '\0';                /* "m, n, k" */
    if (option_of(key, name, sizeof name) && in_table(options, name) &&
        dg_option_given(options, name)) {
        e->exit_code = DG_EXIT_USAGE;
        if (strcmp(key, e->where) == 0)
            dg_format(e->where, sizeof e->where, "--%s", name);
        return false;
    }
    if (config != NULL && !dg_settings_read(config, options->arena, &settings, &count, NULL))
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings[i].key, key) == 0) {
            dg_format(e->where, sizeof e->where, "%s: %s", settings[i].where, key);
            return false;
        }
    dg_format(e->where, sizeof e->where, "%s: /%s", dg_option_text(options, "hardware"),
              key + (key[0] == '/'));
    return false;
}

static bool read_input(const struct dg_options *options, struct dg_gen_input *out,
                       struct dg_error *e)
{
    const char *hardware = dg_option_text(options, "hardware");
    if (hardware == NULL)
        return dg_fail(e, DG_EXIT_USAGE, "--hardware", "is required", "not given",
                       "give the hardware.json that deepgemm-probe wrote for the chip");
    if (!read_problem(options, &out->problem, e) ||
        !dg_profile_load(hardware, options->arena, &out->profile, e))
        return false;
    for (size_t i = 0; i < out->profile.warning_count; i++)
        dg_warning_print(options->program->name, out->profile.warnings[i]);
    return true;
}

bool dg_gen_plan(const struct dg_options *options, struct dg_gen_input *out, struct dg_error *e)
{
    *out = (struct dg_gen_input){ .strict = dg_option_given(options, "strict") };
    return read_input(options, out, e) &&
           (dg_plan_make(&out->problem, &out->profile, out->strict, options->arena, &out->plan,
                         e) || blame(options, e));
}
