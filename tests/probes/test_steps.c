/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps in rows of readings, and clocks, with known answers. */
#include <criterion/criterion.h>
#include <math.h>

#include "probes/infer/pace.h"
#include "probes/infer/steps.h"

Test(steps, knee)
{
    static const struct { double rate[5]; size_t count, want; } rows[] = {
        { { 10, 20, 39, 40, 40 }, 5, 2 }, { { 35, 36 }, 2, 0 }, { { 10, 20 }, 2, 1 },
        { { 7 }, 1, 0 }, { { 10, 30, 28 }, 3, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(dg_infer_knee(rows[i].rate, rows[i].count, 0.05), rows[i].want, "row %zu", i);
}

/* Levels of lines ahead: so many in L1, so many in L2, the rest in memory. */
Test(steps, reach)
{
    static const struct { size_t l1, any; } rows[] = {
        { 8, 18 }, { 0, 4 }, { 4, 4 }, { 0, 0 }, { 1, 32 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double cycles[32];
        for (size_t i = 0; i < 32; i++)
            cycles[i] = (i < rows[r].l1 ? 5 : i < rows[r].any ? 14 : 450) + (double)(i % 3) * 0.4;
        struct dg_reach got = dg_infer_reach(cycles, 32, 5, 460);
        cr_expect(got.l1 == rows[r].l1 && got.any == rows[r].any, "row %zu: %zu, %zu", r, got.l1,
                  got.any);
    }
}

Test(steps, misses)
{
    for (size_t fit = 4; fit <= 60; fit += 7) {
        double cycles[96];
        for (size_t i = 0; i < 96; i++)
            cycles[i] = 500 + 10 * (double)i + (i >= fit ? 320 : 0) + (double)(i * 7 % 5) * 8;
        cr_expect_eq(dg_infer_misses(cycles, 96), fit, "%zu", fit);
    }
    double slope[96];
    for (size_t i = 0; i < 96; i++)
        slope[i] = 500 + 20 * (double)i;
    cr_expect_eq(dg_infer_misses(slope, 96), 0, "no step");
    slope[40] = 2000;
    cr_expect_eq(dg_infer_misses(slope, 96), 0, "one reading is no step");
}

Test(steps, window)
{
    static const uint64_t size[] = { 1024, 2048, 4096, 8192, 16384 };
    static const double falls[] = { 9, 12, 11.9, 4, 4 }, flat[] = { 4, 4, 4, 4, 4 };
    cr_expect_eq(dg_infer_window(size, falls, 5, 0.9), 4096);
    cr_expect_eq(dg_infer_window(size, flat, 5, 0.9), 0);
}

Test(steps, code_cache)
{
    static const struct { uint64_t low[2], high[2]; size_t count; uint64_t want; } rows[] = {
        { { 28672, 28672 }, { 32768, 32768 }, 2, 32768 },
        { { 65536, 65536 }, { 81920, 81920 }, 2, 65536 },
        { { 40960, 40960 }, { 49152, 49152 }, 2, 49152 },
        { { 6144, 12288 }, { 7168, 14336 }, 2, 0 }, { { 28672, 0 }, { 32768, 0 }, 2, 0 },
        { { 28672 }, { 32768 }, 1, 0 }, { { 0, 0 }, { 0, 0 }, 2, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(dg_infer_code_cache(rows[i].low, rows[i].high, rows[i].count), rows[i].want,
                     "row %zu", i);
}

Test(steps, conflicts)
{
    double cycles[100];
    for (size_t i = 0; i < 100; i++)
        cycles[i] = i % 10 == 3 ? 1.13 : 0.67;
    struct dg_conflicts_seen seen = dg_infer_conflicts(cycles, 100);
    cr_expect(fabs(seen.share - 0.1) < 1e-9 && fabs(seen.cost - 0.46) < 1e-9);
    for (size_t i = 0; i < 100; i++)
        cycles[i] = 1;
    cr_expect(dg_infer_conflicts(cycles, 100).share == 0);
    cr_expect(dg_infer_conflicts(cycles, 0).share == 0);
}

/* 1 GHz that rises to 3 GHz after so many slices, one slice interrupted later. */
Test(pace, ramp)
{
    for (size_t slow = 0; slow < 16; slow += 5) {
        struct dg_sample slice[40];
        struct dg_ramp ramp;
        double want = 0;
        for (size_t i = 0; i < 40; i++) {
            double ghz = i < slow ? 1 : 3;
            slice[i] = (struct dg_sample){ 900000, 900000 / ghz * (i == 30 ? 1.4 : 1) };
            want += i < slow ? slice[i].ns : 0;
        }
        cr_assert(dg_infer_ramp(slice, 40, &ramp));
        cr_expect(fabs(ramp.sustained / 3e9 - 1) < 1e-9, "%g", ramp.sustained);
        cr_expect(fabs(ramp.first / (slow > 0 ? 1e9 : 3e9) - 1) < 1e-9);
        cr_expect(fabs(ramp.ns - fmax(want, slice[0].ns)) < 1, "%zu: %g, not %g", slow, ramp.ns,
                  want);
    }
    struct dg_ramp none;
    cr_expect(!dg_infer_ramp(NULL, 0, &none));
}

Test(pace, distribution)
{
    static struct dg_clocks clocks;
    cr_expect(dg_clocks_quantile(&clocks, 0.5) == 0);
    for (int i = 0; i < 1000; i++)
        dg_clocks_add(&clocks, i < 100 ? 2e9 : 3e9);
    dg_clocks_add(&clocks, 0);
    dg_clocks_add(&clocks, 1e15);
    cr_expect_eq(clocks.total, 1000);
    cr_expect(fabs(dg_clocks_quantile(&clocks, 0.05) / 2e9 - 1) < 1e-3);
    cr_expect(fabs(dg_clocks_quantile(&clocks, 0.5) / 3e9 - 1) < 1e-3);
}
