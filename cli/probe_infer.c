/* SPDX-License-Identifier: Apache-2.0
 *
 * deepgemm-probe infer: a profile from recorded samples, on any machine; and what it shares with
 * deepgemm-probe run. */
#include <stdio.h>

#include "base/file.h"
#include "base/str.h"
#include "base/report.h"
#include "cli/probe.h"
#include "probes/replay.h"
#include "profile/builder.h"
#include "profile/samples.h"
#include "profile/writer.h"

bool dg_probe_profile(const struct dg_probe_result *result, const char *name,
                      const char *architecture, struct dg_arena *arena, struct dg_profile *out,
                      struct dg_error *e)
{
    const struct dg_build what = {
        .name = name, .architecture = architecture,
        .answers = result->answers.answer, .answer_count = result->answers.count,
        .facts = result->facts.fact, .fact_count = result->facts.count };
    return dg_profile_build(&what, arena, out, e);
}

bool dg_probe_print(const struct dg_profile *profile, const struct dg_options *options,
                    struct dg_error *e)
{
    struct dg_str text;
    bool json = dg_option_given(options, "json");
    dg_str_init(&text, options->arena);
    if (json)
        dg_profile_render(profile, &text);
    else
        dg_probe_summary(profile, &text);
    if (text.failed)
        return dg_fail_memory(e, "");
    if (json)
        fputs(dg_str_text(&text), stdout);
    else
        dg_print_plain(stdout, dg_str_text(&text));
    return true;
}

/* An answer that no probe gives comes from samples that somebody changed. */
static bool build(const char *path, const struct dg_samples_file *file,
                  const struct dg_probe_result *result, struct dg_arena *arena,
                  struct dg_profile *out, struct dg_error *e)
{
    struct dg_error wrong = { .exit_code = DG_EXIT_OK };
    char where[sizeof wrong.where];
    if (dg_probe_profile(result, dg_replay_name(file), dg_replay_architecture(file), arena, out,
                         &wrong))
        return true;
    dg_format(where, sizeof where, "%s: %s", path, wrong.where);
    return dg_fail(e, DG_EXIT_INPUT, where, wrong.rule, wrong.value,
                   "give the samples file as deepgemm-probe wrote it");
}

bool dg_probe_command_infer(const struct dg_options *options, struct dg_error *e)
{
    const char *path = options->operands[0], *output = dg_option_text(options, "output");
    struct dg_samples_file file;
    struct dg_probe_result result;
    struct dg_profile profile;
    if (output != NULL && dg_file_same(path, output))
        return dg_fail(e, DG_EXIT_USAGE, "--output", "must not be the file that is read", output,
                       "give another path");
    if (output != NULL && !dg_file_check(output, e))
        return false;
    if (!dg_samples_read(path, options->arena, &file, e))
        return false;
    if (dg_replay_name(&file)[0] == '\0' || dg_replay_architecture(&file)[0] == '\0')
        return dg_fail(e, DG_EXIT_INPUT, path, "info must hold name and architecture", "none",
                       "give the samples file that deepgemm-probe wrote beside a profile");
    return dg_replay_run(&file, options->arena, &result, e) &&
           build(path, &file, &result, options->arena, &profile, e) &&
           (output == NULL || dg_profile_save(output, &profile, e)) &&
           dg_probe_print(&profile, options, e);
}
