/* SPDX-License-Identifier: Apache-2.0
 *
 * CPUs among each other on simulated chips: clusters, kinds of core, nodes. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/sim/chips.h"
#include "tests/sim/check.h"
#include "probes/run.h"

struct core_case {
    const char *title;
    unsigned cpus, cluster, other_kind_from, node_cpus;
    double near_ns, far_ns;
    const char *groups, *kinds;          /* "0-3 4-7"; "" no such answer */
    double nearest, furthest, remote;    /* remote: expected load from node 1; 0: no answer */
};

static const struct core_case cases[] = {
    { "one CPU", 1, 0, 0, 0, 0, 0, "", "0", 0, 0, 0 },
    { "two alike", 2, 0, 0, 0, 30, 30, "", "0-1", 30, 30, 0 },
    { "two clusters", 8, 4, 0, 0, 25, 110, "0-3 4-7", "0-7", 25, 110, 0 },
    { "pairs", 8, 2, 0, 0, 12, 60, "0-1 2-3 4-5 6-7", "0-7", 12, 60, 0 },
    { "two kinds, one cluster", 8, 0, 4, 0, 40, 40, "", "0-3 4-7", 40, 40, 0 },
    { "kinds and clusters", 6, 4, 4, 0, 40, 80, "0-3 4-5", "0-3 4-5", 40, 80, 0 },
    { "two nodes", 8, 4, 0, 4, 50, 140, "0-3 4-7", "0-7", 50, 140, 150 },
    { "more than all pairs", 24, 12, 0, 0, 50, 140, "", "0-23", 50, 140, 0 },
};

static const struct sim_trouble troubles[] = {
    { .jitter = 0.005 }, { .jitter = 0.01, .outliers = 0.2, .steal = 0.3 },
    { .jitter = 0.01, .sibling = 0.5, .leak = 0.2, .clock_step = 0.8 },
};

static void joined(const struct dg_answers *answers, const char *key, char *out, size_t size)
{
    const struct dg_answer *a = dg_answers_find(answers, key);
    out[0] = '\0';
    for (size_t i = 0; a != NULL && a->value.kind == DG_VALUE_LIST && i < a->value.list_count; i++)
        dg_format(out + strlen(out), size - strlen(out), "%s%s", i > 0 ? " " : "",
                  a->value.list[i]);
}

static double number(const struct dg_answers *answers, const char *key)
{
    const struct dg_answer *a = dg_answers_find(answers, key);
    return a != NULL && a->value.kind == DG_VALUE_NUMBER ? a->value.number : 0;
}

/* The simulated caches and memory follow the core clock: where it falls, times rise. */
static void expect_near(const struct dg_answers *answers, const char *key, double want,
                        const struct sim_trouble *trouble, const char *title)
{
    double got = number(answers, key), slowest = trouble->clock_step > 0 ? trouble->clock_step : 1;
    cr_expect(got >= 0.9 * want && got <= 1.1 * want / slowest, "%s: %s is %g, not %g", title, key,
              got, want);
}

static bool run_case(const struct core_case *c, const struct sim_trouble *trouble, uint64_t seed,
                     struct dg_arena *arena, struct dg_probe_result *out)
{
    static const char *const ids[] = { "cores" };
    struct dg_claims claims = { .arena = arena };
    struct sim_chip chip = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none).chip;
    struct dg_error e;
    chip.cpus = c->cpus;
    chip.cluster = c->cluster;
    chip.other_kind_from = c->other_kind_from;
    chip.node_cpus = c->node_cpus;
    chip.near_ns = c->near_ns;
    chip.far_ns = c->far_ns;
    chip.remote_ns = 60;
    if (c->node_cpus > 0) {
        dg_claims_add_text(&claims, "numa.0.cpus", "sysfs", "0-3");
        dg_claims_add_text(&claims, "numa.1.cpus", "sysfs", "4-7");
        dg_claims_add_text(&claims, "numa.2.cpus", "sysfs", "8-11");
    }
    struct sim *sim = sim_new(&chip, trouble, seed, arena);
    struct dg_bench bench = sim_bench(sim);
    struct dg_probe_options options = { .architecture = chip.architecture, .only = ids,
                                        .only_count = 1, .seed = seed };
    return dg_probes_run(&bench, &claims, &options, arena, out, &e);
}

Test(sim_cores, groups_kinds_and_nodes)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t t = 0; t < sizeof troubles / sizeof *troubles; t++) {
            const struct core_case *c = &cases[i];
            struct dg_arena arena;
            struct dg_probe_result result;
            char text[200];
            dg_arena_init(&arena);
            cr_assert(run_case(c, &troubles[t], 3 + i, &arena, &result), "%s", c->title);
            joined(&result.answers, "c2c.groups.1", text, sizeof text);
            cr_expect_str_eq(text, c->groups, "%s, trouble %zu: %s", c->title, t, text);
            joined(&result.answers, "kinds.measured", text, sizeof text);
            /* on a noisy machine it may be unknown, but is never wrong */
            const struct dg_answer *kinds = dg_answers_find(&result.answers, "kinds.measured");
            bool unknown = t > 0 && text[0] == '\0' && kinds != NULL && kinds->reason != NULL;
            cr_expect(unknown || strcmp(text, c->kinds) == 0, "%s, trouble %zu: %s", c->title, t,
                      text);
            if (c->nearest > 0) {
                expect_near(&result.answers, "c2c.min", c->nearest, &troubles[t], c->title);
                expect_near(&result.answers, "c2c.max", c->furthest, &troubles[t], c->title);
                expect_near(&result.answers, "c2c.0.1", c->near_ns, &troubles[t], c->title);
            } else {
                const struct dg_answer *a = dg_answers_find(&result.answers, "c2c.median");
                cr_expect(a != NULL && a->reason != NULL && a->help != NULL, "%s", c->title);
            }
            if (c->remote > 0) {
                const struct dg_answer *none = dg_answers_find(&result.answers, "numa.2.latency");
                expect_near(&result.answers, "numa.0.latency", 90, &troubles[t], c->title);
                expect_near(&result.answers, "numa.1.latency", c->remote, &troubles[t], c->title);
                cr_expect(none != NULL && none->reason != NULL, "a node without allowed CPUs");
            } else {
                cr_expect(dg_answers_find(&result.answers, "numa.1.latency") == NULL);
            }
            dg_arena_free(&arena);
        }
}
