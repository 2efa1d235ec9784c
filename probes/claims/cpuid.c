/* SPDX-License-Identifier: Apache-2.0
 *
 * Caches as CPUID states them. The deterministic leaves (4 on Intel, 8000_001D on AMD) and AMD's
 * older leaves (8000_0005, 8000_0006) are separate sources: hypervisors fill them differently. */
#include "probes/claims/collect.h"

static const uint32_t intel_caches = 4, amd_caches = 0x8000001d;
static const uint32_t amd_l1 = 0x80000005, amd_l2_l3 = 0x80000006;
enum { EAX, EBX, ECX, EDX };

static uint32_t field(uint32_t word, unsigned high, unsigned low)
{
    return word >> low & ((UINT32_C(1) << (high - low + 1)) - 1);
}

static uint32_t highest(struct dg_host *host, uint32_t base)
{
    uint32_t out[4];
    return host->cpuid(host, base, 0, out) ? out[EAX] : 0;
}

static void deterministic(struct dg_claims *claims, struct dg_host *host, uint32_t leaf,
                          const char *source)
{
    uint32_t out[4];
    for (uint32_t i = 0; i < 16; i++) {
        if (!host->cpuid(host, leaf, i, out) || field(out[EAX], 4, 0) == 0)
            return;
        struct dg_cache_claim c = {
            .level = field(out[EAX], 7, 5), .instruction = field(out[EAX], 4, 0) == 2,
            .line = field(out[EBX], 11, 0) + 1.0, .ways = field(out[EBX], 31, 22) + 1.0,
            .sets = out[ECX] + 1.0,
        };
        /* sharing is stated as an upper bound (reserved ids), so it is not taken from here */
        c.size = c.line * c.ways * c.sets * (field(out[EBX], 21, 12) + 1.0);
        dg_claims_add_cache(claims, source, &c);
    }
}

/* AMD's codes for L2 and L3 associativity; 0: off, reserved, or stated elsewhere. */
static double ways_of_code(uint32_t code)
{
    static const uint8_t ways[16] = { 0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0 };
    return ways[code];
}

static void amd_l1_leaf(struct dg_claims *claims, const char *source, uint32_t word, bool code)
{
    struct dg_cache_claim c = {
        .level = 1, .instruction = code, .size = field(word, 31, 24) * 1024.0,
        .ways = field(word, 23, 16) == 255 ? 0 : field(word, 23, 16), .line = field(word, 7, 0) };
    dg_claims_add_cache(claims, source, &c);
}

static void amd(struct dg_claims *claims, struct dg_host *host, uint32_t last)
{
    static const char *const source = "cpuid-legacy";
    uint32_t out[4];
    if (last >= amd_l1 && host->cpuid(host, amd_l1, 0, out)) {
        amd_l1_leaf(claims, source, out[ECX], false);
        amd_l1_leaf(claims, source, out[EDX], true);
    }
    if (last >= amd_l2_l3 && host->cpuid(host, amd_l2_l3, 0, out)) {
        struct dg_cache_claim l2 = {
            .level = 2, .size = field(out[ECX], 31, 16) * 1024.0,
            .ways = ways_of_code(field(out[ECX], 15, 12)), .line = field(out[ECX], 7, 0) };
        struct dg_cache_claim l3 = {
            .level = 3, .size = field(out[EDX], 31, 18) * 524288.0,
            .ways = ways_of_code(field(out[EDX], 15, 12)), .line = field(out[EDX], 7, 0) };
        dg_claims_add_cache(claims, source, &l2);
        dg_claims_add_cache(claims, source, &l3);
    }
    if (last >= amd_caches)
        deterministic(claims, host, amd_caches, "cpuid");
}

/* "AuthenticAMD" or "HygonGenuine" by their first four letters: only there are the older leaves
 * about L1, and 8000_001D about caches. */
static bool is_amd(struct dg_host *host)
{
    uint32_t out[4];
    return host->cpuid(host, 0, 0, out) && (out[EBX] == 0x68747541 || out[EBX] == 0x6f677948);
}

void dg_claims_cpuid(struct dg_claims *claims, struct dg_host *host)
{
    if (highest(host, 0) == 0)
        return;
    if (is_amd(host))
        amd(claims, host, highest(host, 0x80000000));
    else if (highest(host, 0) >= intel_caches)
        deterministic(claims, host, intel_caches, "cpuid");
}
