/* SPDX-License-Identifier: Apache-2.0
 *
 * Translations of simulated chips. */
#include <criterion/criterion.h>
#include <string.h>

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

static void check(const struct row *row, double jitter)
{
    static const char *const ids[] = { "tlb" };
    struct sim_case c = sim_cases[0];
    struct dg_arena arena;
    struct dg_probe_result result;
    struct dg_error e;
    struct dg_str report;
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
    memset(c.unknown, 0, sizeof c.unknown);
    memset(c.truth, 0, sizeof c.truth);
    c.truth[0] = (struct sim_truth){ "tlb.l1.4k.entries", row->first.entries, 0, false };
    c.unknown[0] = behind ? row->huge_as_small ? "tlb.l1.2m.entries" : NULL : "tlb.l2.4k.entries";
    c.unknown[1] = behind ? NULL : "tlb.l2.4k.hit_cost";
    if (behind) {
        c.truth[1] = (struct sim_truth){ "tlb.l2.4k.entries", row->second.entries, 0, hard };
        c.truth[2] = (struct sim_truth){ "tlb.l2.4k.hit_cost", row->second.cost, 0.1, hard };
        c.truth[3] = (struct sim_truth){ "tlb.walk.4k", c.chip.walk, 0.1, hard };
    }
    if (row->huge_pages && !row->huge_as_small)
        c.truth[4] = (struct sim_truth){ "tlb.l1.2m.entries", row->first.entries, 0, true };
    dg_arena_init(&arena);
    dg_str_init(&report, &arena);
    cr_assert(sim_run(&c, 5, ids, 1, &arena, &result, &e), "%s: %s", row->title, e.rule);
    cr_expect_eq(sim_check(&c, &result.answers, &report), 0u, "%s, jitter %g:\n%s", row->title,
                 jitter, dg_str_text(&report));
    dg_arena_free(&arena);
}

Test(sim_tlb, entries_and_costs_are_true)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int noisy = 0; noisy < 2; noisy++)
            check(&rows[i], noisy * 0.002);
}
