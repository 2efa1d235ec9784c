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

/* Only a file can hold one: its place is "FILE:LINE: target". */
static bool check_target(const struct dg_options *options, const struct dg_gen_input *in,
                         struct dg_error *e)
{
    struct dg_setting *settings;
    size_t count;
    if (dg_plan_check_target(&in->problem, &in->profile, e))
        return true;
    if (!dg_settings_read(dg_option_text(options, "config"), options->arena, &settings, &count,
                          NULL))
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings[i].key, "target") == 0)
            dg_format(e->where, sizeof e->where, "%s: target", settings[i].where);
    return false;
}

bool dg_gen_read(const struct dg_options *options, struct dg_gen_input *out, struct dg_error *e)
{
    const char *hardware = dg_option_text(options, "hardware");
    *out = (struct dg_gen_input){ .strict = dg_option_given(options, "strict") };
    if (hardware == NULL)
        return dg_fail(e, DG_EXIT_USAGE, "--hardware", "is required", "not given",
                       "give the hardware.json that deepgemm-probe wrote for the chip");
    if (!read_problem(options, &out->problem, e) ||
        !dg_profile_load(hardware, options->arena, &out->profile, e))
        return false;
    for (size_t i = 0; i < out->profile.warning_count; i++)
        dg_warning_print(options->program->name, out->profile.warnings[i]);
    return check_target(options, out, e);
}
