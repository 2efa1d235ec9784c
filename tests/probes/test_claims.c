/* SPDX-License-Identifier: Apache-2.0
 *
 * Claims from recorded trees and made-up CPUID words. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "probes/claims/collect.h"
#include "microbench/host/identity.h"
#include "probes/environment.h"

/* ---- a host whose /proc and /sys are a tree, with as many CPUs allowed as the test says ---- */

static unsigned allowed_cpus;
static uint32_t leaf_1d[5][4];

static bool affinity(struct dg_host *host, struct dg_cpus *out)
{
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < allowed_cpus; i++)
        dg_cpus_add(out, i);
    return true;
}

static bool no_cpuid(struct dg_host *host, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    return false;
}

/* An AMD chip: deterministic leaves as set, older leaves with an L3 of 508 MiB. */
static bool amd_cpuid(struct dg_host *host, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    memset(out, 0, 4 * sizeof *out);
    if (leaf == 0)
        out[0] = 16, out[1] = 0x68747541, out[2] = 0x444d4163, out[3] = 0x69746e65;
    if (leaf == 1)
        out[0] = 0x00b00f20, out[2] = UINT32_C(1) << 31;
    if (leaf == 0x80000000)
        out[0] = 0x8000001f;
    if (leaf == 0x80000005)
        out[2] = 48u << 24 | 12u << 16 | 1 << 8 | 64, out[3] = 32u << 24 | 8u << 16 | 1 << 8 | 64;
    if (leaf == 0x80000006)
        out[2] = 1024u << 16 | 6u << 12 | 1 << 8 | 64,
        out[3] = 1016u << 18 | 9u << 12 | 1 << 8 | 64;
    if (leaf == 0x8000001d && subleaf < 5)
        memcpy(out, leaf_1d[subleaf], sizeof leaf_1d[subleaf]);
    return true;
}

static uint64_t no_cache_type(struct dg_host *host)
{
    return 0;
}

static long no_sysconf(struct dg_host *host, int name)
{
    return name == -12345 ? 1 : 0;
}

static struct dg_host host_of(const char *tree, unsigned cpus)
{
    static char path[1024];
    struct dg_host host;
    dg_format(path, sizeof path, "%s/tests/machines/%s", SOURCE_ROOT, tree);
    dg_host_system(&host, path);
    host.get_affinity = affinity;
    host.cpuid = no_cpuid;
    host.cache_type = no_cache_type;
    host.sysconf = no_sysconf;
    host.machine = "aarch64";
    allowed_cpus = cpus;
    return host;
}

static struct dg_claims collect(struct dg_host *host, unsigned cpu, struct dg_arena *arena)
{
    struct dg_claims claims = { .arena = arena };
    struct dg_core_kind kinds[DG_KINDS_MAX];
    size_t count = dg_core_kinds(host, kinds);
    dg_claims_collect(&claims, host, cpu, kinds, count);
    return claims;
}

static const char *text_of(const struct dg_claims *claims, const char *key)
{
    size_t count;
    const struct dg_claim *c = dg_claims_of(claims, key, &count);
    return c != NULL ? c[0].value.text : "";
}

Test(claims, trees)
{
    static const struct {
        const char *tree;
        unsigned cpus, cpu;
        const char *key;
        double want;
    } rows[] = {
        { "zen1-guest", 2, 0, "l1_size", 32768 }, { "zen1-guest", 2, 0, "l1_ways", 8 },
        { "zen1-guest", 2, 1, "l1_set_stride", 4096 }, { "zen1-guest", 2, 0, "l1i_size", 65536 },
        { "zen1-guest", 2, 0, "l2_size", 524288 }, { "zen1-guest", 2, 0, "l3_size", 8388608 },
        { "zen1-guest", 2, 0, "l3_shared_by", 2 }, { "zen1-guest", 1, 0, "cores", 1 },
        { "no-caches", 2, 0, "l1_size", -1 }, { "no-caches", 2, 0, "l3_size", -1 },
        { "no-caches", 2, 0, "cores", 2 }, { "big-little", 8, 0, "l2_size", 131072 },
        { "big-little", 8, 5, "l2_size", 524288 }, { "big-little", 8, 5, "l1_size", 65536 },
        { "big-little", 8, 5, "cores", 4 }, { "big-little", 6, 5, "cores", 2 },
        { "big-little", 8, 5, "l3_shared_by", 8 },
    };
    struct dg_arena arena;
    dg_arena_init(&arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_host host = host_of(rows[i].tree, rows[i].cpus);
        struct dg_claims claims = collect(&host, rows[i].cpu, &arena);
        double got = dg_claims_number(&claims, rows[i].key, -1);
        cr_expect(got == rows[i].want, "%s cpu%u %s: %g", rows[i].tree, rows[i].cpu, rows[i].key,
                  got);
    }
    dg_arena_free(&arena);
}

Test(claims, kinds)
{
    struct dg_arena arena;
    struct dg_core_kind kinds[DG_KINDS_MAX];
    dg_arena_init(&arena);
    struct dg_host host = host_of("big-little", 8);
    cr_assert_eq(dg_core_kinds(&host, kinds), 2);
    cr_expect_str_eq(kinds[0].name, "partd05");
    cr_expect_str_eq(kinds[1].name, "partd0b");
    cr_expect(kinds[1].first == 4 && dg_cpus_count(&kinds[1].cpus) == 4);
    struct dg_claims claims = collect(&host, 6, &arena);
    cr_expect_str_eq(text_of(&claims, "core_kind"), "partd0b");
    cr_expect_str_eq(text_of(&claims, "cpus"), "4-7");
    struct dg_identity id;
    char slug[DG_IDENTITY_SIZE];
    dg_identify(&host, 6, &id);
    dg_identity_slug(&id, "partd0b", slug);
    cr_expect_str_eq(slug, "arm41-d0b-partd0b");
    dg_identity_chip(&id, slug);
    cr_expect_str_eq(slug, "arm41 d0b");
    host = host_of("no-caches", 2);
    cr_assert_eq(dg_core_kinds(&host, kinds), 1);
    cr_expect_str_eq(kinds[0].name, "core");
    dg_arena_free(&arena);
}

/* Hypervisors fill the two kinds of leaves differently: both are noted, neither is believed. */
Test(claims, cpuid)
{
    struct dg_arena arena;
    size_t count;
    dg_arena_init(&arena);
    struct dg_host host = host_of("no-caches", 2);
    host.cpuid = amd_cpuid;
    host.machine = "x86_64";
    leaf_1d[0][0] = 1 | 1 << 5;                              /* L1 data: 12 ways, 64 sets */
    leaf_1d[0][1] = 63 | 11u << 22;
    leaf_1d[0][2] = 63;
    struct dg_claims claims = collect(&host, 0, &arena);
    cr_expect_eq(dg_claims_number(&claims, "l3_size", 0), 508 * 1048576.0);
    cr_expect_eq(dg_claims_number(&claims, "l3_ways", -1), -1, "stated elsewhere");
    cr_expect_eq(dg_claims_number(&claims, "l2_ways", 0), 8);
    const struct dg_claim *c = dg_claims_of(&claims, "l1_size", &count);
    cr_assert(c != NULL && count == 2);
    cr_expect(strcmp(c[0].source, "cpuid-legacy") == 0 && c[0].value.number == 49152);
    cr_expect(strcmp(c[1].source, "cpuid") == 0 && c[1].value.number == 49152);
    struct dg_identity id;
    char slug[DG_IDENTITY_SIZE];
    dg_identify(&host, 0, &id);
    dg_identity_slug(&id, "core", slug);
    cr_expect_str_eq(slug, "amd-26-2-core");
    dg_identity_chip(&id, slug);
    cr_expect_str_eq(slug, "amd 26 2");
    cr_expect(id.hypervisor);
    dg_arena_free(&arena);
}

static int64_t a_day(struct dg_host *host)
{
    return 1000000000;
}

static const char *fact_of(const struct dg_facts *facts, const char *key)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->fact[i].key, key) == 0 && facts->fact[i].value.text != NULL)
            return facts->fact[i].value.text;
    return "";
}

/* The clock and the files are the host's. */
Test(claims, environment)
{
    static const struct dg_bench_info info = { .time_source = "sim", .cpus = 2 };
    struct dg_arena arena;
    struct dg_identity id;
    dg_arena_init(&arena);
    struct dg_facts facts = { .arena = &arena };
    struct dg_conditions conditions;
    struct dg_host host = host_of("zen1-guest", 2);
    host.calendar = a_day;
    dg_identify(&host, 0, &id);
    dg_conditions_read(&host, 0, &conditions);
    dg_environment(&facts, &host, &info, &id, &conditions, &conditions);
    cr_assert_not(facts.failed);
    cr_expect_str_eq(fact_of(&facts, "time"), "2001-09-09T01:46:40Z");
    cr_expect_str_eq(fact_of(&facts, "kernel"), "", "the tree has none");
    cr_expect_not(strcmp(fact_of(&facts, "model_name"), "") == 0);
    dg_arena_free(&arena);
}

/* A topology that is not this machine's: hwloc tells, and none of it is a claim about this one. */
Test(claims, a_lying_hwloc)
{
    struct dg_arena arena;
    struct dg_host host;
    dg_arena_init(&arena);
    struct dg_claims claims = { .arena = &arena };
    dg_host_system(&host, NULL);
    setenv("HWLOC_SYNTHETIC", "package:4 l3:1(size=10485760) l2:2(size=262144) l1d:1(size=32768) "
           "core:1 pu:1", 1);
    dg_claims_hwloc(&claims, &host, 0);
    cr_expect_eq(claims.count, 0u);
    dg_arena_free(&arena);
}

static uint64_t line_of_128(struct dg_host *host)
{
    return UINT64_C(5) << 16;                    /* log2 of words: 32 of 4 bytes */
}

/* Where /sys and the C library are silent, the architecture's own register speaks. */
Test(claims, the_line_of_arm)
{
    struct dg_arena arena;
    dg_arena_init(&arena);
    struct dg_host host = host_of("no-caches", 2);
    struct dg_claims claims = collect(&host, 0, &arena);
    cr_expect_eq(dg_claims_number(&claims, "l1_line_size", -1), -1);
    host.cache_type = line_of_128;
    claims = collect(&host, 0, &arena);
    cr_expect_eq(dg_claims_number(&claims, "l1_line_size", -1), 128);
    dg_arena_free(&arena);
}
