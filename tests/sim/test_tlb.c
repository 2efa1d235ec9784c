/* SPDX-License-Identifier: Apache-2.0
 *
 * Translations of simulated chips. */
#include <criterion/criterion.h>

#include "tests/sim/check.h"

static const struct row {
    const char *title;
    struct sim_tlb_spec first, second;
    bool huge_pages, huge_as_small;
} rows[] = {
    { "72 of any page, 3072", { 72, 0, 0 }, { 3072, 24, 7 }, true, true },
    { "64 in 4 ways, 1536", { 64, 4, 0 }, { 1536, 12, 7 }, false, false },
    { "96, 2048", { 96, 6, 0 }, { 2048, 16, 8 }, false, false },
    { "48, 1280 in 5 ways", { 48, 0, 0 }, { 1280, 5, 5 }, true, false },
    { "32, none behind", { 32, 0, 0 }, { 0, 0, 20 }, false, false },
};

/* value 0: it must be unknown; `hard`: it may be. */
static void expect(const struct row *row, const struct dg_answers *answers, const char *key,
                   double value, double part, bool hard)
{
    enum sim_verdict verdict = sim_judge(answers, key, value * (1 - part), value * (1 + part),
                                         !hard);
    cr_expect(verdict == SIM_RIGHT || (hard && verdict == SIM_DOUBTED), "%s: %s, verdict %d",
              row->title, key, (int)verdict);
}

static void check(const struct row *row, double jitter)
{
    static const char *const ids[] = { "tlb" };
    struct sim_case c = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none);
    struct dg_arena arena;
    struct dg_probe_result result;
    struct dg_error e;
    const struct dg_answers *answers = &result.answers;
    /* noise may hide how large L2 is, and with it how many lines may be looked at */
    bool hard = jitter > 0, behind = row->second.entries > 0;
    c.chip.l2 = (struct sim_cache_spec){ 1048576, 8, 64, SIM_LRU, .latency = 14 };
    c.chip.tlb1 = row->first;
    c.chip.tlb2 = row->second;
    c.chip.memory = 96 << 20;
    c.chip.huge_pages = row->huge_pages;
    c.chip.huge_as_small = row->huge_as_small;
    c.trouble = (struct sim_trouble){ .jitter = jitter, .outliers = 5 * jitter };
    c.whole = true;
    dg_arena_init(&arena);
    cr_assert(sim_run(&c, 5, ids, 1, &arena, &result, &e), "%s: %s", row->title, e.rule);
    expect(row, answers, "tlb.l1.4k.entries", row->first.entries, 0, false);
    expect(row, answers, "tlb.l2.4k.entries", row->second.entries, 0, hard);
    expect(row, answers, "tlb.l2.4k.hit_cost", behind ? row->second.cost : 0, 0.1, hard);
    if (behind)
        expect(row, answers, "tlb.walk.4k", c.chip.walk, 0.1, hard);
    if (row->huge_pages && !row->huge_as_small)
        expect(row, answers, "tlb.l1.2m.entries", row->first.entries, 0, true);
    if (behind && row->huge_as_small)
        expect(row, answers, "tlb.l1.2m.entries", 0, 0, false);
    dg_arena_free(&arena);
}

Test(sim_tlb, entries_and_costs_are_true)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int noisy = 0; noisy < 2; noisy++)
            check(&rows[i], noisy * 0.002);
}
