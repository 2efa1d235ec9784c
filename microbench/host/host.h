/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything that the tool asks of the machine and its kernel, behind replaceable readers: tests
 * and recorded trees put their own in. dg_host_system is the real one. Nothing here aborts: a
 * missing file or a refused call is an absent answer. */
#ifndef DG_MICROBENCH_HOST_HOST_H
#define DG_MICROBENCH_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

enum { DG_CPUS_MAX = 4096, DG_FEATURES_MAX = 96 };
struct dg_cpus { unsigned long bits[DG_CPUS_MAX / (8 * sizeof(unsigned long))]; };

/* Counts of the calling thread since it started. */
struct dg_usage { long switches, faults; };

struct dg_host {
    void *self;
    const char *sysroot;       /* put before /proc and /sys; "" or NULL: this machine */
    const char *machine;       /* "x86_64", "aarch64", ...: what this program is made for */

    /* The file's first `size` - 1 bytes and a zero; else -errno. `path` is absolute. */
    long (*read_file)(struct dg_host *host, const char *path, char *out, size_t size);
    /* Names in a folder, each with a newline behind it, as many as fit; else -errno. */
    long (*read_folder)(struct dg_host *host, const char *path, char *out, size_t size);
    /* The place that a symbolic link names; -1. Never under sysroot: it asks about this process. */
    long (*read_link)(struct dg_host *host, const char *path, char *out, size_t size);
    bool (*cpuid)(struct dg_host *host, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
    uint64_t (*xcr0)(struct dg_host *host);                 /* 0 without OSXSAVE */
    uint64_t (*hwcap)(struct dg_host *host, unsigned word); /* word 0: HWCAP, 1: HWCAP2 */
    uint64_t (*cache_type)(struct dg_host *host);           /* CTR_EL0 of Arm; 0: none */
    long (*sysconf)(struct dg_host *host, int name);
    uint64_t (*limit)(struct dg_host *host, int resource);  /* RLIMIT_AS, ...; UINT64_MAX: none */
    /* Bytes in huge pages of this process's mappings around the range. Never under sysroot. */
    uint64_t (*huge_bytes)(struct dg_host *host, const void *start, uint64_t bytes);

    bool (*get_affinity)(struct dg_host *host, struct dg_cpus *out);
    int (*pin)(struct dg_host *host, unsigned cpu);         /* 0 or errno */
    void (*unpin)(struct dg_host *host, const struct dg_cpus *cpus);  /* back to this mask */
    int (*current_cpu)(struct dg_host *host);
    void (*usage)(struct dg_host *host, struct dg_usage *out);

    uint64_t (*monotonic_ns)(struct dg_host *host);         /* CLOCK_MONOTONIC_RAW */
    int64_t (*calendar)(struct dg_host *host);              /* seconds since 1970, UTC */
    uint64_t (*ticks)(struct dg_host *host);                /* ordered counter; NULL: none */
    void (*pause)(struct dg_host *host, uint64_t ns);       /* waits, awake */

    /* A descriptor, or -errno. `group` is the first counter of one's group; -1: none. */
    int (*perf_open)(struct dg_host *host, struct perf_event_attr *attributes, int cpu, int group);
    /* value, time enabled, time running; 0 or errno */
    int (*perf_read)(struct dg_host *host, int descriptor, uint64_t out[3]);
    void (*perf_close)(struct dg_host *host, int descriptor);
};

/* The readers of this machine; sysroot may be NULL. The text is kept, not copied. */
void dg_host_system(struct dg_host *host, const char *sysroot);

/* --- answers made from the readers, host/answers.c --- */

/* A number in a file of /proc or /sys ("32768", "32K", "8M"); false: absent or no number. */
bool dg_host_number(struct dg_host *host, const char *path, uint64_t *out);
/* The value behind "key" at a line's start ("MemAvailable:", "model name"), trimmed. */
bool dg_host_key(struct dg_host *host, const char *path, const char *key, char *out, size_t size);
/* The same of one CPU in /proc/cpuinfo, where each has its lines. */
bool dg_host_cpu_key(struct dg_host *host, unsigned cpu, const char *key, char *out, size_t size);
/* Lists as sysfs writes them: "0-3,8". False: not such a list, or a CPU beyond DG_CPUS_MAX. */
bool dg_cpus_parse(const char *text, struct dg_cpus *out);
bool dg_cpus_have(const struct dg_cpus *cpus, unsigned cpu);
void dg_cpus_add(struct dg_cpus *cpus, unsigned cpu);
unsigned dg_cpus_count(const struct dg_cpus *cpus);
/* Into text, "0-3,8"; cut at the end. */
void dg_cpus_format(const struct dg_cpus *cpus, char *out, size_t size);
/* The CPUs this process may use: its affinity mask, else those online, else CPU 0; *source says
 * which ("affinity", "online", "assumed"). */
void dg_host_allowed(struct dg_host *host, struct dg_cpus *out, const char **source);
/* Bytes that may still be taken: the least of free memory, cgroup limits (v1 and v2, every level)
 * and RLIMIT_AS, each less what is in use; *source names the one that decides. */
uint64_t dg_host_memory(struct dg_host *host, const char **source);
/* CPUs worth of time that the cgroup's quota allows; 0: no quota. */
double dg_host_quota(struct dg_host *host);
/* Time that the quota has held the group back so far; false: nobody keeps count. */
bool dg_host_throttled(struct dg_host *host, double *seconds);
/* The largest cache that sysfs states for a CPU, in bytes; 0: none stated. */
uint64_t dg_host_last_level(struct dg_host *host, unsigned cpu);
/* Nodes with CPUs or memory, as a list like that of CPUs; false: the system names none. */
bool dg_host_nodes(struct dg_host *host, struct dg_cpus *out);
/* The node that lists the CPU; -1: none does. */
int dg_host_node_of(struct dg_host *host, unsigned cpu);
/* The unit that counts for a CPU, where units list their CPUs; false: none lists it. */
struct dg_core_pmu { char name[48]; uint64_t type; unsigned count; };   /* count: of all kinds */
bool dg_host_core_pmu(struct dg_host *host, unsigned cpu, struct dg_core_pmu *out);
/* "EACCES"; "errno 999" where a number has no name here. */
const char *dg_errno_name(int number);
/* True under user-mode emulation; *why (when not NULL) says what gave it away. */
bool dg_host_emulated(struct dg_host *host, const char **why);

/* --- features, host/features.c: pure decoding --- */

/* What decides: on x86 the CPUID leaves and XCR0, elsewhere the kernel's words. */
struct dg_feature_words {
    uint32_t leaf1[4], leaf7[4], leaf7_1[4], extended[4];   /* eax ebx ecx edx */
    uint64_t xcr0;
    uint64_t hwcap[2];
};
/* Usable features under their /proc/cpuinfo names: the instruction exists AND the system keeps
 * its registers. Returns how many of at most DG_FEATURES_MAX names were written; unknown machines
 * have none. */
size_t dg_features_decode(const char *machine, const struct dg_feature_words *words,
                          const char *out[DG_FEATURES_MAX]);
void dg_features_read(struct dg_host *host, struct dg_feature_words *out);

#endif
