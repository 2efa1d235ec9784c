/* SPDX-License-Identifier: Apache-2.0
 *
 * deepgemm-probe: what this machine can do, measured. */
#include <stdio.h>

#include "base/report.h"
#include "cli/probe.h"
#include "probes/probe.h"
#include "profile/reader.h"
#include "profile/show.h"

static const struct dg_option run_options[] = {
#include "cli/probe.def"
};
static const struct dg_option infer_options[] = {
#include "cli/probe_infer.def"
};
static const struct dg_option compare_options[] = {
#include "cli/probe_compare.def"
};
static const struct dg_option merge_options[] = {
#include "cli/probe_merge.def"
};
static const struct dg_option report_options[] = {
#include "cli/probe_report.def"
};
static const struct dg_option show_options[] = {
#include "cli/probe_show.def"
};

static bool list(const struct dg_options *options, struct dg_error *e)
{
    (void)options, (void)e;
    for (size_t i = 0; i < DG_PROBE_COUNT; i++)
        printf("%-10s %5.2f s  %s: %s\n", dg_probes[i].id, dg_probes[i].seconds,
               dg_probes[i].title, dg_probes[i].fields);
    return true;
}

static bool show(const struct dg_options *options, struct dg_error *e)
{
    struct dg_profile profile;
    struct dg_str text;
    if (!dg_profile_load(options->operands[0], options->arena, &profile, e))
        return false;
    dg_str_init(&text, options->arena);
    if (dg_option_given(options, "slug")) {
        dg_profile_slug(&profile, &text);
        dg_str_addc(&text, '\n');
    } else if (dg_option_given(options, "all")) {
        dg_profile_show(&profile, &text);
    } else {
        dg_probe_summary(&profile, &text);
        dg_str_add(&text, "  show --all prints every value\n");
    }
    if (text.failed)
        return dg_fail_memory(e, options->operands[0]);
    dg_print_plain(stdout, dg_str_text(&text));
    return true;
}

/* A value without evidence was typed, wherever its evidence went. */
static void print_kinds_of_value(const char *path, const struct dg_profile *profile)
{
    size_t count[DG_UNRELIABLE + 1] = { 0 }, missing = 0;
    for (size_t i = 0; i < profile->entry_count; i++) {
        const struct dg_entry *entry = &profile->entries[i];
        const struct dg_answer *evidence = dg_profile_evidence(profile, entry->key);
        if (entry->value.kind == DG_VALUE_NULL)
            missing++;
        else
            count[evidence != NULL ? evidence->status : DG_ASSERTED]++;
    }
    printf("%s: valid: %zu values measured, %zu derived from such, %zu claimed by the system, "
           "%zu asserted (typed, or without evidence), %zu missing (null)\n", path,
           count[DG_MEASURED], count[DG_DERIVED], count[DG_CLAIMED], count[DG_ASSERTED], missing);
}

static bool validate(const struct dg_options *options, struct dg_error *e)
{
    struct dg_profile profile;
    if (!dg_profile_load(options->operands[0], options->arena, &profile, e))
        return false;
    for (size_t i = 0; i < profile.warning_count; i++) {
        char text[512];
        dg_format(text, sizeof text, "%s: %s", options->operands[0], profile.warnings[i]);
        dg_warning_print(options->program->name, text);
    }
    print_kinds_of_value(options->operands[0], &profile);
    return true;
}

#define OPTIONS(table) .options = table, .option_count = sizeof table / sizeof *table
static const struct dg_command commands[] = {
    { .name = "run", .operands = "", .summary = "measure this machine",
      OPTIONS(run_options), .run = dg_probe_command_run },
    { .name = "list", .operands = "", .summary = "list the probes", .run = list },
    { .name = "infer", .operands = "SAMPLES", .operands_least = 1, .operands_most = 1,
      .summary = "the profile again, from the samples of a run on any machine",
      OPTIONS(infer_options), .run = dg_probe_command_infer },
    { .name = "record", .operands = "DIR", .operands_least = 1, .operands_most = 1,
      .summary = "copy what the system states about this machine, for --sysroot; nothing personal",
      .run = dg_probe_command_record },
    { .name = "show", .operands = "FILE", .operands_least = 1, .operands_most = 1,
      .summary = "print one screen about a profile", OPTIONS(show_options), .run = show },
    { .name = "report", .operands = "FILE", .operands_least = 1, .operands_most = 1,
      .summary = "a page with pictures, to be read without network",
      OPTIONS(report_options), .run = dg_probe_command_report },
    { .name = "compare", .operands = "A B", .operands_least = 2, .operands_most = 2,
      .summary = "what is better and worse in B than in A, beyond noise",
      OPTIONS(compare_options), .run = dg_probe_command_compare },
    { .name = "merge", .operands = "FILE FILE...", .operands_least = 2, .operands_most = 65536,
      .summary = "one profile from many machines of one kind, outliers named",
      OPTIONS(merge_options), .run = dg_probe_command_merge },
    { .name = "validate", .operands = "FILE", .operands_least = 1, .operands_most = 1,
      .summary = "check a profile against every rule", .run = validate },
};

static const struct dg_program program = {
    .name = "deepgemm-probe",
    .summary = "measures what a chip can do",
    .description =
        "Times caches, memory, bandwidth and every vector operation that kernels use, and writes "
        "what it finds as hardware.json. It needs no counters, no root and no /sys: what the "
        "system states is noted as a claim beside what was measured, and a false claim is shown "
        "as contradicted.\n\n"
        "Without -o the profile is printed with --json, else a summary. The raw samples always "
        "stand beside the profile. An interrupt keeps what is done in NAME.incomplete.json, from "
        "where --resume goes on; FILE itself is always whole.",
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
    .default_named = true,
};

int main(int argc, char **argv)
{
    return dg_program_main(&program, argc, argv);
}
