/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of caches and translations, from tests and chases with known answers. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "probes/infer/cache.h"
#include "probes/infer/sets.h"
#include "probes/infer/tlb.h"

/* A repeatable uniform value in [0, 1). */
static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* A cache of lines that are told by their numbers: `sets` sets, and evictions that fail now and
 * then. */
struct set_fake { unsigned sets, ways, asked; double missed; uint64_t state; };

static enum dg_verdict fake_evicts(void *self, const uint32_t *lines, size_t count)
{
    struct set_fake *f = self;
    unsigned same = 0;
    f->asked++;
    for (size_t i = 0; i < count; i++)
        same += lines[i] % f->sets == 0;
    return same >= f->ways && uniform(&f->state) >= f->missed ? DG_EVICTED : DG_STAYS;
}

Test(sets, minimal_set)
{
    static const struct { unsigned sets, ways; size_t lines; } rows[] = {
        { 16, 8, 512 }, { 32, 4, 600 }, { 64, 16, 2048 }, { 8, 11, 200 }, { 1, 20, 64 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int missed = 0; missed < 2; missed++) {
            uint32_t lines[2048];
            struct set_fake f = { rows[r].sets, rows[r].ways, 0, missed * 0.02, 3 + r };
            const struct dg_set_test test = { fake_evicts, &f };
            for (size_t i = 0; i < rows[r].lines; i++)
                lines[i] = (uint32_t)(uniform(&f.state) * 1e6);
            size_t count = dg_infer_minimal_set(&test, lines, rows[r].lines);
            cr_expect(missed ? count == 0 || count >= rows[r].ways : count == rows[r].ways,
                      "row %zu: %zu", r, count);
            cr_expect_lt(f.asked, 1200u);
            for (size_t i = 0; i < count && !missed; i++)
                cr_expect_eq(lines[i] % rows[r].sets, 0u);
        }
    uint32_t none[4] = { 1, 2, 3, 4 };
    struct set_fake f = { 16, 8, 0, 0, 1 };
    const struct dg_set_test test = { fake_evicts, &f };
    cr_expect_eq(dg_infer_minimal_set(&test, none, 4), 0u, "nothing evicts");
}

/* Measured on a Zen 4: 27 lines, the target first, 9 of them of one set. */
Test(sets, members)
{
    static const double without[] = {
        17.0, 21.7, 22.9, 22.4, 21.8, 21.8, 23.5, 21.8, 21.7, 23.0, 21.8, 23.4, 23.3, 23.3,
        21.8, 23.5, 21.7, 21.8, 21.8, 17.0, 17.0, 17.1, 17.0, 17.3, 17.0, 17.0, 17.0 };
    enum { LINES = sizeof without / sizeof *without };
    bool member[LINES];
    double changed[LINES];
    cr_expect_eq(dg_infer_members(22.1, without, LINES, member), 9u);
    cr_expect(member[0] && !member[1] && member[19] && member[26]);
    /* nothing misses; one that is between the kinds */
    cr_expect_eq(dg_infer_members(17.1, without, LINES, member), 0u);
    memcpy(changed, without, sizeof without);
    changed[4] = 19;
    cr_expect_eq(dg_infer_members(22.1, changed, LINES, member), 0u);
}

Test(sets, sets)
{
    static const uint32_t sets[] = { 256, 512, 1024, 2048, 4096 };
    uint64_t state = 5;
    unsigned unknown = 0;
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
        for (int round = 0; round < 40; round++) {
            struct dg_group group[2] = { { sets[s] / 128, 0, 0 }, { sets[s] / 64, 0, 0 } };
            for (int g = 0; g < 600; g++) {
                struct dg_group *to = &group[g % 2];
                double stays = pow(1 - 64.0 / sets[s], to->blocks);
                to->groups++;
                /* one eviction in ten is missed */
                to->evicted += uniform(&state) > stays && (round % 2 || uniform(&state) > 0.1);
            }
            struct dg_sets got = dg_infer_sets(group, 2, 64);
            unknown += got.sets == 0;
            cr_expect(got.sets == 0 || got.sets == sets[s], "%u sets: %u (%g to %g)", sets[s],
                      got.sets, got.low, got.high);
        }
    cr_expect_lt(unknown, 40u);
    struct dg_group few = { 16, 8, 3 };
    cr_expect_eq(dg_infer_sets(&few, 1, 64).sets, 0u, "eight groups tell nothing");
}

/* Measured on a Zen 4 guest with small pages below: pages, extra cycles. 72 and 3072 entries. */
static const struct { uint32_t pages; double extra; } zen4[] = {
    { 8, 0.01 }, { 31, 0 }, { 45, 0.01 }, { 53, 0.03 }, { 63, 0.02 }, { 69, 0.04 }, { 72, 0.06 },
    { 73, 7.00 }, { 74, 7.01 }, { 76, 7.00 }, { 90, 7.01 }, { 107, 7.00 }, { 127, 7.01 },
    { 152, 6.99 }, { 181, 7.01 }, { 215, 7.01 }, { 216, 7.00 }, { 255, 7.01 }, { 304, 7.02 },
    { 362, 7.05 }, { 430, 7.21 }, { 511, 7.32 }, { 608, 7.88 }, { 724, 7.96 }, { 861, 7.96 },
    { 1023, 7.94 }, { 1217, 7.95 }, { 1448, 7.97 }, { 1722, 7.98 }, { 2047, 7.96 },
    { 2241, 8.34 }, { 2289, 8.07 }, { 2313, 8.28 }, { 2338, 9.35 }, { 2386, 8.53 },
    { 2410, 12.30 }, { 2435, 12.58 }, { 2896, 32.32 }, { 3444, 47.34 }, { 4095, 58.45 },
    { 4870, 73.30 },
};
enum { ZEN4 = sizeof zen4 / sizeof *zen4 };

Test(sets, translations)
{
    uint32_t pages[ZEN4];
    double extra[ZEN4];
    for (size_t i = 0; i < ZEN4; i++) {
        pages[i] = zen4[i].pages;
        extra[i] = zen4[i].extra;
    }
    struct dg_tlb_reach reach = { pages, extra, ZEN4 };
    struct dg_tlb tlb = dg_infer_tlb(&reach);
    cr_expect(tlb.first == 72 && tlb.first_next == 73, "%u", tlb.first);
    cr_expect(fabs(tlb.cost - 7.2) < 0.5, "%g", tlb.cost);
    cr_expect(tlb.second < 3072 && tlb.second_next > 3072, "%u to %u", tlb.second,
              tlb.second_next);
    cr_expect_eq(dg_roundest(tlb.second, tlb.second_next), 3072u);
    cr_expect(tlb.walk > 50 && tlb.walk < 74, "%g", tlb.walk);
    /* no second step: nothing is said about it */
    reach.count = 30;
    tlb = dg_infer_tlb(&reach);
    cr_expect(tlb.first == 72 && tlb.cost > 7 && tlb.second == 0 && tlb.walk == 0);
    /* no step at all */
    reach.count = 7;
    cr_expect_eq(dg_infer_tlb(&reach).first, 0u);
}
