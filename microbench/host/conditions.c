/* SPDX-License-Identifier: Apache-2.0
 * Conditions of a run, row by row of conditions.def. */
#include "microbench/host/conditions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"

enum { PATH = 160, LONG_FILE = 1 << 20 };
#define CPU_FOLDER "/sys/devices/system/cpu/"

/* What one reading has at hand. */
struct reading {
    struct dg_host *host;
    unsigned cpu;
    char *stat;                  /* /proc/stat, NULL when there is none */
    const struct dg_condition_row *row;
    struct dg_condition *out;
};

/* ---- ways to fill *out ---- */

static void unknown(struct reading *r, const char *what, const char *why)
{
    r->out->known = false;
    dg_format(r->out->text, sizeof r->out->text, "%s%s%s", what, why[0] != '\0' ? ": " : "", why);
}

static void number(struct reading *r, double value)
{
    r->out->known = true;
    r->out->number = value;
}

/* One line, without what a terminal or a file could stumble over. */
static void text(struct reading *r, const char *value)
{
    size_t used = 0;
    for (; *value != '\0' && *value != '\n' && used + 1 < sizeof r->out->text; value++)
        r->out->text[used++] = *value >= ' ' && *value <= '~' ? *value : '?';
    r->out->text[used] = '\0';
    r->out->known = used > 0;
    if (used == 0)
        unknown(r, "the system gives an empty text", "");
}

/* The file's text; false: *out says which file failed and how. */
static bool read_text(struct reading *r, const char *path, char *out, size_t size)
{
    long n = r->host->read_file(r->host, path, out, size);
    if (n > 0)
        return true;
    unknown(r, path, n < 0 ? dg_errno_name((int)-n) : "empty");
    return false;
}

static bool read_number(struct reading *r, const char *path, double *out)
{
    char line[64], *end;
    if (!read_text(r, path, line, sizeof line))
        return false;
    long long value = strtoll(line, &end, 10);
    if (end == line || (*end != '\n' && *end != '\0')) {
        unknown(r, path, "no number");
        return false;
    }
    *out = (double)value;
    return true;
}

/* Rows with a path of their own. */
static void read_path(struct reading *r)
{
    char path[PATH], line[sizeof r->out->text];
    double value;
    dg_format(path, sizeof path, r->row->path, r->cpu);
    if (r->row->type == DG_CONDITION_TEXT) {
        if (read_text(r, path, line, sizeof line))
            text(r, line);
    } else if (read_number(r, path, &value)) {
        number(r, value * r->row->scale);
    }
}

/* ---- /proc/stat ---- */

/* Behind "intr " or "cpu3 " at a line's start; NULL: there is no such line. */
static const char *stat_line(const struct reading *r, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = r->stat; line != NULL && *line != '\0';) {
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return line + length;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return NULL;
}

static void no_stat(struct reading *r, const char *name)
{
    unknown(r, "/proc/stat", r->stat == NULL ? "cannot be read" : name);
}

/* Ticks of a CPU: user nice system idle iowait irq softirq steal. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES };
struct cpu_time { double all, busy, steal; };

static bool cpu_time(const struct reading *r, unsigned cpu, struct cpu_time *sum)
{
    char name[16], *end;
    double times[TIMES] = {0};
    dg_format(name, sizeof name, "cpu%u", cpu);
    const char *at = stat_line(r, name);
    if (at == NULL)
        return false;
    for (int i = 0; i < TIMES; i++, at = end) {
        times[i] = (double)strtoull(at, &end, 10);
        sum->all += times[i];
    }
    sum->steal += times[STEAL];
    sum->busy += times[USER] + times[NICE] + times[SYSTEM] + times[IRQ] + times[SOFTIRQ];
    return true;
}

static void read_steal_percent(struct reading *r)
{
    struct cpu_time sum = {0};
    if (!cpu_time(r, r->cpu, &sum)) {
        no_stat(r, "no line of this CPU");
        return;
    }
    number(r, sum.steal);
    r->out->of = sum.all;
}

/* Busy time of every CPU in the list but the measured one. */
static void busy_of(struct reading *r, const struct dg_cpus *cpus, const char *none)
{
    struct cpu_time sum = {0};
    unsigned found = 0;
    for (unsigned cpu = 0; cpu < DG_CPUS_MAX; cpu++)
        found += cpu != r->cpu && dg_cpus_have(cpus, cpu) && cpu_time(r, cpu, &sum);
    if (found == 0) {
        unknown(r, none, "");
        return;
    }
    number(r, sum.busy);
    r->out->of = sum.all;
}

static bool siblings_of(struct reading *r, struct dg_cpus *out)
{
    char path[PATH], list[4096];
    dg_format(path, sizeof path, CPU_FOLDER "cpu%u/topology/thread_siblings_list", r->cpu);
    if (!read_text(r, path, list, sizeof list))
        return false;
    if (dg_cpus_parse(list, out))
        return true;
    unknown(r, path, "no list of CPUs");
    return false;
}

static void read_sibling_busy_percent(struct reading *r)
{
    struct dg_cpus cpus;
    if (siblings_of(r, &cpus))
        busy_of(r, &cpus, dg_cpus_count(&cpus) > 1
                    ? "/proc/stat has no line of a sibling"
                    : "no sibling is shown; a guest's host may have one (see core_state)");
}

static void read_others_busy_percent(struct reading *r)
{
    struct dg_cpus all;
    memset(&all, 0xff, sizeof all);
    busy_of(r, &all, "/proc/stat shows no other CPU");
}

/* A count of the machine, against seconds. */
static void stat_count(struct reading *r, const char *name)
{
    const char *at = stat_line(r, name);
    if (at == NULL) {
        no_stat(r, "no such line");
        return;
    }
    number(r, (double)strtoull(at, NULL, 10));
}

static void read_interrupts_per_second(struct reading *r)
{
    stat_count(r, "intr");
}

static void read_switches_per_second(struct reading *r)
{
    stat_count(r, "ctxt");
}

/* ---- single ones ---- */

static void read_microcode(struct reading *r)
{
    char line[64];
    if (dg_host_key(r->host, "/proc/cpuinfo", "microcode", line, sizeof line) ||
        read_text(r, CPU_FOLDER "cpu0/microcode/version", line, sizeof line))
        text(r, line);
}

static void read_hypervisor_name(struct reading *r)
{
    enum { HYPERVISOR = 31 };
    uint32_t words[4] = {0};
    char name[64] = "";
    if (r->host->cpuid(r->host, 1, 0, words) && (words[2] >> HYPERVISOR & 1) != 0 &&
        r->host->cpuid(r->host, 0x40000000U, 0, words))
        memcpy(name, &words[1], 3 * sizeof *words);
    if (name[0] != '\0' || read_text(r, "/sys/hypervisor/type", name, sizeof name))
        text(r, name);
}

static void read_numa_nodes(struct reading *r)
{
    struct dg_cpus nodes;
    if (dg_host_nodes(r->host, &nodes))
        number(r, dg_cpus_count(&nodes));
    else
        unknown(r, "/sys/devices/system/node/online", "names no node");
}

static void read_numa_node(struct reading *r)
{
    int node = dg_host_node_of(r->host, r->cpu);
    if (node >= 0)
        number(r, node);
    else
        unknown(r, "no node lists this CPU", "");
}

/* "always [madvise] never" */
static void read_huge_page_mode(struct reading *r)
{
    char line[128];
    if (!read_text(r, "/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line))
        return;
    char *from = strchr(line, '['), *to = from != NULL ? strchr(from, ']') : NULL;
    if (to != NULL)
        *to = '\0';
    text(r, to != NULL ? from + 1 : line);
}

static void limit(struct reading *r, int resource)
{
    uint64_t bytes = r->host->limit(r->host, resource);
    if (bytes == UINT64_MAX)
        unknown(r, "none is set", "");
    else
        number(r, (double)bytes);
}

static void read_rlimit_as(struct reading *r)
{
    limit(r, RLIMIT_AS);
}

static void read_rlimit_memlock(struct reading *r)
{
    limit(r, RLIMIT_MEMLOCK);
}

static void read_memory_left(struct reading *r)
{
    const char *source;
    uint64_t bytes = dg_host_memory(r->host, &source);
    if (bytes == UINT64_MAX)
        unknown(r, "neither free memory nor a limit can be read", "");
    else
        number(r, (double)bytes);
}

static void read_memory_left_by(struct reading *r)
{
    const char *source;
    dg_host_memory(r->host, &source);
    text(r, source);
}

static void read_cpu_quota(struct reading *r)
{
    double quota = dg_host_quota(r->host);
    if (quota > 0)
        number(r, quota);
    else
        unknown(r, "none is set", "");
}

static void read_throttled_percent(struct reading *r)
{
    double seconds;
    if (dg_host_throttled(r->host, &seconds))
        number(r, seconds);
    else
        unknown(r, "no control group of CPU time keeps count", "");
}

/* Intel's driver has a switch of its own; others share one. */
static void read_turbo(struct reading *r)
{
    double off, on;
    if (read_number(r, CPU_FOLDER "intel_pstate/no_turbo", &off))
        number(r, off == 0);
    else if (read_number(r, CPU_FOLDER "cpufreq/boost", &on))
        number(r, on != 0);
}

static void read_load(struct reading *r)
{
    char line[128];
    unsigned whole, hundredths;
    if (!read_text(r, "/proc/loadavg", line, sizeof line))
        return;
    /* "0.25": two decimals, as the kernel writes it, whatever the locale */
    if (sscanf(line, "%u.%2u", &whole, &hundredths) == 2)
        number(r, whole + hundredths / 100.0);
    else
        unknown(r, "/proc/loadavg", "no number");
}

/* ---- sensors ---- */

/* Whether a sensor's name says that it sits in the processor. */
static bool of_processor(const char *name)
{
    static const char *const parts[] = {"cpu", "CPU", "pkg", "soc", "coretemp", "k10temp",
                                        "zenpower"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]) != NULL)
            return true;
    return false;
}

/* The hottest of a class's sensors; its folders are PREFIX and a number. */
static void hottest(struct reading *r, const char *folder, const char *prefix, const char *name,
                    const char *value, double *most)
{
    enum { SENSORS = 64 };
    for (unsigned i = 0; i < SENSORS; i++) {
        char path[PATH], is[64];
        double millidegrees;
        dg_format(path, sizeof path, "%s/%s%u/%s", folder, prefix, i, name);
        if (r->host->read_file(r->host, path, is, sizeof is) <= 0 || !of_processor(is))
            continue;
        dg_format(path, sizeof path, "%s/%s%u/%s", folder, prefix, i, value);
        if (read_number(r, path, &millidegrees) && millidegrees / 1000 > *most)
            *most = millidegrees / 1000;
    }
}

static void read_temperature(struct reading *r)
{
    const double none = -274;
    double most = none;
    unknown(r, "no thermal zone and no sensor of the processor is shown", "");
    hottest(r, "/sys/class/thermal", "thermal_zone", "type", "temp", &most);
    hottest(r, "/sys/class/hwmon", "hwmon", "name", "temp1_input", &most);
    if (most > none)
        number(r, most);
}

static void read_thermal_throttles_per_second(struct reading *r)
{
    char path[PATH];
    double count;
    dg_format(path, sizeof path, CPU_FOLDER "cpu%u/thermal_throttle/core_throttle_count", r->cpu);
    if (read_number(r, path, &count))
        number(r, count);
}

/* Since the reports on side channels most systems show the counter to root only. */
static void read_watts(struct reading *r)
{
#define PACKAGE "/sys/class/powercap/intel-rapl:0/"
    double microjoules, most = 0;
    read_number(r, PACKAGE "max_energy_range_uj", &most);
    if (!read_number(r, PACKAGE "energy_uj", &microjoules))
        return;
    number(r, microjoules * 1e-6);
    r->out->wrap = most * 1e-6;
}

/* ---- all ---- */

const struct dg_condition_row dg_condition_rows[DG_CONDITION_COUNT] = {
#define CONDITION(key, type, when, scale, title) \
    {#key, DG_CONDITION_##type, DG_CONDITION_##when, "", scale},
#define FROM_FILE(key, type, when, scale, path, title) \
    {#key, DG_CONDITION_##type, DG_CONDITION_##when, path, scale},
#include "microbench/host/conditions.def"
#undef FROM_FILE
#undef CONDITION
};

static void (*const readers[DG_CONDITION_COUNT])(struct reading *) = {
#define CONDITION(key, type, when, scale, title) read_##key,
#define FROM_FILE(key, type, when, scale, path, title) read_path,
#include "microbench/host/conditions.def"
#undef FROM_FILE
#undef CONDITION
};

void dg_conditions_read(struct dg_host *host, unsigned cpu, struct dg_conditions *out)
{
    struct reading r = {.host = host, .cpu = cpu, .stat = malloc(LONG_FILE)};
    *out = (struct dg_conditions){0};
    if (r.stat != NULL && host->read_file(host, "/proc/stat", r.stat, LONG_FILE) <= 0) {
        free(r.stat);
        r.stat = NULL;
    }
    for (int id = 0; id < DG_CONDITION_COUNT; id++) {
        r.row = &dg_condition_rows[id];
        r.out = &out->at[id];
        r.out->of = (double)host->monotonic_ns(host) * 1e-9;
        readers[id](&r);
    }
    free(r.stat);
}

struct dg_condition dg_condition_rate(const struct dg_conditions *before,
                                      const struct dg_conditions *after, enum dg_condition_id id)
{
    struct dg_condition out = after->at[id];
    const struct dg_condition *from = &before->at[id];
    if (!from->known)
        return *from;
    if (!out.known)
        return out;
    double grown = out.number - from->number, of = out.of - from->of;
    if (grown < 0)
        grown += out.wrap;
    out.known = grown >= 0 && of > 0;
    out.number = out.known ? dg_condition_rows[id].scale * grown / of : 0;
    if (!out.known)
        dg_format(out.text, sizeof out.text, "%s", of > 0 ? "the counter went back"
                                                         : "no time passed between readings");
    return out;
}
