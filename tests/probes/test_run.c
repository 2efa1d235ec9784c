/* SPDX-License-Identifier: Apache-2.0
 *
 * The runner over a made-up machine: right answers, repeats, interrupts, budgets, replay. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "microbench/bodies.h"
#include "probes/probe.h"
#include "probes/replay.h"
#include "profile/builder.h"
#include "profile/fields.h"
#include "profile/reader.h"

static struct fake machine(void)
{
    return (struct fake){
        .level = { { 32768, 8, 64, 4 }, { 131072, 8, 64, 12 }, { 1048576, 16, 64, 40 } },
        .memory_latency = 220, .fma_latency = 5, .fma_rate = 2, .noise = 0.004 };
}

static bool run(struct fake *f, const char *const *only, size_t count, bool quick,
                struct dg_arena *arena, struct dg_probe_result *out, struct dg_error *e)
{
    const struct dg_probe_options options = { .architecture = "x86_64", .quick = quick, .seed = 1,
                                              .only = only, .only_count = count };
    return dg_probes_run(&f->bench, NULL, &options, arena, out, e);
}

static double value(const struct dg_probe_result *r, const char *key)
{
    const struct dg_answer *a = dg_answers_find(&r->answers, key);
    return a != NULL && a->value.kind == DG_VALUE_NUMBER ? a->value.number : -1;
}

static void expect_near(const struct dg_probe_result *r, const char *key, double want, double part)
{
    double got = value(r, key);
    cr_expect(fabs(got - want) <= part * want, "%s: %g, not %g", key, got, want);
}

Test(run, answers)
{
    static const struct { const char *key; double want, part; } rows[] = {
        { "clock_hz", 2.5e9, 0 }, { "vector_bits", 256, 0 }, { "vector_registers", 16, 0 },
        { "l1_size", 32768, 0 }, { "l1_ways", 8, 0 }, { "l1_set_stride", 4096, 0 },
        { "l1_line_size", 64, 0 }, { "l1_latency", 4, 0.01 }, { "l2_size", 131072, 0 },
        { "l1_vector_latency", 7, 0.01 }, { "l2_vector_latency", 15, 0.05 },
        { "l2_latency", 12, 0.05 }, { "l3_size", 1048576, 0 }, { "l3_latency", 16, 0.15 },
        { "dram_latency", 88, 0.02 }, { "op.fma.f32.256.acc_latency", 5, 0.01 },
        { "op.fma.f32.256.per_cycle", 2, 0.01 }, { "op.fma.f32.256.chains", 10, 0 },
        { "bw.l1.read.1", 32, 0.01 }, { "bw.l2.read.1", 16, 0.01 },
        { "mix.turn.f32.256.v2.b6.s64", 64 * 6 + 12, 0.01 }, { "mix.call.f32.256", 5, 0.5 },
    };
    struct fake f = machine();
    struct dg_arena arena;
    struct dg_probe_result r;
    struct dg_error e = { 0 };
    dg_arena_init(&arena);
    fake_open(&f);
    cr_assert(run(&f, NULL, 0, true, &arena, &r, &e), "%s", e.rule);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_near(&r, rows[i].key, rows[i].want, rows[i].part);
    cr_expect(!r.incomplete && !r.interrupted);
    cr_expect(dg_answers_find(&r.answers, "res.f32_256_fma.users") != NULL);

    /* every answer is one that the tables know, once, and a profile comes of them */
    for (size_t i = 0; i < r.answers.count; i++) {
        const struct dg_answer *a = &r.answers.answer[i];
        const struct dg_field *field = dg_field_of(a->key);
        cr_expect(field != NULL && strcmp(field->unit, a->unit) == 0, "%s in %s", a->key, a->unit);
        cr_expect(a->value.kind != DG_VALUE_NULL || (a->reason != NULL && a->help != NULL), "%s",
                  a->key);
        cr_expect(dg_answers_find(&r.answers, a->key) == a, "%s twice", a->key);
    }
    struct dg_profile profile;
    const struct dg_build build = { "fake", "x86_64", r.answers.answer, r.answers.count,
                                    r.facts.fact, r.facts.count };
    cr_expect(dg_profile_build(&build, &arena, &profile, &e), "%s %s %s", e.where, e.rule, e.value);
    fake_close(&f);
    dg_arena_free(&arena);
}

/* Two levels only, and longer lines. */
Test(run, other_machines)
{
    struct fake f = { .level = { { 65536, 4, 128, 3 }, { 524288, 16, 128, 10 } },
                      .memory_latency = 150, .fma_latency = 4, .fma_rate = 1, .noise = 0.01 };
    static const char *const only[] = { "levels" };
    struct dg_arena arena;
    struct dg_probe_result r;
    struct dg_error e = { 0 };
    dg_arena_init(&arena);
    fake_open(&f);
    cr_assert(run(&f, only, 1, false, &arena, &r, &e), "%s", e.rule);
    expect_near(&r, "l1_size", 65536, 0);
    expect_near(&r, "l1_ways", 4, 0);
    expect_near(&r, "l1_line_size", 128, 0);
    expect_near(&r, "l2_size", 524288, 0);
    expect_near(&r, "l2_latency", 10, 0.05);
    const struct dg_answer *l3 = dg_answers_find(&r.answers, "l3_size");
    cr_expect(l3 != NULL && l3->status == DG_UNAVAILABLE && l3->reason != NULL);
    cr_expect(dg_answers_find(&r.answers, "bw.l1.read.1") == NULL, "not asked for");
    fake_close(&f);
    dg_arena_free(&arena);
}

Test(run, interrupts_and_budgets)
{
    for (unsigned stop = 1; stop < 4000; stop = stop * 3 + 1)
        for (int kind = 0; kind < 2; kind++) {
            struct fake f = machine();
            struct dg_arena arena;
            struct dg_probe_result r;
            struct dg_error e = { 0 };
            f.stop_after = kind == 0 ? stop : 0;
            f.budget = kind == 1 ? stop : 0;
            dg_arena_init(&arena);
            fake_open(&f);
            cr_assert(run(&f, NULL, 0, true, &arena, &r, &e), "%s", e.rule);
            cr_expect(r.interrupted == (kind == 0 && f.requests > stop), "stop %u", stop);
            cr_expect(f.requests <= stop + 1, "%u requests after %u", f.requests, stop);
            cr_expect(stop > 2000 || r.incomplete);
            struct dg_profile profile;
            const struct dg_build build = { "fake", "x86_64", r.answers.answer, r.answers.count,
                                            r.facts.fact, r.facts.count };
            cr_expect(dg_profile_build(&build, &arena, &profile, &e), "stop %u: %s %s", stop,
                      e.where, e.rule);
            fake_close(&f);
            dg_arena_free(&arena);
        }
}

static void count_naps(void *self, double seconds)
{
    *(double *)self += seconds;
}

/* Waits for a core that never gets quiet end: by the interrupt, or when patience is over. */
Test(run, waits_end)
{
    static const struct { unsigned stop; double patience, naps; } rows[] = {
        { 60, 1e6, 10 }, { 0, 5, 5.5 }, { 51, 1e6, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fake f = machine();
        struct dg_arena arena;
        struct dg_probe_result r;
        struct dg_error e = { 0 };
        double naps = 0;
        const struct dg_probe_options options = {
            .architecture = "x86_64", .quick = true, .pause = count_naps, .pause_self = &naps,
            .patience = rows[i].patience };
        f.busy_after = 50;
        f.stop_after = rows[i].stop;
        dg_arena_init(&arena);
        fake_open(&f);
        cr_assert(dg_probes_run(&f.bench, NULL, &options, &arena, &r, &e), "%s", e.rule);
        cr_expect(r.interrupted == (rows[i].stop != 0), "row %zu", i);
        cr_expect(naps <= rows[i].naps, "row %zu: %g s", i, naps);
        cr_expect(rows[i].stop == 0 || f.requests <= rows[i].stop + 1, "row %zu: %u", i,
                  f.requests);
        fake_close(&f);
        dg_arena_free(&arena);
    }
}

Test(run, unknown_probe)
{
    struct fake f = machine();
    static const char *const only[] = { "nothing" };
    struct dg_arena arena;
    struct dg_probe_result r;
    struct dg_error e = { 0 };
    dg_arena_init(&arena);
    fake_open(&f);
    cr_expect(!run(&f, only, 1, false, &arena, &r, &e) && e.exit_code == DG_EXIT_USAGE);
    fake_close(&f);
    dg_arena_free(&arena);
}

static bool same(const struct dg_answer *a, const struct dg_answer *b)
{
    return strcmp(a->key, b->key) == 0 && a->status == b->status &&
           a->value.kind == b->value.kind && a->value.number == b->value.number &&
           a->low == b->low && a->high == b->high;
}

/* What was recorded, through a file, gives the same answers without the machine. */
/* A recorded run, one that ran out of time too, gives the same answers again. */
static void check_replay(unsigned budget)
{
    struct fake f = machine();
    f.budget = budget;
    struct dg_arena arena;
    struct dg_probe_result first, again;
    struct dg_error e = { 0 };
    struct dg_samples_file file, back;
    const char *path = "probes-replay.samples.json";
    dg_arena_init(&arena);
    struct dg_claims claims = { .arena = &arena };
    struct dg_recording recording = { .arena = &arena };
    struct dg_recorder recorder = { .inner = &f.bench, .recording = &recording };
    fake_open(&f);
    dg_claims_add_number(&claims, "l1_size", "test", 65536);
    const struct dg_bench bench = dg_recording_bench(&recorder);
    const struct dg_probe_options options = { .architecture = "x86_64", .quick = true, .seed = 9 };
    cr_assert(dg_probes_run(&bench, &claims, &options, &arena, &first, &e));
    const struct dg_replay_header header = { .info = &f.info, .options = &options };
    cr_assert(dg_replay_pack(&header, &claims, &recording, &arena, &file));
    cr_assert(dg_samples_write(path, &file, &e) && dg_samples_read(path, &arena, &back, &e), "%s",
              e.rule);
    cr_assert(dg_replay_run(&back, &arena, &again, &e), "%s", e.rule);
    cr_assert_eq(first.answers.count, again.answers.count);
    for (size_t i = 0; i < first.answers.count; i++)
        cr_expect(same(&first.answers.answer[i], &again.answers.answer[i]), "budget %u: %s", budget,
                  first.answers.answer[i].key);
    const struct dg_answer *l1 = dg_answers_find(&again.answers, "l1_size");
    cr_expect(budget > 0 ||
              (l1 != NULL && l1->claim_count == 1 && l1->claims[0].value.number == 65536));
    remove(path);
    fake_close(&f);
    dg_arena_free(&arena);
}

Test(run, replay)
{
    static const unsigned budgets[] = { 0, 150, 400, 900, 1400 };
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
        check_replay(budgets[i]);
}

static bool run_recorded(const struct dg_bench *inner, struct dg_recording *recording,
                         const struct dg_probe_options *options, struct dg_probe_result *out)
{
    struct dg_error e = { 0 };
    struct dg_recorder recorder = { .inner = inner, .recording = recording };
    const struct dg_bench bench = dg_recording_bench(&recorder);
    return dg_probes_run(&bench, NULL, options, recording->arena, out, &e);
}

/* A run that was broken off goes on where it was: nothing is measured again, and it ends whole. */
Test(run, resume)
{
    static const struct { unsigned stop; double budget; } rows[] = {
        { 1, 0 }, { 40, 0 }, { 700, 0 }, { 0, 40 }, { 0, 900 }, { 0, 1050 }, { 0, 1500 },
    };
    const struct dg_probe_options options = { .architecture = "x86_64", .quick = true, .seed = 5 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fake f = machine();
        struct dg_arena arena;
        struct dg_probe_result first, second;
        struct dg_replay replay;
        dg_arena_init(&arena);
        struct dg_recording part = { .arena = &arena }, whole = { .arena = &arena };
        f.stop_after = rows[i].stop;
        f.budget = rows[i].budget;
        fake_open(&f);
        cr_assert(run_recorded(&f.bench, &part, &options, &first) && first.incomplete);
        /* the part alone gives the same answers again */
        cr_assert(dg_replay_init(&replay, part.item, part.count, &arena));
        const struct dg_bench alone = dg_replay_bench(&replay, &f.info);
        struct dg_error e = { 0 };
        cr_assert(dg_probes_run(&alone, NULL, &options, &arena, &second, &e));
        cr_assert_eq(first.answers.count, second.answers.count, "row %zu", i);
        for (size_t k = 0; k < first.answers.count; k++)
            cr_expect(same(&first.answers.answer[k], &second.answers.answer[k]), "row %zu: %s", i,
                      first.answers.answer[k].key);
        size_t done = dg_replay_measured(part.item, part.count);
        cr_expect(done > 0, "row %zu", i);
        f.stop_after = 0;
        f.budget = 0;
        f.requests = 0;
        cr_assert(dg_replay_init(&replay, part.item, done, &arena));
        replay.then = &f.bench;
        const struct dg_bench bench = dg_replay_bench(&replay, &f.info);
        cr_assert(run_recorded(&bench, &whole, &options, &second));
        cr_expect(!second.incomplete && replay.live, "row %zu", i);
        cr_assert(whole.count > done);
        cr_expect(f.requests <= whole.count - done, "row %zu: %u requests", i, f.requests);
        for (size_t k = 0; k < done; k++)
            cr_expect(strcmp(whole.item[k].request, part.item[k].request) == 0 &&
                      (part.item[k].count == 0 ||
                       whole.item[k].cycles[0] == part.item[k].cycles[0]), "row %zu, %zu", i, k);
        expect_near(&second, "l1_size", 32768, 0);
        fake_close(&f);
        dg_arena_free(&arena);
    }
}

/* --skip leaves out what others may need; --thorough asks for more. */
Test(run, selection)
{
    static const char *const only[] = { "levels" }, *const skip[] = { "l1", "clock" };
    static const char *const none[] = { "nothing" };
    bool wanted[DG_PROBE_COUNT];
    struct dg_error e = { 0 };
    struct dg_probe_options o = { .only = only, .only_count = 1 };
    cr_assert(dg_probes_wanted(&o, wanted, &e));
    cr_expect(wanted[DG_PROBE_clock] && wanted[DG_PROBE_l1] && wanted[DG_PROBE_levels] &&
              !wanted[DG_PROBE_ops]);
    o.skip = skip;
    o.skip_count = 2;
    cr_assert(dg_probes_wanted(&o, wanted, &e));
    cr_expect(!wanted[DG_PROBE_clock] && !wanted[DG_PROBE_l1] && wanted[DG_PROBE_levels]);
    o.skip = none;
    o.skip_count = 1;
    cr_expect(!dg_probes_wanted(&o, wanted, &e) && strcmp(e.where, "--skip") == 0);
    o = (struct dg_probe_options){ .only = skip + 1, .only_count = 1, .skip = skip + 1,
                                   .skip_count = 1 };
    cr_expect(!dg_probes_wanted(&o, wanted, &e) && e.exit_code == DG_EXIT_USAGE);
    cr_expect_eq(dg_probe_repeats(&o, DG_PROBE_isa), 1u);
    cr_expect_eq(dg_probe_repeats(&o, DG_PROBE_l1), 3u);
    o.thorough = true;
    cr_expect_eq(dg_probe_repeats(&o, DG_PROBE_l1), 5u);
}

/* What the probe writes, the reader takes: every body of the mixes is a type of the tables. */
Test(run, cells_of_bodies_are_read_back)
{
    for (size_t i = 0; i < dg_mix_body_count; i++)
        for (size_t j = 0; dg_isas[j] != NULL; j++) {
            struct dg_mix_form form;
            struct dg_profile profile;
            struct dg_arena arena;
            struct dg_error e = { 0 };
            char text[256];
            if (!dg_mix_form_of(dg_isas[j], dg_mix_bodies[i].name, &form))
                continue;
            dg_arena_init(&arena);
            int size = snprintf(text, sizeof text, "{\"name\": \"x\", \"architecture\": \"%s\", "
                                "\"mix.turn.%s.%u.v1.b1.s16\": 20}", dg_isas[j]->architecture,
                                dg_mix_bodies[i].name, dg_isas[j]->vector_bits);
            cr_expect(dg_profile_read_text(text, (size_t)size, "test", &arena, &profile, &e),
                      "%s: %s %s", text, e.rule, e.value);
            dg_arena_free(&arena);
        }
}
