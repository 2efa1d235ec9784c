/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulation itself: what it does is known in advance. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/sim/chips.h"

static bool touch(struct sim_cache *cache, uint64_t address)
{
    return sim_cache_access(cache, address, address, NULL);
}

/* A set of four ways, its lines told by letters; capitals are the touches that must miss. */
static void run_set(enum sim_policy policy, const char *touches)
{
    struct dg_arena arena;
    struct sim_cache cache;
    dg_arena_init(&arena);
    struct sim_cache_spec spec = { .size = 256, .ways = 4, .line = 64, .policy = policy };
    cr_assert(sim_cache_init(&cache, &spec, &arena));
    for (const char *c = touches; *c != '\0'; c++) {
        bool miss = *c >= 'A' && *c <= 'Z';
        uint64_t line = (uint64_t)(*c - (miss ? 'A' : 'a'));
        cr_expect_eq(touch(&cache, line * 64), !miss, "%d %s at %td", (int)policy,
                     touches, c - touches);
    }
    dg_arena_free(&arena);
}

Test(sim, replacement)
{
    run_set(SIM_LRU, "ABCDabcdEbcdeA");
    run_set(SIM_LRU, "ABCDEABCDE");
    run_set(SIM_LRU, "ABCDaEacdeB");
    /* tree of a b | c d: after ABCD the victim is a; using a points to c, then c to b */
    run_set(SIM_PLRU, "ABCDEbcde");
    run_set(SIM_PLRU, "ABCDaEabde");
    run_set(SIM_PLRU, "ABCDacEacde");
}

Test(sim, sets_and_hash)
{
    struct dg_arena arena;
    struct sim_cache cache;
    dg_arena_init(&arena);
    struct sim_cache_spec spec = { .size = 32768, .ways = 8, .line = 64 };
    cr_assert(sim_cache_init(&cache, &spec, &arena));
    cr_assert_eq(cache.sets, 64u);
    for (unsigned pass = 0; pass < 3; pass++)
        for (uint64_t i = 0; i < 512; i++)
            cr_expect_eq(touch(&cache, i * 64), pass > 0);
    unsigned missed = 0;
    for (unsigned pass = 0; pass < 4; pass++)
        for (uint64_t i = 0; i < 9; i++)
            missed += !touch(&cache, (1 << 20) + i * 4096);
    cr_expect_eq(missed, 36u, "nine lines in a set of eight ways");
    spec.hashed = true;
    cr_assert(sim_cache_init(&cache, &spec, &arena));
    missed = 0;
    for (unsigned pass = 0; pass < 4; pass++)
        for (uint64_t i = 0; i < 9; i++)
            missed += !touch(&cache, (1 << 20) + i * 4096);
    cr_expect_eq(missed, 9u, "the hash spreads them");
    dg_arena_free(&arena);
}

/* Scattered pages: every page another frame, bytes within a page stay together. */
Test(sim, pages_and_translations)
{
    struct dg_arena arena;
    struct sim_memory memory;
    struct sim_chip chip = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none).chip;
    chip.huge_pages = false;
    double translation;
    dg_arena_init(&arena);
    cr_assert(sim_memory_init(&memory, &chip, 0, 3, &arena));
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint64_t page = 0; page < chip.tlb1.entries; page++) {
            sim_access(&memory, page * 4096 + page * 64 % 4096, &translation);
            cr_expect_eq(translation > 0, pass == 0, "page %d", (int)page);
        }
    }
    for (uint64_t page = 0; page < 2 * (uint64_t)chip.tlb1.entries; page++)
        sim_access(&memory, page * 4096, &translation);
    sim_access(&memory, 0, &translation);
    cr_expect_float_eq(translation, chip.tlb2.cost, 1e-9, "pushed out of the first level");
    for (uint64_t page = 0; page < 2 * (uint64_t)chip.tlb2.entries; page++)
        sim_access(&memory, page * 4096, &translation);
    sim_access(&memory, 0, &translation);
    cr_expect_float_eq(translation, chip.walk, 1e-9, "pushed out of both");
    dg_arena_free(&arena);
}

Test(sim, operations)
{
    struct sim_chip chip = sim_case_of(SIM_CLASS_zen1, SIM_NOISE_none).chip;
    /* 128-bit units, two of each, five slots */
    double units[SIM_RESOURCES], latency, acc;
    cr_assert(sim_units(&chip, "fma.f32.256", units, &latency, &acc));
    cr_expect_float_eq(units[SIM_MULTIPLY], 2, 0);
    cr_expect_not(sim_units(&chip, "fma.f32.512", units, &latency, &acc), "no such feature");
    cr_expect_not(sim_units(&chip, "nonsense", units, &latency, &acc));
    cr_expect_float_eq(sim_group_cycles(&chip, "fma.f32.256", 1, NULL, 0), 1, 1e-9);
    cr_expect_float_eq(sim_group_cycles(&chip, "fma.f32.256", 1, "load.f32.256", 1), 1, 1e-9);
    cr_expect_float_eq(sim_group_cycles(&chip, "fma.f32.256", 2, "load.f32.256", 4), 4, 1e-9);
    cr_expect_float_eq(sim_group_cycles(&chip, "fma.f32.256", 1, "fma_load.f32.256", 1), 2, 1e-9);
}

Test(sim, noise)
{
    struct sim_trouble trouble = { .steal = 0.3, .jitter = 0.01, .clock_step = 0.5 };
    struct dg_arena arena;
    struct dg_sample sample[400];
    struct dg_samples out = { .sample = sample, .capacity = 400 };
    struct dg_error e;
    dg_arena_init(&arena);
    struct sim_chip chip = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none).chip;
    struct sim *sim = sim_new(&chip, &trouble, 5, &arena);
    struct dg_bench bench = sim_bench(sim);
    struct dg_loop loop = { .kind = DG_LOOP_LATENCY, .op = "ref.multiply" };
    cr_assert(bench.loop(bench.self, &loop, &out, &e));
    cr_expect_eq(out.count, 400u);
    cr_expect(out.rejected > 100 && out.rejected < 260, "%zu", out.rejected);
    cr_expect_float_eq(out.median, 3, 0.01);
    cr_expect_float_eq(out.median_ns, 1, 0.01);
    double slowest = 0;
    for (size_t i = 0; i < out.count; i++)
        slowest = fmax(slowest, sample[i].ns);
    cr_expect(slowest > 1.9, "the clock fell to a half for some samples");
    cr_expect_not(bench.chase(bench.self, &(struct dg_chase){ .order = &(uint32_t){ 0x7fffffff },
                              .count = 1 }, &out, &e), "outside the arena");
    dg_arena_free(&arena);
}
