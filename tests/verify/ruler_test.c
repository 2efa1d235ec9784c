/* SPDX-License-Identifier: Apache-2.0
 *
 * The pure parts of the second and third ruler: slices, roofline, report. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/report.h"
#include "verify/roofline.h"
#include "verify/slices.h"

enum { CALLS = 30, SLICES = 400 };

/* Slices as a machine records them: each has its own length, the inner loop is `share` of it, a
 * gap of 30 us falls into one slice of every call or two, the clock moves between calls. */
struct recording {
    uint64_t stamps[CALLS * (SLICES + 1)];
    double per_tick[CALLS];
    double truth;                /* cycles of the call on the core */
};

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static void record(struct recording *r, double inner_longer)
{
    uint64_t shape = 7, noise = (uint64_t)(inner_longer * 1000) + 99;
    double length[SLICES];
    r->truth = 0;
    for (int i = 0; i < SLICES; i++) {
        double outer = 300 + 200 * uniform(&shape);
        length[i] = outer + (14000 + 3000 * uniform(&shape)) * inner_longer;
        r->truth += length[i];
    }
    for (int c = 0; c < CALLS; c++) {
        uint64_t *stamps = r->stamps + c * (SLICES + 1);
        double clock = 1.5 + 0.2 * uniform(&noise), at = 1e6 * c;
        r->per_tick[c] = clock;
        stamps[0] = (uint64_t)at;
        for (int i = 0; i < SLICES; i++) {
            double gap = uniform(&noise) < 0.02 ? 60000 * uniform(&noise) : 0;
            at += (length[i] * (1 + 0.002 * (uniform(&noise) - 0.5)) + gap) / clock;
            stamps[i + 1] = (uint64_t)at;
        }
    }
}

static double measured(const struct recording *r)
{
    struct dg_slices slices = {r->stamps, r->per_tick, CALLS, SLICES};
    struct dg_slice_sum sum;
    cr_assert(dg_slices_sum(&slices, &sum));
    cr_expect(sum.low <= sum.cycles && sum.cycles <= sum.high);
    return sum.cycles;
}

Test(verify_ruler, a_longer_inner_loop_is_seen_to_one_percent)
{
    static const double longer[] = {1, 1.02, 1.05, 1.2};
    struct recording *r = malloc(sizeof *r);
    cr_assert_not_null(r);
    record(r, 1);
    double base = measured(r), base_truth = r->truth;
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        record(r, longer[i]);
        double cycles = measured(r);
        cr_expect(fabs(cycles / r->truth - 1) < 0.01, "x %.2f: %.0f of %.0f", longer[i], cycles,
                  r->truth);
        cr_expect(fabs(cycles / base - r->truth / base_truth) < 0.01);
        /* the wall time of a call, gaps and all, would have hidden the 2 % */
        double wall = 0;
        for (int c = 0; c < CALLS; c++)
            wall += (double)(r->stamps[c * (SLICES + 1) + SLICES] - r->stamps[c * (SLICES + 1)])
                  * r->per_tick[c] / CALLS;
        cr_expect(wall > 1.02 * r->truth);
    }
    free(r);
}

Test(verify_ruler, slices_that_cannot_be_used)
{
    struct recording *r = malloc(sizeof *r);
    struct dg_slice_sum sum;
    cr_assert_not_null(r);
    record(r, 1);
    struct dg_slices slices = {r->stamps, r->per_tick, CALLS, SLICES};
    for (int c = 0; c < CALLS - DG_SLICE_CALLS_LEAST; c++)
        r->per_tick[c] = NAN;
    cr_expect(dg_slices_sum(&slices, &sum), "%d calls are enough", DG_SLICE_CALLS_LEAST);
    cr_expect(sum.rejected == (CALLS - DG_SLICE_CALLS_LEAST) * SLICES);
    r->stamps[(CALLS - 1) * (SLICES + 1) + 3] = r->stamps[(CALLS - 1) * (SLICES + 1) + 2];
    cr_expect(!dg_slices_sum(&slices, &sum), "one slice has too few calls left");
    slices.calls = 0;
    cr_expect(!dg_slices_sum(&slices, &sum));
    free(r);
}

static struct dg_manifest cube(uint64_t edge)
{
    return (struct dg_manifest){
        .problem = {.m = edge, .n = edge, .k = edge},
        .predicted = {.bound = 2.0 * (double)(edge * edge * edge) / 16},
        .traffic = {.l2_bytes = 8 * edge * edge, .l3_bytes = 4 * edge * edge},
        .roofs = {.peak = 16, .l2 = 20, .l3 = 10},
    };
}

Test(verify_ruler, roofs)
{
    struct dg_manifest m = cube(64);
    double ideal = 2.0 * 64 * 64 * 64 / 16;
    struct dg_roofline r = dg_roofline_of(&m, ideal / 0.9, 16);
    cr_expect(fabs(r.of_peak - 0.9) < 1e-12 && fabs(r.of_roof - 0.9) < 1e-12);
    cr_expect_str_eq(r.limit, "compute");
    cr_expect(!r.inconsistent);
    cr_expect(!dg_roofline_of(&m, ideal / 1.019, 16).inconsistent);
    cr_expect(dg_roofline_of(&m, ideal / 1.021, 16).inconsistent);
    m.predicted.bound = 1.25 * ideal;
    r = dg_roofline_of(&m, ideal / 0.8, 16);
    cr_expect_str_eq(r.limit, "l1");
    cr_expect(fabs(r.of_roof - 1) < 1e-12 && fabs(r.of_peak - 0.8) < 1e-12);
    m.traffic.l3_bytes = (uint64_t)(20 * ideal);
    r = dg_roofline_of(&m, 4 * ideal, 16);
    cr_expect_str_eq(r.limit, "l3");
    cr_expect(fabs(r.of_roof - 0.5) < 1e-3);
    r = dg_roofline_of(&m, NAN, 16);
    cr_expect(isnan(r.of_peak) && isnan(r.of_roof) && r.limit == NULL);
    r = dg_roofline_of(&m, 100, 0);
    cr_expect(isnan(r.of_peak));
}

Test(verify_ruler, report_texts)
{
    struct dg_arena arena;
    struct dg_str out;
    struct dg_kernel_report kernel;
    dg_arena_init(&arena);
    dg_str_init(&out, &arena);
    dg_kernel_report_init(&kernel);
    kernel.name = "a\"b\\c\n";
    kernel.isa = "x86_64-avx2";
    kernel.ran = kernel.pass = kernel.numbers.pass = true;
    kernel.cycles.predicted = 100;
    for (int i = 0; i < 9; i++)
        cr_assert(dg_report_check(&kernel, &arena, "x", DG_CHECK_OK, "y"));
    struct dg_verify_report report = {.pass = true, .kernels = &kernel, .count = 1};
    dg_report_json(&report, &out);
    cr_expect(strstr(out.text, "\"name\": \"a\\\"b\\\\c\\u000a\"") != NULL);
    cr_expect(strstr(out.text, "\"predicted\": 100, \"measured\": null, "
                               "\"raw_wall\": null") != NULL);
    cr_expect(strstr(out.text, "\"of_peak\": null, \"of_roof\": null, \"limit\": null") != NULL);
    cr_expect(strstr(out.text, "nan") == NULL && strstr(out.text, "inf") == NULL);
    dg_arena_free(&arena);
}

/* A kernel that was planned for another chip runs here, but what is said of its cycles is not about
 * its plan. Where one of the two is not known nothing is said. */
Test(verify_ruler, another_chip)
{
    static const struct { const char *planned_for, *host; bool elsewhere; } cases[] = {
        { "amd 25 17", "intel 6 167", true }, { "amd 25 17", "amd 25 17", false },
        { "amd 25 17", "amd 25 1", true }, { "", "amd 25 17", false }, { NULL, "amd", false },
        { "amd 25 17", "", false }, { "amd 25 17", NULL, false }, { NULL, NULL, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_arena arena;
        struct dg_str text, json;
        struct dg_kernel_report kernel;
        dg_arena_init(&arena);
        dg_str_init(&text, &arena);
        dg_str_init(&json, &arena);
        dg_kernel_report_init(&kernel);
        kernel.ran = kernel.pass = true;
        kernel.planned_for = cases[i].planned_for;
        kernel.host = cases[i].host;
        struct dg_verify_report report = {.pass = true, .kernels = &kernel, .count = 1};
        dg_report_text(&report, &text);
        dg_report_json(&report, &json);
        cr_expect_eq(dg_report_elsewhere(&kernel), cases[i].elsewhere, "%zu", i);
        cr_expect_eq(strstr(text.text, "warning: planned for ") != NULL, cases[i].elsewhere, "%s",
                     text.text);
        bool known = cases[i].host != NULL && cases[i].host[0] != '\0';
        cr_expect_eq(strstr(json.text, "\"host\": null") == NULL, known, "%s", json.text);
        dg_arena_free(&arena);
    }
}
