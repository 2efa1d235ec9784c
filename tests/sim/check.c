/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check.h"

#include <math.h>
#include <string.h>

/* What is trusted as if it were certain. */
static const double trusted = 0.9;

bool sim_run(const struct sim_case *c, uint64_t seed, const char *const *ids, size_t id_count,
             struct dg_arena *arena, struct dg_probe_result *out, struct dg_error *e)
{
    static const char *const usual[] = { "clock", "isa", "ops", "l1", "levels" };
    static const struct dg_claims none;
    struct dg_claims claims = none;
    claims.arena = arena;
    struct sim *sim = sim_new(&c->chip, &c->trouble, seed, arena);
    if (sim == NULL)
        return dg_fail(e, DG_EXIT_INTERNAL, c->title, "no memory", "", "");
    struct dg_bench bench = sim_bench(sim);
    struct dg_probe_options options = {
        .architecture = c->chip.architecture, .quick = !c->whole, .only = ids != NULL ? ids : usual,
        .only_count = ids != NULL ? id_count : sizeof usual / sizeof *usual, .seed = seed };
    return dg_probes_run(&bench, &claims, &options, arena, out, e);
}

static void complain(struct dg_str *report, const char *key, const struct dg_answer *a,
                     const char *what)
{
    dg_str_format(report, "  %s: %s", key, what);
    if (a != NULL && a->value.kind == DG_VALUE_NUMBER) {
        dg_str_add(report, ", found ");
        dg_str_double(report, a->value.number);
        dg_str_add(report, " with confidence ");
        dg_str_fixed(report, a->confidence, 2);
    } else if (a != NULL && a->reason != NULL) {
        dg_str_format(report, ", %s", a->reason);
    }
    dg_str_addc(report, '\n');
}

static bool check_one(const struct sim_truth *t, const struct dg_answers *answers,
                      struct dg_str *report)
{
    const struct dg_answer *a = dg_answers_find(answers, t->key);
    char what[96], number[32];
    if (a == NULL || a->value.kind != DG_VALUE_NUMBER) {
        if (!t->may_be_unknown)
            complain(report, t->key, a, "not found out");
        return t->may_be_unknown;
    }
    bool right = fabs(a->value.number - t->value) <= t->tolerance * t->value;
    if (right || (t->may_be_unknown && a->confidence <= trusted))
        return true;
    dg_format(number, sizeof number, "%lld", (long long)(t->value * 1000));
    dg_format(what, sizeof what, "should be %s thousandths", number);
    complain(report, t->key, a, what);
    return false;
}

unsigned sim_check(const struct sim_case *c, const struct dg_answers *answers,
                   struct dg_str *report)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < SIM_TRUTHS && c->truth[i].key != NULL; i++)
        wrong += !check_one(&c->truth[i], answers, report);
    for (size_t i = 0; i < 4 && c->unknown[i] != NULL; i++) {
        const struct dg_answer *a = dg_answers_find(answers, c->unknown[i]);
        bool empty = a == NULL || a->value.kind == DG_VALUE_NULL;
        bool reasoned = a == NULL || (a->reason != NULL && a->help != NULL);
        if (!empty || !reasoned)
            complain(report, c->unknown[i], a, empty ? "unknown without a reason" :
                     "cannot be known");
        wrong += !empty || !reasoned;
    }
    return wrong;
}
