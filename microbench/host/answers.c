/* SPDX-License-Identifier: Apache-2.0
 * Answers made from the readers: numbers in files, lists of CPUs, memory that may be used. */
#include "microbench/host/host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORD_BITS = 8 * sizeof(unsigned long), FILE_BYTES = 65536 };

/* Digits, then perhaps K, M or G; nothing but white space may follow. */
static bool parse_number(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    unsigned digits = 0;
    while (*text == ' ' || *text == '\t')
        text++;
    for (; *text >= '0' && *text <= '9' && digits < 19; text++, digits++)
        value = value * 10 + (uint64_t)(*text - '0');
    unsigned shift = *text == 'K' || *text == 'k' ? 10 : *text == 'M' ? 20 : *text == 'G' ? 30 : 0;
    text += shift > 0 || *text == 'B';
    text += *text == 'B';
    while (*text == ' ' || *text == '\n' || *text == '\t')
        text++;
    if (digits == 0 || *text != '\0' || value > UINT64_MAX >> shift)
        return false;
    *out = value << shift;
    return true;
}

bool dg_host_number(struct dg_host *host, const char *path, uint64_t *out)
{
    char text[64];
    return host->read_file(host, path, text, sizeof text) > 0 && parse_number(text, out);
}

static void trim(const char *from, size_t length, char *out, size_t size)
{
    while (length > 0 && (*from == ' ' || *from == '\t' || *from == ':'))
        from++, length--;
    while (length > 0 && (from[length - 1] == ' ' || from[length - 1] == '\t'))
        length--;
    if (size == 0)
        return;
    if (length >= size)
        length = size - 1;
    memcpy(out, from, length);
    out[length] = '\0';
}

/* Behind the key at the start of one of the lines up to `end`. */
static bool find_key(const char *line, const char *end, const char *key, char *out, size_t size)
{
    size_t length = strlen(key);
    while (line < end) {
        size_t n = strcspn(line, "\n");
        char after = strncmp(line, key, length) == 0 ? line[length] : '\0';
        if (after == ' ' || after == '\t' || after == ':') {
            trim(line + length, n - length, out, size);
            return true;
        }
        line += n + (line[n] == '\n');
    }
    return false;
}

bool dg_host_key(struct dg_host *host, const char *path, const char *key, char *out, size_t size)
{
    char text[FILE_BYTES];
    return host->read_file(host, path, text, sizeof text) > 0 &&
           find_key(text, text + strlen(text), key, out, size);
}

bool dg_host_cpu_key(struct dg_host *host, unsigned cpu, const char *key, char *out, size_t size)
{
    char text[FILE_BYTES], number[16], wanted[16];
    if (host->read_file(host, "/proc/cpuinfo", text, sizeof text) <= 0)
        return false;
    snprintf(wanted, sizeof wanted, "%u", cpu);
    for (const char *block = text, *next; *block != '\0'; block = next) {
        const char *more = strstr(block + 1, "\nprocessor");
        next = more != NULL ? more + 1 : block + strlen(block);
        if (find_key(block, next, "processor", number, sizeof number) &&
            strcmp(number, wanted) == 0)
            return find_key(block, next, key, out, size);
    }
    return false;
}

static bool parse_cpu(const char **text, unsigned *out)
{
    unsigned value = 0;
    const char *p = *text;
    for (; *p >= '0' && *p <= '9' && value < DG_CPUS_MAX; p++)
        value = value * 10 + (unsigned)(*p - '0');
    if (p == *text || value >= DG_CPUS_MAX)
        return false;
    *text = p;
    *out = value;
    return true;
}

bool dg_cpus_parse(const char *text, struct dg_cpus *out)
{
    memset(out, 0, sizeof *out);
    while (*text != '\0' && *text != '\n') {
        unsigned first, last;
        if (!parse_cpu(&text, &first))
            return false;
        last = first;
        if (*text == '-' && (text++, !parse_cpu(&text, &last)))
            return false;
        if (last < first)
            return false;
        for (unsigned cpu = first; cpu <= last; cpu++)
            dg_cpus_add(out, cpu);
        if (*text == ',')
            text++;
        else if (*text != '\0' && *text != '\n')
            return false;
    }
    return true;
}

bool dg_cpus_have(const struct dg_cpus *cpus, unsigned cpu)
{
    return cpu < DG_CPUS_MAX && (cpus->bits[cpu / WORD_BITS] >> cpu % WORD_BITS & 1) != 0;
}

void dg_cpus_add(struct dg_cpus *cpus, unsigned cpu)
{
    if (cpu < DG_CPUS_MAX)
        cpus->bits[cpu / WORD_BITS] |= 1UL << cpu % WORD_BITS;
}

unsigned dg_cpus_count(const struct dg_cpus *cpus)
{
    unsigned count = 0;
    for (unsigned cpu = 0; cpu < DG_CPUS_MAX; cpu++)
        count += dg_cpus_have(cpus, cpu);
    return count;
}

void dg_cpus_format(const struct dg_cpus *cpus, char *out, size_t size)
{
    size_t used = 0;
    if (size > 0)
        out[0] = '\0';
    for (unsigned cpu = 0; cpu < DG_CPUS_MAX && used < size; cpu++) {
        unsigned last = cpu;
        if (!dg_cpus_have(cpus, cpu))
            continue;
        while (dg_cpus_have(cpus, last + 1))
            last++;
        int n = snprintf(out + used, size - used, last > cpu ? "%s%u-%u" : "%s%u",
                         used > 0 ? "," : "", cpu, last);
        used += n > 0 ? (size_t)n : size;
        cpu = last;
    }
}

void dg_host_allowed(struct dg_host *host, struct dg_cpus *out, const char **source)
{
    char text[4096];
    *source = "affinity";
    if (host->get_affinity(host, out) && dg_cpus_count(out) > 0)
        return;
    *source = "online";
    if (host->read_file(host, "/sys/devices/system/cpu/online", text, sizeof text) > 0 &&
        dg_cpus_parse(text, out) && dg_cpus_count(out) > 0)
        return;
    *source = "assumed";
    memset(out, 0, sizeof *out);
    long online = host->sysconf(host, _SC_NPROCESSORS_ONLN);
    for (unsigned cpu = 0; cpu < (online > 0 ? (unsigned)online : 1); cpu++)
        dg_cpus_add(out, cpu);
}

uint64_t dg_host_last_level(struct dg_host *host, unsigned cpu)
{
    uint64_t largest = 0, size;
    for (unsigned index = 0; index < 10; index++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/size", cpu, index);
        if (dg_host_number(host, path, &size) && size > largest)
            largest = size;
    }
    return largest;
}

/* The base name of a path. */
static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool dg_host_emulated(struct dg_host *host, const char **why)
{
    char exe[512], value[128];
    uint32_t words[4] = {0};
    const char *unused;
    why = why != NULL ? why : &unused;
    /* The emulator answers for /proc/self but not for the thread's own folder. */
    if (host->read_link(host, "/proc/thread-self/exe", exe, sizeof exe) > 0 &&
        strncmp(base(exe), "qemu-", 5) == 0) {
        *why = "the program that runs is an emulator";
        return true;
    }
    if (host->cpuid(host, 0x40000000U, 0, words) && memcmp(&words[1], "TCGTCGTCGTCG", 12) == 0) {
        *why = "CPUID leaf 0x40000000 names an emulator";
        return true;
    }
    if (strcmp(host->machine, "x86_64") != 0 &&
        dg_host_key(host, "/proc/cpuinfo", "vendor_id", value, sizeof value) &&
        (strcmp(value, "AuthenticAMD") == 0 || strcmp(value, "GenuineIntel") == 0)) {
        *why = "/proc/cpuinfo describes another architecture";
        return true;
    }
    return false;
}

bool dg_host_nodes(struct dg_host *host, struct dg_cpus *out)
{
    char text[4096];
    return host->read_file(host, "/sys/devices/system/node/online", text, sizeof text) > 0 &&
           dg_cpus_parse(text, out) && dg_cpus_count(out) > 0;
}

int dg_host_node_of(struct dg_host *host, unsigned cpu)
{
    struct dg_cpus nodes, cpus;
    if (!dg_host_nodes(host, &nodes))
        return -1;
    for (unsigned node = 0; node < DG_CPUS_MAX; node++) {
        char path[96], text[16384];
        if (!dg_cpus_have(&nodes, node))
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", node);
        if (host->read_file(host, path, text, sizeof text) > 0 && dg_cpus_parse(text, &cpus) &&
            dg_cpus_have(&cpus, cpu))
            return (int)node;
    }
    return -1;
}
