/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check.h"

#include <math.h>
#include <string.h>

#include "profile/fields.h"

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

/* ---- truths of a case ---- */

struct truth { const char *key; double low, high; bool known; };

static double rate(const struct sim_chip *chip, enum sim_resource resource, unsigned bits)
{
    const struct sim_unit *unit = &chip->unit[resource];
    return unit->capacity / fmax(1, (double)bits / unit->bits);
}

/* What a walk can keep on the chip; a victim cache holds nothing twice. */
static double beyond_l2(const struct sim_chip *chip)
{
    return chip->l3.size + (chip->l3.keeps == SIM_VICTIM ? (double)chip->l2.size : 0);
}

static bool near_power_of_two(double value)
{
    return fabs(log2(value) - round(log2(value))) < 0.3;
}

/* Sizes behind L1 show in what windows leave of themselves, if lines go by age. */
static bool by_age(const struct sim_chip *chip)
{
    return chip->l2.policy != SIM_RANDOM &&
           (chip->l3.size == 0 || chip->l3.policy != SIM_RANDOM);
}

static void truths_of(const struct sim_case *of, struct truth out[SIM_TRUTHS])
{
    const struct sim_chip *c = &of->chip;
    const struct sim_trouble *t = &of->trouble;
    unsigned bits = sim_vector_bits(c);
#define ALWAYS true
#define EXACT(value) (double)(value), (double)(value)
#define NEAR(value, part) (value) * (1 - (part)), (value) * (1 + (part))
#define POWER_OF_TWO(value) (value) / sqrt(2), (value) * sqrt(2)
#define TRUTH(key, ...) { key, __VA_ARGS__ },
    const struct truth rows[] = {
#include "tests/sim/truth.def"
    };
#undef TRUTH
    memcpy(out, rows, sizeof rows);
}

static const char *const keys[] = {
#define TRUTH(key, ...) key,
#include "tests/sim/truth.def"
#undef TRUTH
};

/* ---- verdicts ---- */

enum sim_verdict sim_judge(const struct dg_answers *answers, const char *key, double low,
                           double high, bool known)
{
    const struct dg_answer *a = dg_answers_find(answers, key);
    if (a == NULL || a->value.kind != DG_VALUE_NUMBER) {
        if (a != NULL && (a->reason == NULL || a->help == NULL))
            return SIM_WRONG;
        return known && high > 0 ? SIM_UNKNOWN : SIM_RIGHT;
    }
    bool right = a->value.number >= low && a->value.number <= high;
    return right ? SIM_RIGHT : a->confidence > trusted ? SIM_WRONG : SIM_DOUBTED;
}

static void explain(const struct truth *t, const char *key, const struct dg_answer *a,
                    enum sim_verdict verdict, struct dg_str *report)
{
    static const char *const names[] = { "right", "not found out", "wrong, in doubt", "WRONG" };
    dg_str_format(report, "  %s: %s, should be ", key, names[verdict]);
    dg_str_double(report, t->low);
    dg_str_add(report, " to ");
    dg_str_double(report, t->high);
    if (a != NULL && a->value.kind == DG_VALUE_NUMBER) {
        dg_str_add(report, ", is ");
        dg_str_double(report, a->value.number);
        dg_str_add(report, " with confidence ");
        dg_str_fixed(report, a->confidence, 2);
    } else if (a != NULL && a->reason != NULL) {
        dg_str_format(report, ", %s", a->reason);
    }
    dg_str_addc(report, '\n');
}

void sim_check(const struct sim_case *c, const struct dg_answers *answers, struct sim_score *score,
               struct dg_str *report)
{
    struct truth truths[SIM_TRUTHS];
    truths_of(c, truths);
    for (size_t i = 0; i < SIM_TRUTHS; i++) {
        char key[96];
        dg_format(key, sizeof key, truths[i].key, sim_vector_bits(&c->chip));
        enum sim_verdict verdict = sim_judge(answers, key, truths[i].low, truths[i].high,
                                             truths[i].known);
        score->count[i][verdict]++;
        if (verdict != SIM_RIGHT)
            explain(&truths[i], key, dg_answers_find(answers, key), verdict, report);
    }
}

unsigned sim_total(const struct sim_score *score, enum sim_verdict verdict)
{
    unsigned total = 0;
    for (size_t i = 0; i < SIM_TRUTHS; i++)
        total += score->count[i][verdict];
    return total;
}

void sim_print(const struct sim_score *score, bool every, struct dg_str *report)
{
    dg_str_add(report, "  right unknown doubted wrong  field\n");
    for (size_t i = 0; i < SIM_TRUTHS; i++) {
        const unsigned *n = score->count[i];
        if (every || n[SIM_UNKNOWN] + n[SIM_DOUBTED] + n[SIM_WRONG] > 0)
            dg_str_format(report, "  %5u %7u %7u %5u  %s\n", n[SIM_RIGHT], n[SIM_UNKNOWN],
                          n[SIM_DOUBTED], n[SIM_WRONG], keys[i]);
    }
}

unsigned sim_differ(const struct dg_answers *here, const struct dg_answers *there,
                    struct dg_str *report)
{
    unsigned count = 0;
    for (size_t i = 0; i < here->count; i++) {
        const struct dg_answer *a = &here->answer[i], *b = dg_answers_find(there, a->key);
        const struct dg_field *field = dg_field_of(a->key);
        if (field == NULL || !field->discrete || b == NULL ||
            a->value.kind != DG_VALUE_NUMBER || b->value.kind != DG_VALUE_NUMBER ||
            a->value.number == b->value.number)
            continue;
        count++;
        dg_str_format(report, "  %s: ", a->key);
        dg_str_double(report, a->value.number);
        dg_str_add(report, " in one run, ");
        dg_str_double(report, b->value.number);
        dg_str_add(report, " in another\n");
    }
    return count;
}
