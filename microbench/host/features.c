/* SPDX-License-Identifier: Apache-2.0
 * Which features may be used. Never from a family or model number: a hypervisor masks features,
 * and a system that does not save wide registers makes the instructions trap. */
#include "microbench/host/host.h"

#include <string.h>

struct x86_feature { const char *name; size_t word; unsigned index, bit; uint64_t state; };
struct arm_feature { const char *name; unsigned word, bit; };

#define ARM(name, word, bit)
#define X86(name, word, index, bit, state) \
    {#name, offsetof(struct dg_feature_words, word), index, bit, state},
static const struct x86_feature x86_features[] = {
#include "microbench/host/features.def"
};
#undef ARM
#undef X86
#define X86(name, word, index, bit, state)
#define ARM(name, word, bit) {#name, word, bit},
static const struct arm_feature arm_features[] = {
#include "microbench/host/features.def"
};

static size_t decode_x86(const struct dg_feature_words *words, const char **out)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof x86_features / sizeof *x86_features; i++) {
        const struct x86_feature *f = &x86_features[i];
        uint32_t word[4];
        memcpy(word, (const char *)words + f->word, sizeof word);
        if ((word[f->index] >> f->bit & 1) != 0 && (words->xcr0 & f->state) == f->state)
            out[count++] = f->name;
    }
    return count;
}

static size_t decode_arm(const struct dg_feature_words *words, const char **out)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof arm_features / sizeof *arm_features; i++)
        if ((words->hwcap[arm_features[i].word] >> arm_features[i].bit & 1) != 0)
            out[count++] = arm_features[i].name;
    return count;
}

size_t dg_features_decode(const char *machine, const struct dg_feature_words *words,
                          const char *out[DG_FEATURES_MAX])
{
    _Static_assert(sizeof x86_features / sizeof *x86_features <= DG_FEATURES_MAX, "room");
    if (strcmp(machine, "x86_64") == 0)
        return decode_x86(words, out);
    if (strcmp(machine, "aarch64") == 0)
        return decode_arm(words, out);
    if (strcmp(machine, "riscv64") == 0 && (words->hwcap[0] >> ('v' - 'a') & 1) != 0) {
        out[0] = "v";
        return 1;
    }
    return 0;
}

/* A leaf beyond the highest one repeats some other leaf's words on real chips: not asked. */
static void leaf(struct dg_host *host, uint32_t number, uint32_t subleaf, uint32_t out[4])
{
    uint32_t top[4] = {0};
    memset(out, 0, 4 * sizeof *out);
    if (host->cpuid(host, number & 0x80000000U, 0, top) && top[0] >= number)
        host->cpuid(host, number, subleaf, out);
}

void dg_features_read(struct dg_host *host, struct dg_feature_words *out)
{
    memset(out, 0, sizeof *out);
    leaf(host, 1, 0, out->leaf1);
    leaf(host, 7, 0, out->leaf7);
    if (out->leaf7[0] >= 1)
        leaf(host, 7, 1, out->leaf7_1);
    leaf(host, 0x80000001U, 0, out->extended);
    out->xcr0 = host->xcr0(host);
    out->hwcap[0] = host->hwcap(host, 0);
    out->hwcap[1] = host->hwcap(host, 1);
}
