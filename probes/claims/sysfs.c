/* SPDX-License-Identifier: Apache-2.0
 *
 * Caches of one CPU as /sys states them. */
#include "probes/claims/collect.h"

#include <string.h>

#include "base/error.h"

enum { PATH = 128, TEXT = 4096, INDICES = 16 };

static double number(struct dg_host *host, unsigned cpu, unsigned index, const char *name)
{
    char path[PATH];
    uint64_t value;
    dg_format(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, index,
              name);
    return dg_host_number(host, path, &value) ? (double)value : 0;
}

static double shared_by(struct dg_host *host, unsigned cpu, unsigned index)
{
    char path[PATH], text[TEXT];
    struct dg_cpus cpus;
    dg_format(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", cpu,
             index);
    if (host->read_file(host, path, text, sizeof text) < 0 || !dg_cpus_parse(text, &cpus))
        return 0;
    return dg_cpus_count(&cpus);
}

void dg_claims_sysfs(struct dg_claims *claims, struct dg_host *host, unsigned cpu)
{
    char path[PATH], type[32];
    uint64_t khz;
    for (unsigned i = 0; i < INDICES; i++) {
        dg_format(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/type", cpu, i);
        if (host->read_file(host, path, type, sizeof type) < 0)
            break;
        struct dg_cache_claim c = {
            .level = (unsigned)number(host, cpu, i, "level"),
            .instruction = strncmp(type, "Instruction", 11) == 0,
            .size = number(host, cpu, i, "size"),
            .line = number(host, cpu, i, "coherency_line_size"),
            .ways = number(host, cpu, i, "ways_of_associativity"),
            .sets = number(host, cpu, i, "number_of_sets"),
            .shared_by = shared_by(host, cpu, i),
        };
        dg_claims_add_cache(claims, "sysfs", &c);
    }
    dg_format(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq", cpu);
    if (dg_host_number(host, path, &khz))
        dg_claims_add_number(claims, "clock_hz", "cpufreq", 1000.0 * (double)khz);
}

void dg_claims_nodes(struct dg_claims *claims, struct dg_host *host)
{
    enum { NODES = 16, SEVERAL = 2, MOST = 1000 };
    struct dg_cpus nodes, cpus;
    if (!dg_host_nodes(host, &nodes) || dg_cpus_count(&nodes) < SEVERAL)
        return;
    for (unsigned node = 0; node < NODES; node++) {
        char path[PATH], key[32], text[MOST];
        dg_format(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", node);
        if (!dg_cpus_have(&nodes, node) || host->read_file(host, path, text, sizeof text) <= 0 ||
            !dg_cpus_parse(text, &cpus) || dg_cpus_count(&cpus) == 0)
            continue;
        dg_cpus_format(&cpus, text, sizeof text);
        dg_format(key, sizeof key, "numa.%u.cpus", node);
        dg_claims_add_text(claims, key, "sysfs", text);
    }
}
