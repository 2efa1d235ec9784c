/* SPDX-License-Identifier: Apache-2.0
 *
 * deepgemm-probe record: what the tool asks of the system, as a tree that --sysroot reads. */
#include <stdio.h>

#include "cli/probe.h"
#include "microbench/host/tree.h"
#include "probes/claims/survey.h"

bool dg_probe_command_record(const struct dg_options *options, struct dg_error *e)
{
    const char *folder = options->operands[0];
    struct dg_host host;
    struct dg_tree_writer writer;
    dg_host_system(&host, NULL);
    if (!dg_tree_create(&writer, &host, folder, options->arena, e))
        return false;
    unsigned cpus = dg_survey(&writer.host, options->arena);
    if (!dg_tree_finish(&writer))
        return false;
    printf("%s: %u files about %u CPUs\n", folder, writer.files, cpus);
    return true;
}
