/* SPDX-License-Identifier: Apache-2.0
 *
 * deepgemm-probe report: a page with pictures about a profile. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/report.h"
#include "cli/probe.h"
#include "profile/reader.h"
#include "profile/report.h"
#include "profile/samples.h"

bool dg_probe_command_report(const struct dg_options *options, struct dg_error *e)
{
    const char *path = options->operands[0], *output = dg_option_text(options, "output");
    const char *samples_path = dg_option_text(options, "samples");
    struct dg_profile profile;
    struct dg_samples_file samples;
    struct dg_str page;
    bool asked = samples_path != NULL;
    if (output != NULL && dg_file_same(path, output))
        return dg_fail(e, DG_EXIT_USAGE, "--output", "must not be the file that is read", output,
                       "give another path");
    if ((output != NULL && !dg_file_check(output, e)) ||
        !dg_profile_load(path, options->arena, &profile, e))
        return false;
    if (!asked)
        samples_path = dg_samples_path(path, options->arena);
    bool there = samples_path != NULL && (asked || access(samples_path, F_OK) == 0);
    if (there && !dg_samples_read(samples_path, options->arena, &samples, e))
        return false;
    if (!there)
        dg_warning_print("deepgemm-probe",
                         "no samples beside the profile: most pictures stay empty");
    dg_str_init(&page, options->arena);
    dg_profile_report(&profile, there ? &samples : NULL, &page);
    if (page.failed)
        return dg_fail_memory(e, path);
    if (output != NULL)
        return dg_file_write(output, page.text, page.length, e);
    fwrite(page.text, 1, page.length, stdout);
    return true;
}
