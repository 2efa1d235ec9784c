/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of L2 on simulated chips: found with any number of ways, with hashed indices and scattered
 * small pages; where they cannot be found there is a reason, and never a wrong number. */
#include <criterion/criterion.h>

#include "tests/sim/check.h"

static const struct row {
    const char *title;
    struct sim_cache_spec l1, l2;
    bool huge_pages, hard;               /* hard: may be unknown */
} rows[] = {
    { "4 ways, fewer than L1", { 32768, 8, 64, SIM_LRU, .latency = 4 },
      { 262144, 4, 64, SIM_LRU, .latency = 12 }, false, false },
    { "8 ways, hashed", { 32768, 8, 64, SIM_LRU, .latency = 4 },
      { 262144, 8, 64, SIM_LRU, .hashed = true, .latency = 14 }, false, true },
    { "20 ways of 48K/12", { 49152, 12, 64, SIM_LRU, .latency = 5 },
      { 1310720, 20, 64, SIM_LRU, .latency = 15 }, true, false },
    { "11 ways, hashed", { 32768, 8, 64, SIM_LRU, .latency = 4 },
      { 180224, 11, 64, SIM_LRU, .hashed = true, .latency = 14 }, true, false },
    { "16 ways of 64K/4", { 65536, 4, 64, SIM_LRU, .latency = 4 },
      { 1048576, 16, 64, SIM_LRU, .latency = 13 }, true, false },
    { "lines of 128 bytes", { 65536, 8, 128, SIM_LRU, .latency = 4 },
      { 1048576, 16, 128, SIM_LRU, .latency = 13 }, false, false },
    { "replacement by a tree", { 32768, 8, 64, SIM_LRU, .latency = 4 },
      { 524288, 8, 64, SIM_PLRU, .latency = 12 }, false, true },
};

static const struct sim_trouble troubles[] = {
    { .jitter = 0.002 },
    { .jitter = 0.002, .outliers = 0.05, .steal = 0.1 },
    { .jitter = 0.001, .sibling = 0.3, .leak = 0.05, .neighbour = 0.3 },
};

static void expect(const struct row *row, const struct dg_answers *answers, const char *key,
                   double value, bool hard)
{
    enum sim_verdict verdict = sim_judge(answers, key, value, value, !hard);
    cr_expect(verdict == SIM_RIGHT || (hard && verdict == SIM_DOUBTED), "%s: %s, verdict %d",
              row->title, key, (int)verdict);
}

static void check(const struct row *row, size_t trouble)
{
    static const char *const ids[] = { "l2" };
    struct sim_case c = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none);
    struct dg_arena arena;
    struct dg_probe_result result;
    struct dg_error e;
    bool hard = row->hard || trouble > 0;
    c.chip.l1 = row->l1;
    c.chip.l2 = row->l2;
    c.chip.huge_pages = row->huge_pages;
    c.chip.memory = 64 << 20;
    c.trouble = troubles[trouble];
    c.whole = true;
    dg_arena_init(&arena);
    cr_assert(sim_run(&c, 5 + trouble, ids, 1, &arena, &result, &e), "%s: %s", row->title, e.rule);
    expect(row, &result.answers, "l2_ways", row->l2.ways, hard);
    expect(row, &result.answers, "l2_sets", row->l2.size / row->l2.ways / row->l2.line, hard);
    expect(row, &result.answers, "l2_size", row->l2.size, true);
    const struct dg_answer *ways = dg_answers_find(&result.answers, "l2_ways");
    cr_expect(ways != NULL && (ways->value.kind == DG_VALUE_NULL || ways->certificate != NULL),
              "%s: no certificate", row->title);
    dg_arena_free(&arena);
}

Test(sim_sets, ways_and_sets_are_true)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t t = 0; t < sizeof troubles / sizeof *troubles; t++)
            check(&rows[i], t);
}
