/* SPDX-License-Identifier: Apache-2.0
 *
 * The real probes on simulated chips: 99 % of what they say must be true, nothing that they are
 * sure of may be false, and two runs on one chip may not differ in what is discrete. Thirty chips,
 * every class once; with DG_TEST_FULL every class with every noise. DG_TEST_SEED draws others,
 * DG_TEST_VERBOSE prints all scores, DG_TEST_CHIP keeps to one class. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/check.h"

static uint64_t seed(void)
{
    const char *text = getenv("DG_TEST_SEED");
    return text != NULL ? strtoull(text, NULL, 10) : 1;
}

struct runs { struct sim_score score; struct dg_str report; unsigned chips, differing; };

static void run(const struct sim_case *c, uint64_t run_seed, struct dg_arena *arena,
                struct dg_probe_result *out)
{
    struct dg_error e;
    cr_assert(sim_run(c, run_seed, NULL, 0, arena, out, &e), "%s: %s", c->title, e.rule);
}

/* `again`: a second run, other pages and other noise. */
static void run_chip(struct runs *r, enum sim_class chip, enum sim_noise noise, bool again)
{
    struct dg_arena arena;
    struct dg_probe_result result, second;
    uint64_t s = seed() * 1000003 + (uint64_t)chip * SIM_NOISES + noise;
    struct sim_case c = sim_case_drawn(chip, noise, seed());
    dg_arena_init(&arena);
    dg_str_format(&r->report, "%s; %s:\n", c.title, c.noise);
    run(&c, s, &arena, &result);
    sim_check(&c, &result.answers, &r->score, &r->report);
    if (again) {
        run(&c, s + UINT64_C(0x123456789), &arena, &second);
        r->differing += sim_differ(&result.answers, &second.answers, &r->report);
    }
    r->chips++;
    dg_arena_free(&arena);
}

static void judge(struct runs *r)
{
    unsigned all = r->chips * SIM_TRUTHS, right = sim_total(&r->score, SIM_RIGHT);
    bool verbose = getenv("DG_TEST_VERBOSE") != NULL;
    sim_print(&r->score, verbose, &r->report);
    fprintf(stderr, "%sDG_TEST_SEED=%llu: %u chips, %u of %u answers right\n",
            verbose ? dg_str_text(&r->report) : "", (unsigned long long)seed(), r->chips, right,
            all);
    cr_expect(100 * right >= 99 * all && sim_total(&r->score, SIM_WRONG) == 0 &&
              r->differing == 0, "DG_TEST_SEED=%llu, %u of %u right, %u wrong, %u differ\n%s",
              (unsigned long long)seed(), right, all, sim_total(&r->score, SIM_WRONG),
              r->differing, dg_str_text(&r->report));
}

Test(sim_chips, answers_are_true)
{
    struct dg_arena arena;
    struct runs r = { .chips = 0 };
    bool full = getenv("DG_TEST_FULL") != NULL;
    const char *only = getenv("DG_TEST_CHIP");
    dg_arena_init(&arena);
    dg_str_init(&r.report, &arena);
    for (unsigned chip = 0; chip < SIM_CLASSES; chip++)
        for (unsigned noise = 0; noise < SIM_NOISES; noise++)
            if ((only == NULL || strcmp(only, sim_case_of(chip, noise).chip.name) == 0) &&
                (full || noise == (chip + seed()) % SIM_NOISES))
                run_chip(&r, (enum sim_class)chip, (enum sim_noise)noise,
                         full ? noise == chip % SIM_NOISES : chip % 3 == seed() % 3);
    judge(&r);
    dg_arena_free(&arena);
}
