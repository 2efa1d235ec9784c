/* SPDX-License-Identifier: Apache-2.0
 * Features from recorded words, lists of CPUs, limits from recorded trees, emulation. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/isa.h"
#include "microbench/host/host.h"

enum { FMA = 1 << 12, OSXSAVE = 1 << 27, AVX = 1 << 28, F16C = 1 << 29, SSE2 = 1 << 26 };
enum { AVX2 = 1 << 5, AVX512F = 1 << 16, AVX512DQ = 1 << 17, AVX512BW = 1 << 30 };
#define AVX512VL (1U << 31)
#define AMX_TILE (1U << 24)

struct feature_case {
    const char *what, *machine;
    struct dg_feature_words words;
    const char *have, *lack;             /* every one of `have`, none of `lack` */
};

#define WIDE .leaf1 = {0, 0, FMA | OSXSAVE | AVX | F16C, SSE2}, \
    .leaf7 = {0, AVX2 | AVX512F | AVX512DQ | AVX512BW | AVX512VL, 0, AMX_TILE}

static const struct feature_case feature_cases[] = {
    {"no wide state", "x86_64", {WIDE, .xcr0 = 0}, "sse2", "avx,fma,avx2,avx512f,f16c"},
    {"x87 and SSE state only", "x86_64", {WIDE, .xcr0 = 0x3}, "sse2", "avx,fma,avx2,avx512f"},
    {"AVX state, AVX-512 bits", "x86_64", {WIDE, .xcr0 = 0x7}, "avx,fma,avx2,f16c",
     "avx512f,avx512vl,avx512dq,amx_tile"},
    {"half of the AVX-512 state", "x86_64", {WIDE, .xcr0 = 0x67}, "avx2", "avx512f,avx512vl"},
    {"AVX-512 state", "x86_64", {WIDE, .xcr0 = 0xe7}, "avx2,avx512f,avx512vl", "amx_tile"},
    {"AMX state", "x86_64", {WIDE, .xcr0 = 0x600e7}, "avx512f,amx_tile", "amx_int8"},
    {"state without bits", "x86_64", {.leaf1 = {0, 0, OSXSAVE, SSE2}, .xcr0 = 0x7}, "sse2",
     "avx,avx2,fma"},
    {"plain NEON", "aarch64", {.hwcap = {0x8ff, 0}}, "fp,asimd", "asimddp,asimdhp,i8mm,sve"},
    {"half floats and dot", "aarch64", {.hwcap = {0x119fff, 0}}, "asimd,asimdhp,asimddp,fphp",
     "i8mm,bf16,sve,asimdfhm"},
    {"second word", "aarch64", {.hwcap = {2, 1 << 13 | 1 << 14}}, "asimd,i8mm,bf16", "sve2"},
    {"no words", "aarch64", {.hwcap = {0, 0}}, "", "fp,asimd,asimddp"},
    {"x86 words on another machine", "aarch64", {WIDE, .xcr0 = 0xe7}, "", "avx2,sse2"},
    {"unknown machine", "portable", {WIDE, .xcr0 = 0xe7, .hwcap = {~0ULL, ~0ULL}}, "", "fp,sse2"},
};

Test(host, features)
{
    for (size_t i = 0; i < sizeof feature_cases / sizeof *feature_cases; i++) {
        const struct feature_case *c = &feature_cases[i];
        const char *found[DG_FEATURES_MAX];
        char lack[128];
        size_t count = dg_features_decode(c->machine, &c->words, found);
        cr_expect(dg_features_have(found, count, c->have), "%s: wants %s", c->what, c->have);
        snprintf(lack, sizeof lack, "%s", c->lack);
        for (char *name = strtok(lack, ","); name != NULL; name = strtok(NULL, ","))
            cr_expect(!dg_features_have(found, count, name), "%s: has %s", c->what, name);
    }
}

/* CPUID that answers unknown leaves with the words of the highest one, as real chips do. */
static bool short_cpuid(struct dg_host *host, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    (void)host, (void)subleaf;
    memset(out, 0xff, 4 * sizeof *out);
    if (leaf == 0 || leaf == 0x80000000U)
        out[0] = leaf + 1;
    return true;
}

static uint64_t no_words(struct dg_host *host, unsigned word)
{
    (void)host, (void)word;
    return 0;
}

static uint64_t all_state(struct dg_host *host)
{
    (void)host;
    return ~UINT64_C(0);
}

Test(host, leaves_beyond_the_highest_are_not_read)
{
    struct dg_host host = {.cpuid = short_cpuid, .xcr0 = all_state, .hwcap = no_words};
    struct dg_feature_words words;
    const char *found[DG_FEATURES_MAX];
    dg_features_read(&host, &words);
    size_t count = dg_features_decode("x86_64", &words, found);
    cr_expect(dg_features_have(found, count, "avx,fma"));
    cr_expect(!dg_features_have(found, count, "avx2"));
}

Test(host, cpu_lists)
{
    static const struct { const char *text, *again; bool good; unsigned count; } lists[] = {
        {"0", "0", true, 1}, {"0-3", "0-3", true, 4}, {"0-3,8\n", "0-3,8", true, 5},
        {"1,3,5", "1,3,5", true, 3}, {"", "", true, 0}, {"4095", "4095", true, 1},
        {"4096", "", false, 0}, {"3-1", "", false, 0}, {"a", "", false, 0}, {"0-", "", false, 0},
        {"0;1", "", false, 0}, {"99999999999", "", false, 0}, {"0-4095", "0-4095", true, 4096},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct dg_cpus cpus;
        char text[64];
        cr_expect_eq(dg_cpus_parse(lists[i].text, &cpus), lists[i].good, "%s", lists[i].text);
        if (!lists[i].good)
            continue;
        dg_cpus_format(&cpus, text, sizeof text);
        cr_expect_str_eq(text, lists[i].again);
        cr_expect_eq(dg_cpus_count(&cpus), lists[i].count);
    }
}

/* --- a tree in memory --- */

struct leaf { const char *path, *text; };
struct tree { const struct leaf *leaves; uint64_t limit; const char *exe; uint32_t hypervisor; };

static long tree_read(struct dg_host *host, const char *path, char *out, size_t size)
{
    const struct tree *tree = host->self;
    for (const struct leaf *l = tree->leaves; l != NULL && l->path != NULL; l++)
        if (strcmp(l->path, path) == 0)
            return snprintf(out, size, "%s", l->text);
    return -1;
}

static long tree_link(struct dg_host *host, const char *path, char *out, size_t size)
{
    const struct tree *tree = host->self;
    (void)path;
    return tree->exe != NULL ? snprintf(out, size, "%s", tree->exe) : -1;
}

static uint64_t tree_limit(struct dg_host *host, int resource)
{
    const struct tree *tree = host->self;
    (void)resource;
    return tree->limit != 0 ? tree->limit : UINT64_MAX;
}

static bool tree_cpuid(struct dg_host *host, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    const struct tree *tree = host->self;
    (void)subleaf;
    memset(out, 0, 4 * sizeof *out);
    if (leaf == 0x40000000U && tree->hypervisor != 0)
        memcpy(&out[1], "TCGTCGTCGTCG", 12);
    return true;
}

static bool no_affinity(struct dg_host *host, struct dg_cpus *out)
{
    (void)host, (void)out;
    return false;
}

static long no_sysconf(struct dg_host *host, int name)
{
    (void)host, (void)name;
    return -1;
}

static struct dg_host tree_host(struct tree *tree, const char *machine)
{
    return (struct dg_host){
        .self = tree, .machine = machine, .read_file = tree_read, .read_link = tree_link,
        .limit = tree_limit, .cpuid = tree_cpuid, .get_affinity = no_affinity,
        .sysconf = no_sysconf,
    };
}

#define MEMINFO {"/proc/meminfo", "MemTotal:  8388608 kB\nMemAvailable:    4194304 kB\n"}
static const struct leaf plain[] = {MEMINFO, {0}};
static const struct leaf v2[] = {
    MEMINFO, {"/proc/self/cgroup", "0::/a/b\n"},
    {"/sys/fs/cgroup/a/b/memory.max", "max\n"},
    {"/sys/fs/cgroup/a/memory.max", "268435456\n"},
    {"/sys/fs/cgroup/a/memory.current", "67108864\n"},
    {"/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n"}, {0},
};
/* Inside a container the group's own path is not there: the root stands for it. */
static const struct leaf v2_container[] = {
    MEMINFO, {"/proc/self/cgroup", "0::/outer/name\n"},
    {"/sys/fs/cgroup/memory.max", "134217728\n"},
    {"/sys/fs/cgroup/cpu.max", "max 100000\n"}, {0},
};
static const struct leaf v1[] = {
    MEMINFO,
    {"/proc/self/cgroup", "9:name=systemd:/\n4:cpu,cpuacct:/x\n3:memory:/x/y\n0::/\n"},
    {"/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "536870912\n"},
    {"/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "536870913\n"},
    {"/sys/fs/cgroup/memory/x/y/memory.limit_in_bytes", "9223372036854771712\n"},
    {"/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "20000\n"},
    {"/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"}, {0},
};
static const struct leaf v1_unlimited[] = {
    MEMINFO, {"/proc/self/cgroup", "4:cpu:/\n3:memory:/\n"},
    {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
    {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}, {0},
};
static const struct leaf limited[] = {
    MEMINFO, {"/proc/self/status", "Name:\tx\nVmSize:\t  102400 kB\n"}, {0},
};

Test(host, memory_and_quota)
{
    static const struct {
        const struct leaf *leaves; uint64_t limit, bytes; const char *source; double quota;
    } cases[] = {
        {plain, 0, 4294967296, "free memory", 0},
        {v2, 0, 201326592, "control group v2", 0.5},
        {v2_container, 0, 134217728, "control group v2", 0},
        {v1, 0, 0, "control group v1", 0.2},
        {v1_unlimited, 0, 4294967296, "free memory", 0},
        {limited, 307200000, 202342400, "RLIMIT_AS", 0},
        {limited, 1000, 0, "RLIMIT_AS", 0},
        {NULL, 0, UINT64_MAX, "none", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tree tree = {.leaves = cases[i].leaves, .limit = cases[i].limit};
        struct dg_host host = tree_host(&tree, "x86_64");
        const char *source;
        cr_expect_eq(dg_host_memory(&host, &source), cases[i].bytes, "case %zu", i);
        cr_expect_str_eq(source, cases[i].source, "case %zu: %s", i, source);
        cr_expect_float_eq(dg_host_quota(&host), cases[i].quota, 1e-9, "case %zu", i);
    }
}

Test(host, missing_files_are_absent_answers)
{
    struct tree tree = {0};
    struct dg_host host = tree_host(&tree, "x86_64");
    struct dg_cpus cpus;
    const char *source;
    char text[16];
    uint64_t number;
    dg_host_allowed(&host, &cpus, &source);
    cr_expect_str_eq(source, "assumed");
    cr_expect_eq(dg_cpus_count(&cpus), 1);
    cr_expect_eq(dg_host_last_level(&host, 0), 0);
    cr_expect_not(dg_host_key(&host, "/proc/cpuinfo", "flags", text, sizeof text));
    cr_expect_not(dg_host_number(&host, "/sys/x", &number));
    static const struct leaf online[] = {
        {"/sys/devices/system/cpu/online", "0,2-3\n"},
        {"/sys/devices/system/cpu/cpu2/cache/index0/size", "32K\n"},
        {"/sys/devices/system/cpu/cpu2/cache/index3/size", "8192K\n"}, {0},
    };
    tree.leaves = online;
    dg_host_allowed(&host, &cpus, &source);
    cr_expect_str_eq(source, "online");
    cr_expect_eq(dg_cpus_count(&cpus), 3);
    cr_expect_eq(dg_host_last_level(&host, 2), 8 << 20);
}

Test(host, numbers)
{
    static const struct { const char *text; bool good; uint64_t value; } cases[] = {
        {"32768\n", true, 32768}, {"32K\n", true, 32768}, {"8M", true, 8 << 20},
        {"1G", true, 1 << 30}, {"512 \n", true, 512}, {"", false, 0}, {"max\n", false, 0},
        {"-1", false, 0}, {"12x", false, 0}, {"99999999999999999999", false, 0},
        {"9999999999999999999G", false, 0}, {"64KB", true, 65536},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct leaf leaves[] = {{"/sys/n", cases[i].text}, {0}};
        struct tree tree = {.leaves = leaves};
        struct dg_host host = tree_host(&tree, "x86_64");
        uint64_t value = 0;
        cr_expect_eq(dg_host_number(&host, "/sys/n", &value), cases[i].good, "'%s'", cases[i].text);
        cr_expect_eq(value, cases[i].value, "'%s'", cases[i].text);
    }
}

Test(host, emulation)
{
    static const struct leaf amd[] = {{"/proc/cpuinfo", "vendor_id\t: AuthenticAMD\n"}, {0}};
    static const struct {
        const char *machine, *exe; uint32_t hypervisor; const struct leaf *leaves; bool emulated;
    } cases[] = {
        {"x86_64", "/usr/bin/deepgemm-probe", 0, amd, false},
        {"x86_64", NULL, 0, NULL, false},
        {"x86_64", "/usr/bin/qemu-x86_64-static", 0, amd, true},
        {"x86_64", NULL, 1, amd, true},
        {"aarch64", NULL, 0, amd, true},
        {"aarch64", "/usr/bin/deepgemm-probe", 0, NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tree tree = {.leaves = cases[i].leaves, .exe = cases[i].exe,
                            .hypervisor = cases[i].hypervisor};
        struct dg_host host = tree_host(&tree, cases[i].machine);
        cr_expect_eq(dg_host_emulated(&host, NULL), cases[i].emulated, "case %zu", i);
    }
}

Test(host, sysroot_moves_proc_and_sys)
{
    struct dg_host host;
    char folder[] = "/tmp/dg-host-XXXXXX", path[256], text[32];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/proc", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/proc/x", folder);
    FILE *file = fopen(path, "w");
    fputs("name : value \n", file);
    fclose(file);
    dg_host_system(&host, folder);
    cr_expect(dg_host_key(&host, "/proc/x", "name", text, sizeof text));
    cr_expect_str_eq(text, "value");
    cr_expect_eq(host.read_file(&host, "/proc/self/status", text, sizeof text), -ENOENT);
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_expect_not(dg_host_key(&host, "/proc/x", "name", text, sizeof text), "an idle pipe");
    unlink(path);
    snprintf(path, sizeof path, "%s/proc", folder);
    rmdir(path);
    rmdir(folder);
}
