/* SPDX-License-Identifier: Apache-2.0
 * The readers of this machine. */
#include "microbench/host/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#ifndef AT_HWCAP2
#define AT_HWCAP2 26
#endif

static bool under_root(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

static long system_read_file(struct dg_host *host, const char *path, char *out, size_t size)
{
    char full[1024];
    const char *root = host->sysroot != NULL && under_root(path) ? host->sysroot : "";
    size_t used = 0;
    if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full || size == 0)
        return -1;
    /* below a system root may stand a pipe, which would be waited for without end */
    int descriptor = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return -errno;
    int failed = 0;
    while (used + 1 < size && failed == 0) {
        ssize_t n = read(descriptor, out + used, size - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            break;
        failed = n < 0 ? errno : 0;
        used += n > 0 ? (size_t)n : 0;
    }
    close(descriptor);
    out[used] = '\0';
    return used == 0 && failed != 0 ? -failed : (long)used;
}

static long system_read_folder(struct dg_host *host, const char *path, char *out, size_t size)
{
    char full[1024];
    const char *root = host->sysroot != NULL && under_root(path) ? host->sysroot : "";
    size_t used = 0;
    if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full || size == 0)
        return -ENAMETOOLONG;
    DIR *folder = opendir(full);
    if (folder == NULL)
        return -errno;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || used + length + 2 > size)
            continue;
        memcpy(out + used, entry->d_name, length);
        used += length;
        out[used++] = '\n';
    }
    closedir(folder);
    out[used] = '\0';
    return (long)used;
}

static long system_read_link(struct dg_host *host, const char *path, char *out, size_t size)
{
    (void)host;
    ssize_t n = size > 0 ? readlink(path, out, size - 1) : -1;
    if (n >= 0)
        out[n] = '\0';
    return n;
}

static bool system_cpuid(struct dg_host *host, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    (void)host;
#if defined(__x86_64__)
    __cpuid_count(leaf, subleaf, out[0], out[1], out[2], out[3]);
    return true;
#else
    (void)leaf, (void)subleaf, (void)out;
    return false;
#endif
}

static uint64_t system_xcr0(struct dg_host *host)
{
    uint32_t words[4] = {0};
    enum { OSXSAVE = 27 };
    if (!host->cpuid(host, 1, 0, words) || (words[2] >> OSXSAVE & 1) == 0)
        return 0;
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
#else
    return 0;
#endif
}

static uint64_t system_hwcap(struct dg_host *host, unsigned word)
{
    (void)host;
    return getauxval(word == 0 ? AT_HWCAP : AT_HWCAP2);
}

/* Where lines differ from core to core the kernel gives the shortest. */
static uint64_t system_cache_type(struct dg_host *host)
{
    uint64_t value = 0;
    (void)host;
#if defined(__aarch64__)
    __asm__("mrs %0, ctr_el0" : "=r"(value));
#endif
    return value;
}

static long system_sysconf(struct dg_host *host, int name)
{
    (void)host;
    return sysconf(name);
}

static uint64_t system_limit(struct dg_host *host, int resource)
{
    struct rlimit limit;
    (void)host;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

/* AnonHugePages of the entries that overlap the range. */
static uint64_t system_huge_bytes(struct dg_host *host, const void *start, uint64_t bytes)
{
    char line[256];
    uint64_t found = 0;
    bool inside = false;
    (void)host;
    FILE *file = fopen("/proc/self/smaps", "r");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long long from, to, kilobytes;
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
            inside = from < (uintptr_t)start + bytes && to > (uintptr_t)start;
        else if (inside && sscanf(line, "AnonHugePages: %llu kB", &kilobytes) == 1)
            found += kilobytes << 10;
    }
    fclose(file);
    return found;
}

static bool system_get_affinity(struct dg_host *host, struct dg_cpus *out)
{
    (void)host;
    memset(out, 0, sizeof *out);
    return syscall(SYS_sched_getaffinity, 0, sizeof out->bits, out->bits) > 0;
}

static int system_pin(struct dg_host *host, unsigned cpu)
{
    struct dg_cpus one = {{0}};
    (void)host;
    if (cpu >= DG_CPUS_MAX)
        return EINVAL;
    dg_cpus_add(&one, cpu);
    return syscall(SYS_sched_setaffinity, 0, sizeof one.bits, one.bits) == 0 ? 0 : errno;
}

static void system_unpin(struct dg_host *host, const struct dg_cpus *cpus)
{
    (void)host;
    syscall(SYS_sched_setaffinity, 0, sizeof cpus->bits, cpus->bits);
}

static int system_current_cpu(struct dg_host *host)
{
    (void)host;
    return sched_getcpu();
}

static void system_usage(struct dg_host *host, struct dg_usage *out)
{
    struct rusage usage;
    (void)host;
    memset(out, 0, sizeof *out);
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        out->switches = usage.ru_nvcsw + usage.ru_nivcsw;
        out->faults = usage.ru_minflt + usage.ru_majflt;
    }
}

static uint64_t system_monotonic_ns(struct dg_host *host)
{
    struct timespec now;
    (void)host;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int64_t system_calendar(struct dg_host *host)
{
    (void)host;
    return time(NULL);
}

/* Ordered on both sides: what is timed neither starts before the read nor ends after it. */
#if defined(__x86_64__)
static uint64_t system_ticks(struct dg_host *host)
{
    uint32_t low, high;
    (void)host;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
static uint64_t system_ticks(struct dg_host *host)
{
    uint64_t ticks;
    (void)host;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
}
#else
#define system_ticks NULL
#endif

/* Awake: a thread that sleeps is woken elsewhere, and so is the virtual CPU under it. In a guest
 * whose host has busy siblings, short sleeps led to a shared core nearly every time, and staying
 * awake led away from it. */
static void system_pause(struct dg_host *host, uint64_t ns)
{
    uint64_t from = system_monotonic_ns(host);
    while (system_monotonic_ns(host) - from < ns)
        continue;
}

static int system_perf_open(struct dg_host *host, struct perf_event_attr *attributes, int cpu,
                            int group)
{
    enum { CLOSE_ON_EXEC = 8 };
    (void)host;
    long descriptor = syscall(SYS_perf_event_open, attributes, 0, cpu, group,
                              (unsigned long)CLOSE_ON_EXEC);
    return descriptor < 0 ? -errno : (int)descriptor;
}

static int system_perf_read(struct dg_host *host, int descriptor, uint64_t out[3])
{
    (void)host;
    ssize_t n = read(descriptor, out, 3 * sizeof *out);
    return n == 3 * (ssize_t)sizeof *out ? 0 : n < 0 ? errno : EIO;
}

static void system_perf_close(struct dg_host *host, int descriptor)
{
    (void)host;
    close(descriptor);
}

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE "riscv64"
#else
#define MACHINE "portable"
#endif

void dg_host_system(struct dg_host *host, const char *sysroot)
{
    *host = (struct dg_host){
        .sysroot = sysroot, .machine = MACHINE, .read_file = system_read_file,
        .read_folder = system_read_folder, .read_link = system_read_link,
        .cpuid = system_cpuid, .xcr0 = system_xcr0,
        .hwcap = system_hwcap, .cache_type = system_cache_type, .sysconf = system_sysconf,
        .limit = system_limit,
        .huge_bytes = system_huge_bytes,
        .get_affinity = system_get_affinity, .pin = system_pin,
        .unpin = system_unpin,
        .current_cpu = system_current_cpu, .usage = system_usage,
        .monotonic_ns = system_monotonic_ns, .calendar = system_calendar,
        .ticks = system_ticks, .pause = system_pause,
        .perf_open = system_perf_open, .perf_read = system_perf_read,
        .perf_close = system_perf_close,
    };
}
