/* SPDX-License-Identifier: Apache-2.0
 *
 * What a core does besides operations, on simulated chips: prefetchers, loads in flight and in each
 * other's way, straight code, fresh pages, the clock as it goes. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/sim/check.h"

/* What must be said: a number between the two; low 0: null with a reason; text: that text. */
struct expected { const char *key; double low, high; const char *text; };

enum { MOST = 12 };
struct row {
    const char *title, *ids[3];
    void (*change)(struct sim_chip *chip);
    struct expected expected[MOST];
};

/* ---- prefetchers ---- */

static void no_prefetch(struct sim_chip *chip)
{
    chip->prefetch = (struct sim_prefetch_spec){ 0 };
}

static void stride_only(struct sim_chip *chip)
{
    chip->prefetch = (struct sim_prefetch_spec){ .stride = 2048, .stride_lines = 4 };
}

static void streams_only(struct sim_chip *chip)
{
    chip->prefetch = (struct sim_prefetch_spec){ .streams = 16, .stream_lines = 12 };
}

static void both(struct sim_chip *chip)
{
    chip->prefetch = (struct sim_prefetch_spec){ .stride = 256, .stride_lines = 3, .streams = 32,
                                                 .stream_lines = 20, .crosses_page = true };
}

static void pairs(struct sim_chip *chip)
{
    chip->adjacent_line = true;
}

static void long_lines(struct sim_chip *chip)
{
    chip->l2.line = chip->l3.line = 128;
}

/* ---- loads ---- */

static void few_misses(struct sim_chip *chip)
{
    chip->misses = 12;
    chip->alias_cost = 5;
}

static void many_misses(struct sim_chip *chip)
{
    chip->misses = 48;
    chip->banks = (struct sim_banks){ 8, 8, true };
    chip->bank_cost = 1;
}

/* ---- code ---- */

static void decoded(struct sim_chip *chip)
{
    chip->front = (struct sim_front){ { 32768, 8, 64 }, 1536, 4, { 16, 10, 4, 2 } };
}

static void plain_code(struct sim_chip *chip)
{
    chip->front = (struct sim_front){ { 65536, 4, 64 }, 0, 5, { 32, 10, 4, 2 } };
}

/* ---- pages and the clock ---- */

static void ramps(struct sim_chip *chip)
{
    chip->first_touch[0] = 300;
    chip->first_touch[1] = 90000;
    chip->pace = (struct sim_pace){ .idle = 0.4, .ramp_ms = 2, .wide = { 1, 0.9, 0.8 },
                                    .all = 0.85 };
}

static void small_pages(struct sim_chip *chip)
{
    chip->huge_pages = false;
    chip->page_bytes = 16384;
    chip->first_touch[0] = 900;
}

/* haswell: lines of 64 bytes, 3 GHz, two CPUs, 256-bit vectors, five slots */
static const struct row rows[] = {
    { "no prefetchers", { "prefetch" }, no_prefetch,
      { { "l1_prefetcher_stride", 0, 0, NULL }, { "l2_prefetcher_stride", 0, 0, NULL },
        { "prefetch.reach.l1.s64", 0, 0, NULL }, { "prefetch.streams", 0, 0, NULL },
        { "prefetch.crosses_page", 0, 0, "no" } } },
    { "strides", { "prefetch" }, stride_only,
      { { "l1_prefetcher_stride", 2048, 2048, NULL }, { "l2_prefetcher_stride", 2048, 2048, NULL },
        { "prefetch.reach.l1.s64", 256, 256, NULL }, { "prefetch.reach.any.s64", 256, 256, NULL },
        { "prefetch.reach.l1.s1024", 4096, 4096, NULL } } },
    { "streams", { "prefetch" }, streams_only,
      { { "l1_prefetcher_stride", 0, 0, NULL }, { "l2_prefetcher_stride", 64, 64, NULL },
        { "prefetch.reach.l1.s64", 0, 0, NULL }, { "prefetch.reach.any.s64", 768, 768, NULL },
        { "prefetch.reach.any.s256", 0, 0, NULL }, { "prefetch.streams", 16, 16, NULL },
        { "prefetch.crosses_page", 0, 0, "no" } } },
    { "strides and streams", { "prefetch" }, both,
      { { "l1_prefetcher_stride", 256, 256, NULL }, { "l2_prefetcher_stride", 256, 256, NULL },
        { "prefetch.reach.l1.s64", 192, 192, NULL }, { "prefetch.reach.any.s64", 1280, 1280, NULL },
        { "prefetch.reach.l1.s1024", 0, 0, NULL }, { "prefetch.streams", 32, 32, NULL },
        { "prefetch.crosses_page", 0, 0, "yes" } } },
    { "lines come alone", { "beside" }, streams_only,
      { { "l2_line_size", 64, 64, NULL }, { "l3_line_size", 64, 64, NULL },
        { "prefetch.adjacent", 0, 0, "none" } } },
    { "lines come in pairs", { "beside" }, pairs,
      { { "l2_line_size", 0, 0, NULL }, { "l3_line_size", 0, 0, NULL },
        { "prefetch.adjacent", 0, 0, "pair" } } },
    { "lines behind L1 are longer", { "beside" }, long_lines,
      { { "l2_line_size", 0, 0, NULL }, { "l3_line_size", 0, 0, NULL },
        { "prefetch.adjacent", 0, 0, "pair" } } },
    { "12 misses, aliases", { "loads" }, few_misses,
      { { "core.misses", 12, 12, NULL }, { "core.alias.4096", 4.9, 5.1, NULL },
        { "core.conflict.share", 0, 0, NULL } } },
    { "48 misses, hashed banks", { "loads" }, many_misses,
      { { "core.misses", 48, 48, NULL }, { "core.alias.4096", -0.05, 0.05, NULL },
        { "core.conflict.share", 0.05, 0.25, NULL },
        { "core.conflict.cost", 0.98, 1.02, NULL } } },
    { "decoded code is kept", { "code" }, decoded,
      { { "code.rate.b4.k1", 4.9, 5.1, NULL }, { "code.rate.b4.k16", 3.9, 4.1, NULL },
        { "code.rate.b8.k32", 1.9, 2.1, NULL }, { "code.rate.b8.k64", 1.2, 1.3, NULL },
        { "code.window.b4", 6144, 6144, NULL }, { "code.window.b8", 12288, 12288, NULL },
        { "l1i_effective_size", 6144, 6144, NULL }, { "l1i_size", 0, 0, NULL } } },
    { "code from L1I", { "code" }, plain_code,
      { { "code.rate.b4.k1", 4.9, 5.1, NULL }, { "code.rate.b4.k64", 4.9, 5.1, NULL },
        { "code.rate.b4.k128", 2.4, 2.6, NULL }, { "code.window.b4", 65536, 65536, NULL },
        { "code.window.b8", 65536, 65536, NULL }, { "l1i_size", 65536, 65536, NULL },
        { "l1i_effective_size", 65536, 65536, NULL } } },
    { "a clock that rises, and falls beside vectors", { "pace", "pages" }, ramps,
      { { "clock.after_idle", 1.1e9, 1.4e9, NULL }, { "clock.ramp", 1.75, 2.5, NULL },
        { "clock.sustained.64.1", 2.97e9, 3.03e9, NULL },
        { "clock.sustained.128.1", 2.97e9, 3.03e9, NULL },
        { "clock.sustained.256.1", 2.67e9, 2.73e9, NULL },
        { "clock.sustained.256.all", 2.27e9, 2.32e9, NULL },
        { "clock.sustained.512.1", 0, 0, NULL },
        { "memory.page.4k.first_touch", 295, 305, NULL },
        { "memory.page.2m.first_touch", 89000, 91000, NULL },
        { "memory.page.2m.granted", 0, 0, "yes" } } },
    { "a steady clock, pages of 16 KiB", { "pace", "pages" }, small_pages,
      { { "clock.after_idle", 2.97e9, 3.03e9, NULL }, { "clock.ramp", 0.2, 0.3, NULL },
        { "memory.page.16k.first_touch", 890, 910, NULL } } },
};

static void expect(const struct row *row, const char *noise, const struct dg_answers *answers,
                   const struct expected *x)
{
    const struct dg_answer *a = dg_answers_find(answers, x->key);
    cr_expect(a != NULL, "%s, %s: no %s", row->title, noise, x->key);
    if (a == NULL)
        return;
    const char *text = a->value.kind == DG_VALUE_TEXT ? a->value.text : "";
    double number = a->value.kind == DG_VALUE_NUMBER ? a->value.number : NAN;
    bool null = a->value.kind == DG_VALUE_NULL && a->reason != NULL && a->help != NULL;
    bool right = x->text != NULL ? strcmp(text, x->text) == 0 : x->low == 0 && x->high == 0 ?
                 null : number >= x->low && number <= x->high;
    cr_expect(right, "%s, %s: %s is %g%s, %s", row->title, noise, x->key, number, text,
              a->reason != NULL ? a->reason : "no reason");
}

static void check(const struct row *row, enum sim_noise noise)
{
    struct sim_case c = sim_case_of(SIM_CLASS_haswell, noise);
    struct dg_arena arena;
    struct dg_probe_result result;
    struct dg_error e;
    size_t count = 0;
    dg_arena_init(&arena);
    row->change(&c.chip);
    c.whole = true;
    while (count < 3 && row->ids[count] != NULL)
        count++;
    cr_assert(sim_run(&c, 7, row->ids, count, &arena, &result, &e), "%s: %s", row->title, e.rule);
    for (size_t i = 0; i < MOST && row->expected[i].key != NULL; i++)
        expect(row, c.noise, &result.answers, &row->expected[i]);
    dg_arena_free(&arena);
}

Test(sim_core, answers_are_true)
{
    static const enum sim_noise noises[] = { SIM_NOISE_none, SIM_NOISE_outliers };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t n = 0; n < sizeof noises / sizeof *noises; n++)
            check(&rows[i], noises[n]);
}
