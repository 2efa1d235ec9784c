/* SPDX-License-Identifier: Apache-2.0
 * How much memory may be taken, and how much CPU time: free memory, control groups, limits. */
#include "microbench/host/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PATH = 1024 };

/* "MemAvailable:   123 kB" in bytes. */
static bool kilobytes(struct dg_host *host, const char *path, const char *key, uint64_t *out)
{
    char text[64];
    if (!dg_host_key(host, path, key, text, sizeof text))
        return false;
    *out = strtoull(text, NULL, 10) << 10;
    return true;
}

/* The group's folder for a controller: v2 is the line "0::/path", v1 "4:memory:/path". */
static bool group_of(struct dg_host *host, const char *controller, char *out, size_t size)
{
    char text[8192];
    if (host->read_file(host, "/proc/self/cgroup", text, sizeof text) <= 0)
        return false;
    for (char *line = text; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        char *names = memchr(line, ':', n), *path = names;
        if (names != NULL)
            path = memchr(names + 1, ':', n - (size_t)(names + 1 - line));
        if (path != NULL) {
            size_t name_length = (size_t)(path - names - 1), want = strlen(controller);
            bool v2 = name_length == 0 && want == 0;
            bool v1 = want > 0 && name_length >= want &&
                      strncmp(names + 1, controller, want) == 0 &&
                      (name_length == want || names[1 + want] == ',');
            if (v2 || v1) {
                snprintf(out, size, "%.*s", (int)(n - (size_t)(path + 1 - line)), path + 1);
                return true;
            }
        }
        line += n + (line[n] == '\n');
    }
    return false;
}

static void keep_least(uint64_t *least, const char **source, uint64_t value, const char *name)
{
    if (value < *least) {
        *least = value;
        *source = name;
    }
}

/* What one level of a hierarchy leaves: its limit less what is used. "max" is no number. */
static void level(struct dg_host *host, const char *root, const char *group, const char *limit,
                  const char *used, uint64_t *least, const char **source, const char *name)
{
    char path[2 * PATH];
    uint64_t bytes, taken = 0;
    snprintf(path, sizeof path, "%s%s/%s", root, group, limit);
    if (!dg_host_number(host, path, &bytes))
        return;
    snprintf(path, sizeof path, "%s%s/%s", root, group, used);
    dg_host_number(host, path, &taken);
    keep_least(least, source, bytes > taken ? bytes - taken : 0, name);
}

/* Every level from the group up to the root; inside a container the group's own path may not
 * exist, the root then is the container's group. */
static void levels(struct dg_host *host, const char *root, char *group, const char *limit,
                   const char *used, uint64_t *least, const char **source, const char *name)
{
    for (;;) {
        if (strcmp(group, "/") == 0)
            group[0] = '\0';
        level(host, root, group, limit, used, least, source, name);
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return;
        *slash = '\0';
    }
}

uint64_t dg_host_memory(struct dg_host *host, const char **source)
{
    uint64_t least = UINT64_MAX, bytes = 0, used = 0;
    char group[PATH] = "";
    *source = "none";
    if (kilobytes(host, "/proc/meminfo", "MemAvailable", &bytes) ||
        kilobytes(host, "/proc/meminfo", "MemFree", &bytes))
        keep_least(&least, source, bytes, "free memory");
    if (group_of(host, "", group, sizeof group))
        levels(host, "/sys/fs/cgroup", group, "memory.max", "memory.current", &least, source,
               "control group v2");
    if (group_of(host, "memory", group, sizeof group))
        levels(host, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
               "memory.usage_in_bytes", &least, source, "control group v1");
    uint64_t limit = host->limit(host, RLIMIT_AS);
    kilobytes(host, "/proc/self/status", "VmSize", &used);
    if (limit != UINT64_MAX)
        keep_least(&least, source, limit > used ? limit - used : 0, "RLIMIT_AS");
    return least;
}

double dg_host_quota(struct dg_host *host)
{
    char group[PATH] = "", path[2 * PATH], text[128];
    unsigned long long quota, period;
    if (group_of(host, "", group, sizeof group)) {
        const char *at = strcmp(group, "/") == 0 ? "" : group;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", at);
        if ((host->read_file(host, path, text, sizeof text) > 0 ||
             host->read_file(host, "/sys/fs/cgroup/cpu.max", text, sizeof text) > 0) &&
            sscanf(text, "%llu %llu", &quota, &period) == 2 && period > 0)
            return (double)quota / (double)period;
    }
    uint64_t v1_quota, v1_period;
    static const char *const roots[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    bool grouped = group_of(host, "cpu", group, sizeof group);
    for (unsigned i = 0; grouped && i < 2; i++) {
        const char *at = strcmp(group, "/") == 0 ? "" : group;
        snprintf(path, sizeof path, "%s%s/cpu.cfs_quota_us", roots[i], at);
        if (!dg_host_number(host, path, &v1_quota))      /* -1: no quota */
            continue;
        snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", roots[i], at);
        if (dg_host_number(host, path, &v1_period) && v1_period > 0)
            return (double)v1_quota / (double)v1_period;
    }
    return 0;
}

bool dg_host_throttled(struct dg_host *host, double *seconds)
{
    /* v2 keeps count in microseconds, v1 in nanoseconds; a container's own group is the root */
    static const struct { const char *controller, *root, *key; double unit; } rows[] = {
        {"", "/sys/fs/cgroup", "throttled_usec", 1e-6},
        {"cpu", "/sys/fs/cgroup/cpu", "throttled_time", 1e-9},
        {"cpu", "/sys/fs/cgroup/cpu,cpuacct", "throttled_time", 1e-9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char group[PATH] = "", path[2 * PATH], text[64];
        if (!group_of(host, rows[i].controller, group, sizeof group))
            continue;
        const char *at = strcmp(group, "/") == 0 ? "" : group;
        for (int whole = 0; whole < 2; whole++, at = "") {
            snprintf(path, sizeof path, "%s%s/cpu.stat", rows[i].root, at);
            if (dg_host_key(host, path, rows[i].key, text, sizeof text)) {
                *seconds = (double)strtoull(text, NULL, 10) * rows[i].unit;
                return true;
            }
        }
    }
    return false;
}
