/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "random_plan.h"

static const char *const targets[] = { "x86_64-avx2", "x86_64-avx512", "aarch64-neon" };

static void check_many(uint64_t seed, unsigned cases, uint64_t limit)
{
    struct random random = { seed };
    for (unsigned i = 0; i < cases; i++) {
        const struct dg_isa *isa = dg_isa_by_name(targets[i % 3]);
        struct random_case test;
        struct dg_lowered lowered;
        struct dg_arena arena;
        struct dg_error e = { 0 };
        char message[512] = "";
        dg_arena_init(&arena);
        random_case(&random, isa, limit, &test);
        cr_assert(dg_lower(&test.problem, &test.plan, NULL, &arena, &lowered, &e),
                  "case %u, %s: %s: %s: %s", i, test.text, e.where, e.rule, e.value);
        cr_assert(random_check(&test, &lowered, &random, &arena, message), "case %u, %s: %s", i,
                  test.text, message);
        dg_arena_free(&arena);
    }
}

Test(lower, random_problems_small)
{
    check_many(1, 6000, 40);
}

Test(lower, random_problems_larger)
{
    check_many(2, 150, 160);
}
