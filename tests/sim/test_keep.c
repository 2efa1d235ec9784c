/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks in use while others pass, on simulated chips: how much stays, and what caches hold of each
 * other. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/check.h"

enum { KEYS = 4 };
static const char *const keys[KEYS] = { "cache.resident.l1", "cache.resident.l2",
                                        "cache.inclusion.l2", "cache.inclusion.l3" };

/* Text: that or null; where it shows, that. */
struct row {
    enum sim_class chip;
    enum sim_noise noise;
    const char *l2, *l3;
    bool l3_shows;
};

static void check_text(const struct row *row, const struct dg_answers *answers, const char *key,
                       const char *want, bool must)
{
    const struct dg_answer *a = dg_answers_find(answers, key);
    const char *title = sim_case_of(row->chip, row->noise).title;
    cr_assert(a != NULL, "%s: %s", title, key);
    if (a->value.kind != DG_VALUE_TEXT)
        cr_expect(!must && a->reason != NULL && a->help != NULL, "%s: %s not found: %s", title, key,
                  a->reason);
    else
        cr_expect(want != NULL && strcmp(a->value.text, want) == 0, "%s: %s is %s, not %s", title,
                  key, a->value.text, want);
}

/* With a quarter beside it, no more than four fifths of a cache can stay by age. */
static void check_size(const struct row *row, const struct dg_answers *answers, const char *key,
                       double size)
{
    const struct dg_answer *a = dg_answers_find(answers, key);
    const char *title = sim_case_of(row->chip, row->noise).title;
    cr_assert(a != NULL, "%s: %s", title, key);
    cr_expect(a->value.kind == DG_VALUE_NUMBER ?
              a->value.number >= 0.25 * size && a->value.number <= 0.9 * size : a->reason != NULL,
              "%s: %s is %g of %g", title, key, a->value.number, size);
}

static const struct row rows[] = {
    { SIM_CLASS_haswell, SIM_NOISE_quiet, "non-inclusive", "non-inclusive", true },
    { SIM_CLASS_zen4, SIM_NOISE_outliers, "non-inclusive", "victim", true },
    { SIM_CLASS_nehalem, SIM_NOISE_quiet, "non-inclusive", "inclusive", true },
    { SIM_CLASS_scattered, SIM_NOISE_neighbour, "non-inclusive", "non-inclusive", false },
    { SIM_CLASS_a72, SIM_NOISE_quiet, "inclusive", NULL, false },
    { SIM_CLASS_carmel, SIM_NOISE_quiet, "non-inclusive", NULL, false },
};

Test(sim_keep, blocks_and_inclusion)
{
    static const char *const ids[] = { "keep" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_arena arena;
        struct dg_probe_result result;
        struct dg_error e;
        struct sim_case c = sim_case_of(rows[i].chip, rows[i].noise);
        c.whole = true;
        dg_arena_init(&arena);
        cr_assert(sim_run(&c, i + 1, ids, 1, &arena, &result, &e), "%s: %s", c.title, e.rule);
        const struct dg_answers *a = &result.answers;
        check_size(&rows[i], a, keys[0], c.chip.l1.size);
        check_size(&rows[i], a, keys[1], c.chip.l2.size);
        check_text(&rows[i], a, keys[2], rows[i].l2, false);
        check_text(&rows[i], a, keys[3], rows[i].l3, rows[i].l3_shows);
        for (size_t k = 0; k < KEYS && getenv("DG_TEST_VERBOSE") != NULL; k++) {
            const struct dg_answer *one = dg_answers_find(a, keys[k]);
            fprintf(stderr, "%s: %s %g %s %s\n", c.title, keys[k], one->value.number / 1024,
                    one->value.kind == DG_VALUE_TEXT ? one->value.text : "",
                    one->reason != NULL ? one->reason : "");
        }
        dg_arena_free(&arena);
    }
}
