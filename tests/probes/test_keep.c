/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks in use while others pass, with known answers. */
#include <criterion/criterion.h>

#include "probes/infer/keep.h"

Test(keep, resident)
{
    static const uint64_t size[] = { 8, 16, 24, 32 };
    static const struct { double ratio[4]; size_t count; uint64_t want; } rows[] = {
        { { 1, 1.01, 1.04, 1.3 }, 4, 24 }, { { 1, 1, 1, 1 }, 4, 32 }, { { 1.2, 1, 1, 1 }, 4, 0 },
        { { 1, 1.2, 1, 1 }, 4, 8 }, { { 1 }, 0, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(dg_infer_resident(size, rows[i].ratio, rows[i].count, 0.05), rows[i].want,
                     "row %zu", i);
}

/* The first rows are readings of a chip whose L2 holds all of L1 and whose L3 takes what leaves. */
Test(keep, inclusion)
{
    static const struct { const char *title; struct dg_keeps k; enum dg_inclusion want; } rows[] = {
        { "L2 of Zen 4", { 3.84, 3.85, 4.03, 1.53, 397, 51, 14, 19 }, DG_INCLUSIVE },
        { "L3 of Zen 4", { 20.1, 20.4, 20.6, 1.5, 397, 400, 56, 56.4 }, DG_VICTIM },
        { "lost and far when pushed", { 14, 14.1, 14.2, 1.5, 100, 300, 50, 290 }, DG_NEITHER },
        { "half in it when pushed", { 14, 14.1, 14.2, 1.5, 100, 300, 50, 170 }, DG_KEPT },
        { "not pushed", { 14, 14.1, 14.2, 1.5, 100, 300, 50, 0 }, DG_KEPT },
        { "pushing did not push", { 14, 14.1, 14.2, 1.5, 100, 300, 50, 15 }, DG_KEPT },
        { "lost each time", { 14, 14.1, 18.4, 1.5, 100, 300, 50, 50 }, DG_INCLUSIVE },
        { "a third is lost", { 14, 14.1, 15.5, 1.5, 100, 300, 50, 50 }, DG_INCLUSION_UNKNOWN },
        { "does not stay", { 14, 20, 24.4, 1.5, 100, 300, 50, 50 }, DG_INCLUSION_UNKNOWN },
        { "levels too near", { 14, 14, 14.1, 1.5, 100, 60, 50, 50 }, DG_INCLUSION_UNKNOWN },
        { "not once anew", { 14, 14, 18.4, 0.5, 100, 300, 50, 50 }, DG_INCLUSION_UNKNOWN },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(dg_infer_inclusion(&rows[i].k), rows[i].want, "%s: %d", rows[i].title,
                     (int)dg_infer_inclusion(&rows[i].k));
}
