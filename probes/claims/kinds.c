/* SPDX-License-Identifier: Apache-2.0
 *
 * Kinds of core. Two CPUs are of one kind when the system states the same capacity, the same
 * identification (MIDR on Arm), the same class (cpu_core and cpu_atom on hybrid x86) and the same
 * L2 for both. Nothing is looked up by model. */
#include "probes/claims/collect.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { PATH = 128, TEXT = 4096 };

static uint64_t cpu_number(struct dg_host *host, unsigned cpu, const char *name)
{
    char path[PATH];
    uint64_t value = 0;
    dg_format(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", cpu, name);
    return dg_host_number(host, path, &value) ? value : 0;
}

static bool in_class(struct dg_host *host, const char *name, unsigned cpu)
{
    char path[PATH], text[TEXT];
    struct dg_cpus cpus;
    dg_format(path, sizeof path, "/sys/devices/%s/cpus", name);
    return host->read_file(host, path, text, sizeof text) >= 0 && dg_cpus_parse(text, &cpus) &&
           dg_cpus_have(&cpus, cpu);
}

/* The part number of MIDR_EL1, as the kernel writes it ("0x00000000414fd0b1"), or that of
 * /proc/cpuinfo, which is all that older kernels show. */
static void part_of(struct dg_host *host, unsigned cpu, char out[24])
{
    char path[PATH], text[64];
    unsigned long long midr;
    unsigned part;
    out[0] = '\0';
    dg_format(path, sizeof path, "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1", cpu);
    if (host->read_file(host, path, text, sizeof text) >= 0 && sscanf(text, "%llx", &midr) == 1)
        dg_format(out, 24, "part%03llx", midr >> 4 & 0xfff);
    else if (dg_host_cpu_key(host, cpu, "CPU part", text, sizeof text) &&
             sscanf(text, "%x", &part) == 1)
        dg_format(out, 24, "part%03x", part & 0xfff);
}

static uint64_t l2_of(struct dg_host *host, unsigned cpu)
{
    for (unsigned i = 0; i < 8; i++) {
        char name[PATH];
        dg_format(name, sizeof name, "cache/index%u/level", i);
        if (cpu_number(host, cpu, name) != 2)
            continue;
        dg_format(name, sizeof name, "cache/index%u/size", i);
        return cpu_number(host, cpu, name);
    }
    return 0;
}

/* Everything that tells kinds apart, as a text. */
static void signature(struct dg_host *host, unsigned cpu, char out[128])
{
    char part[24];
    part_of(host, cpu, part);
    dg_format(out, 128, "%s %s capacity%llu l2-%llu", in_class(host, "cpu_atom", cpu) ? "atom" :
             in_class(host, "cpu_core", cpu) ? "core" : "", part,
             (unsigned long long)cpu_number(host, cpu, "cpu_capacity"),
             (unsigned long long)l2_of(host, cpu));
}

static void name_kind(struct dg_host *host, struct dg_core_kind *kind, size_t number, size_t kinds)
{
    char part[24];
    uint64_t capacity = cpu_number(host, kind->first, "cpu_capacity");
    part_of(host, kind->first, part);
    if (kinds == 1)
        dg_format(kind->name, sizeof kind->name, "%s", part[0] != '\0' ? part : "core");
    else if (in_class(host, "cpu_atom", kind->first))
        dg_format(kind->name, sizeof kind->name, "atom");
    else if (in_class(host, "cpu_core", kind->first))
        dg_format(kind->name, sizeof kind->name, "core");
    else if (part[0] != '\0')
        dg_format(kind->name, sizeof kind->name, "%s", part);
    else if (capacity != 0)
        dg_format(kind->name, sizeof kind->name, "capacity%llu", (unsigned long long)capacity);
    else
        dg_format(kind->name, sizeof kind->name, "kind%zu", number);
}

static void make_names_differ(struct dg_core_kind *kind, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(kind[i].name, kind[j].name) == 0) {
                size_t length = strlen(kind[i].name);
                dg_format(kind[i].name + length, sizeof kind[i].name - length, "-%zu", i);
            }
}

size_t dg_core_kinds(struct dg_host *host, struct dg_core_kind out[DG_KINDS_MAX])
{
    char seen[DG_KINDS_MAX][128];
    struct dg_cpus allowed;
    const char *source;
    size_t count = 0;
    dg_host_allowed(host, &allowed, &source);
    for (unsigned cpu = 0; cpu < DG_CPUS_MAX; cpu++) {
        char mine[128];
        size_t k = 0;
        if (!dg_cpus_have(&allowed, cpu))
            continue;
        signature(host, cpu, mine);
        while (k < count && strcmp(seen[k], mine) != 0)
            k++;
        if (k == DG_KINDS_MAX)
            continue;
        if (k == count) {
            memset(&out[k], 0, sizeof out[k]);
            out[k].first = cpu;
            memcpy(seen[k], mine, sizeof mine);
            count++;
        }
        dg_cpus_add(&out[k].cpus, cpu);
    }
    for (size_t k = 0; k < count; k++)
        name_kind(host, &out[k], k, count);
    make_names_differ(out, count);
    return count;
}

/* The grouping as a list, for what is measured. */
static void claim_grouping(struct dg_claims *claims, const struct dg_core_kind *kind, size_t count)
{
    const char **list = dg_alloc_array(claims->arena, count + 1, sizeof *list);
    for (size_t k = 0; list != NULL && k < count; k++) {
        char text[1000];
        dg_cpus_format(&kind[k].cpus, text, sizeof text);
        list[k] = dg_strdup(claims->arena, text);
    }
    if (list != NULL && count > 0)
        dg_claims_add(claims, "kinds.measured", &(struct dg_claim){
            "sysfs", { .kind = DG_VALUE_LIST, .list = list, .list_count = count } });
}

void dg_claims_kinds(struct dg_claims *claims, unsigned cpu, const struct dg_core_kind *kind,
                     size_t count)
{
    claim_grouping(claims, kind, count);
    for (size_t k = 0; k < count; k++) {
        char list[TEXT];
        if (!dg_cpus_have(&kind[k].cpus, cpu))
            continue;
        dg_cpus_format(&kind[k].cpus, list, sizeof list);
        dg_claims_add_text(claims, "core_kind", "sysfs", kind[k].name);
        dg_claims_add_text(claims, "cpus", "affinity", list);
        dg_claims_add_number(claims, "cores", "affinity", dg_cpus_count(&kind[k].cpus));
    }
}
