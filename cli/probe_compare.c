/* SPDX-License-Identifier: Apache-2.0
 *
 * deepgemm-probe compare and merge: profiles beside each other. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/report.h"
#include "cli/probe.h"
#include "profile/compare.h"
#include "profile/merge.h"
#include "profile/reader.h"
#include "profile/writer.h"

static bool no_memory(struct dg_error *e)
{
    return dg_fail_memory(e, "");
}

static bool regressed(const struct dg_comparison *c, bool one_chip, const char *file,
                      struct dg_error *e)
{
    char value[96];
    size_t differs = one_chip ? c->of[DG_DIFFERS] : 0;
    if (c->of[DG_WORSE] + differs == 0)
        return false;
    dg_format(value, sizeof value, "%zu worse, %zu that differ", c->of[DG_WORSE], differs);
    dg_fail(e, DG_EXIT_CHECK, file, "must have no field that is worse or differs", value,
            "probe again on a quiet machine; what stays has changed");
    return true;
}

bool dg_probe_command_compare(const struct dg_options *options, struct dg_error *e)
{
    const char *const *files = options->operands;
    struct dg_profile a, b;
    struct dg_comparison comparison;
    struct dg_str text;
    double noise = dg_option_double(options, "noise", -100) / 100;
    if (!dg_profile_load(files[0], options->arena, &a, e) ||
        !dg_profile_load(files[1], options->arena, &b, e))
        return false;
    const char *other = dg_profile_other_chip(&a, &b, options->arena);
    if (other != NULL && !dg_option_given(options, "other-chip"))
        return dg_fail(e, DG_EXIT_INPUT, files[1], "must be of the same chip as the first file",
                       other, "give --other-chip to compare different chips");
    if (!dg_profile_compare(&a, &b, noise, options->arena, &comparison))
        return no_memory(e);
    dg_str_init(&text, options->arena);
    if (dg_option_given(options, "json"))
        dg_compare_json(&comparison, files[0], files[1], other, &text);
    else
        dg_compare_print(&comparison, dg_option_given(options, "all"), &text);
    if (text.failed)
        return no_memory(e);
    dg_print_plain(stdout, dg_str_text(&text));
    return !dg_option_given(options, "fail-on-regression") ||
           !regressed(&comparison, other == NULL, files[1], e);
}

static const char *without_folders(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* A pattern such as gathered/[a-z]*.json catches the samples beside the profiles too. */
static bool is_samples(const char *path)
{
    static const char end[] = ".samples.json";
    size_t length = strlen(path);
    return length >= sizeof end - 1 && strcmp(path + length - (sizeof end - 1), end) == 0;
}

static bool load_all(const struct dg_options *options, struct dg_merge_file *files, size_t *count,
                     struct dg_error *e)
{
    const char *output = dg_option_text(options, "output");
    for (size_t k = 0; k < options->operand_count; k++) {
        const char *path = options->operands[k];
        size_t i = *count;
        if (is_samples(path))
            continue;
        files[i].path = path;
        files[i].label = without_folders(path);
        for (size_t j = 0; j < i; j++)       /* gathered as HOST/hardware.json */
            if (strcmp(files[i].label, files[j].label) == 0)
                files[i].label = files[i].path, files[j].label = files[j].path;
        if (output != NULL && dg_file_same(path, output))
            return dg_fail(e, DG_EXIT_USAGE, "--output", "must not be a file that is read", output,
                           "give another path");
        if (!dg_profile_load(path, options->arena, &files[i].profile, e))
            return false;
        ++*count;
    }
    return *count >= 2 || dg_fail(e, DG_EXIT_USAGE, "merge", "needs two profiles at least",
                                  "samples", "name the profiles themselves");
}

bool dg_probe_command_merge(const struct dg_options *options, struct dg_error *e)
{
    const char *output = dg_option_text(options, "output");
    struct dg_profile merged;
    size_t count = 0;
    struct dg_merge_file *files = dg_alloc_array(options->arena, options->operand_count,
                                                 sizeof *files);
    if (files == NULL)
        return no_memory(e);
    if ((output != NULL && !dg_file_check(output, e)) || !load_all(options, files, &count, e) ||
        !dg_profile_merge(files, count, dg_option_text(options, "name"),
                          options->arena, &merged, e) ||
        (output != NULL && !dg_profile_save(output, &merged, e)))
        return false;
    const struct dg_value *outliers = dg_profile_fact(&merged, "outliers");
    for (size_t i = 0; outliers != NULL && i < outliers->list_count; i++) {
        struct dg_str text;
        dg_str_init(&text, options->arena);
        dg_str_format(&text, "outlier: %s", outliers->list[i]);
        dg_warning_print("deepgemm-probe", dg_str_text(&text));
    }
    return dg_probe_print(&merged, options, e);
}
