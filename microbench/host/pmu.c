/* SPDX-License-Identifier: Apache-2.0
 * Which unit counts for a CPU. Chips with several kinds of core have one of each: an event that is
 * opened on the wrong one counts nothing, and says nothing. */
#include "microbench/host/host.h"

#include <string.h>

#include "base/error.h"

#define FOLDER "/sys/bus/event_source/devices"

/* Only the units of cores list their CPUs; those of interconnects have a mask of readers. */
static bool cpus_of(struct dg_host *host, const char *name, struct dg_cpus *out)
{
    char path[160], text[4096];
    dg_format(path, sizeof path, FOLDER "/%s/cpus", name);
    return host->read_file(host, path, text, sizeof text) > 0 && dg_cpus_parse(text, out);
}

bool dg_host_core_pmu(struct dg_host *host, unsigned cpu, struct dg_core_pmu *out)
{
    char names[8192], path[160];
    bool found = false;
    *out = (struct dg_core_pmu){.count = 0};
    if (host->read_folder(host, FOLDER, names, sizeof names) <= 0)
        return false;
    for (char *name = names; *name != '\0';) {
        size_t length = strcspn(name, "\n");
        struct dg_cpus cpus;
        bool more = name[length] == '\n';
        name[length] = '\0';
        if (length < sizeof out->name && cpus_of(host, name, &cpus)) {
            out->count++;
            dg_format(path, sizeof path, FOLDER "/%s/type", name);
            if (dg_cpus_have(&cpus, cpu) && dg_host_number(host, path, &out->type)) {
                memcpy(out->name, name, length + 1);
                found = true;
            }
        }
        name += length + more;
    }
    return found;
}
