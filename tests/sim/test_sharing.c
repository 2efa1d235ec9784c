/* SPDX-License-Identifier: Apache-2.0
 *
 * Resources, bandwidths and mixes on simulated chips, where the truth can be computed. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/check.h"

static double number(const struct dg_answers *answers, const char *key)
{
    const struct dg_answer *a = dg_answers_find(answers, key);
    return a != NULL && a->value.kind == DG_VALUE_NUMBER ? a->value.number : NAN;
}

/* Units of one operation in the users of one resource. */
static double units_of(const struct dg_answer *users, const char *op)
{
    size_t length = strlen(op);
    for (size_t i = 0; i < users->value.list_count; i++) {
        const char *text = users->value.list[i];
        if (strncmp(text, op, length) == 0 && text[length] == ':')
            return strtod(text + length + 1, NULL);
    }
    return 0;
}

/* Cycles of a group by what the answers say about resources. */
static double fitted(const struct dg_answers *answers, const char *a, unsigned count_a,
                     const char *b, unsigned count_b)
{
    double cycles = 0;
    for (size_t i = 0; i < answers->count; i++) {
        const struct dg_answer *users = &answers->answer[i];
        char key[96];
        size_t length = strlen(users->key);
        if (length < 10 || strcmp(users->key + length - 6, ".users") != 0)
            continue;
        dg_format(key, sizeof key, "%s", users->key);
        strcpy(key + length - 6, ".capacity");
        double units = count_a * units_of(users, a) + count_b * units_of(users, b);
        cycles = fmax(cycles, units / number(answers, key));
    }
    return cycles;
}

/* The fit must give the time of groups that were measured and of others. */
static void check_groups(const struct sim_case *c, const struct dg_answers *answers, unsigned bits)
{
    static const char *const names[] = { "fma", "load", "broadcast", "store", "add" };
    static const unsigned counts[][2] = { { 1, 1 }, { 2, 1 }, { 1, 2 }, { 3, 2 }, { 6, 4 } };
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = i + 1; j < 5; j++) {
            for (size_t k = 0; k < 5; k++) {
                char a[48], b[48];
                dg_format(a, sizeof a, "%s.f32.%u", names[i], bits);
                dg_format(b, sizeof b, "%s.f32.%u", names[j], bits);
                double truth = sim_group_cycles(&c->chip, a, counts[k][0], b, counts[k][1]);
                double fit = fitted(answers, a, counts[k][0], b, counts[k][1]);
                if (truth > 0)
                    cr_expect(fabs(fit - truth) <= 0.06 * truth, "%s: %u %s, %u %s: %g, not %g",
                              c->title, counts[k][0], a, counts[k][1], b, fit, truth);
            }
        }
    }
}

Test(sim_sharing, resources)
{
    static const enum sim_class which[] = { SIM_CLASS_haswell, SIM_CLASS_zen1, SIM_CLASS_icelake,
                                            SIM_CLASS_a76, SIM_CLASS_neoverse_v2 };
    static const char *const ids[] = { "pairs" };
    for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
        const struct sim_case c = sim_case_of(which[i], SIM_NOISE_none);
        struct dg_arena arena;
        struct dg_probe_result result;
        struct dg_error e;
        dg_arena_init(&arena);
        cr_assert(sim_run(&c, 11, ids, 1, &arena, &result, &e), "%s", e.rule);
        check_groups(&c, &result.answers, (unsigned)number(&result.answers, "vector_bits"));
        dg_arena_free(&arena);
    }
}

struct bound { const char *key; double low, high; };

static void check_bounds(const struct sim_case *c, const struct dg_answers *answers,
                         const struct bound *bounds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value = number(answers, bounds[i].key);
        cr_expect(value >= bounds[i].low && value <= bounds[i].high, "%s: %s is %g, not %g to %g",
                  c->title, bounds[i].key, value, bounds[i].low, bounds[i].high);
    }
}

/* Two 256-bit loads, 32 bytes a cycle from L2, 12 GB/s from memory, 1.6 for all. */
Test(sim_sharing, bandwidths_and_mixes)
{
    static const char *const ids[] = { "bandwidth", "turn", "pass", "sets" };
    static const struct bound bounds[] = {
        { "bw.l1.read.1", 60, 66 }, { "bw.l2.read.1", 28, 36 }, { "bw.l3.read.1", 15, 33 },
        { "bw.dram.read.1", 11, 16 }, { "bw.dram.triad.all", 10, 20 },
        { "mix.turn.f32.256.v2.b6.s128", 128 * 6 - 1, 128 * 6 + 10 },
        { "mix.turn.f32.256.v1.b1.s128", 128 * 4 - 1, 128 * 4 + 10 },
        { "mix.turn.f32.256.v1.b4.s16", 16 * 4 - 1, 16 * 4 + 10 },
        { "mix.pass.f32.256.v4.b1.s128", 128 * 4, 128 * 4 + 30 },
        { "mix.set.b6.t4096", 0.98, 1.02 }, { "mix.set.b10.t4096", 1.05, 100 },
        { "mix.call.f32.256", 3, 7 },
    };
    struct dg_arena arena;
    struct dg_probe_result result;
    struct dg_error e;
    struct sim_case c = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none);
    dg_arena_init(&arena);
    cr_assert(sim_run(&c, 13, ids, 4, &arena, &result, &e), "%s", e.rule);
    check_bounds(&c, &result.answers, bounds, sizeof bounds / sizeof *bounds);
    dg_arena_free(&arena);
}

/* What a request leaves in L3 the next one meets: memory must not look as fast as that. 12 GB/s
 * come from memory, 30 from L3. */
Test(sim_sharing, memory_is_read_from_memory)
{
    static const struct { enum dg_traffic kind; unsigned mib; } row[] = {
        { DG_READ, 3 }, { DG_READ, 96 }, { DG_READ, 96 }, { DG_COPY, 128 }, { DG_COPY, 128 },
        { DG_READ, 1 }, { DG_READ, 96 }, { DG_COPY, 2 }, { DG_COPY, 128 }, { DG_TRIAD, 144 },
        { DG_READ, 3 }, { DG_READ, 48 },
    };
    struct sim_chip chip = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none).chip;
    struct dg_arena arena;
    chip.memory = 160 << 20;
    dg_arena_init(&arena);
    struct dg_bench bench = sim_bench(sim_new(&chip, &(struct sim_trouble){ 0 }, 3, &arena));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct dg_sample sample[9];
        struct dg_samples out = { .sample = sample, .capacity = 9 };
        struct dg_stream q = { .kind = row[i].kind, .bytes = (uint64_t)row[i].mib << 20,
                               .threads = 1, .passes = 1 };
        struct dg_error e;
        cr_assert(bench.stream(bench.self, &q, &out, &e), "%s", e.rule);
        for (size_t k = 0; k < out.count; k++) {
            double gbps = 1 / sample[k].ns;
            bool memory = row[i].mib > 4;
            cr_expect(memory ? gbps < 12.1 : gbps > 12.5, "request %zu, sample %zu: %g GB/s", i, k,
                      gbps);
        }
    }
    dg_arena_free(&arena);
}

/* Multiplies of f64 go as those of f32: alike. Sums of 16-bit products take two of the two multiply
 * units each. */
Test(sim_sharing, other_bodies)
{
    static const char *const ids[] = { "bodies" };
    static const struct bound bounds[] = {
        { "mix.turn.s16.256.v2.b5.s128", 128 * 10 - 1, 128 * 10 + 10 },
        { "mix.turn.s16.256.v1.b4.s32", 32 * 4 - 1, 32 * 4 + 10 },
        { "mix.pass.s16.256.v4.b2.s32", 32 * 8, 32 * 8 + 30 },
    };
    struct dg_arena arena;
    struct dg_probe_result result;
    struct dg_error e;
    struct sim_case c = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none);
    c.whole = true;
    dg_arena_init(&arena);
    cr_assert(sim_run(&c, 19, ids, 1, &arena, &result, &e), "%s", e.rule);
    check_bounds(&c, &result.answers, bounds, sizeof bounds / sizeof *bounds);
    const struct dg_answer *like = dg_answers_find(&result.answers, "mix.like.f64.256");
    cr_assert(like != NULL && like->value.kind == DG_VALUE_TEXT);
    cr_expect_str_eq(like->value.text, "f32");
    cr_expect(dg_answers_find(&result.answers, "mix.like.s16.256") == NULL);
    cr_expect(dg_answers_find(&result.answers, "mix.turn.f64.256.v2.b4.s32") == NULL);
    dg_arena_free(&arena);
}

/* Out of time at any moment: what is there is true or marked, nothing hangs. */
Test(sim_sharing, budgets)
{
    static const double budgets[] = { 1, 40, 400, 1500 };
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        struct sim_case c = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none);
        struct dg_arena arena;
        struct dg_probe_result result;
        struct dg_error e;
        struct dg_str report;
        c.trouble.budget = budgets[i];
        struct sim_score score = { 0 };
        dg_arena_init(&arena);
        dg_str_init(&report, &arena);
        cr_assert(sim_run(&c, 17, NULL, 0, &arena, &result, &e), "%s", e.rule);
        cr_expect(result.incomplete || budgets[i] > 1000);
        sim_check(&c, &result.answers, &score, &report);
        cr_expect_eq(sim_total(&score, SIM_WRONG), 0u, "%g:\n%s", budgets[i],
                     dg_str_text(&report));
        dg_arena_free(&arena);
    }
}
