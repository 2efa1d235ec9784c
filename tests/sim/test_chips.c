/* SPDX-License-Identifier: Apache-2.0
 *
 * The real probes on simulated chips: what they say must be true of each. */
#include <criterion/criterion.h>

#include "tests/sim/check.h"

Test(sim_chips, answers_are_true)
{
    for (size_t i = 0; i < sim_case_count; i++) {
        struct dg_arena arena;
        struct dg_probe_result result;
        struct dg_error e;
        struct dg_str report;
        dg_arena_init(&arena);
        dg_str_init(&report, &arena);
        cr_assert(sim_run(&sim_cases[i], 7 + i, NULL, 0, &arena, &result, &e), "%s: %s",
                  sim_cases[i].title, e.rule);
        unsigned wrong = sim_check(&sim_cases[i], &result.answers, &report);
        cr_expect_eq(wrong, 0u, "%s:\n%s", sim_cases[i].title, dg_str_text(&report));
        dg_arena_free(&arena);
    }
}
