/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of what a kernel computes, reads and writes. */
#include <stdlib.h>
#include <string.h>

#include "verify/runner/internal.h"

/* Makes the reference for the operands as they are filled, and packed B. */
static bool prepare(struct dg_trial *run)
{
    if (!dg_reference_make(run))
        return dg_trial_bad(run, "no memory for the reference");
    return dg_run_pack(run, DG_PLACE_END);
}

static bool run_and_compare(struct dg_trial *run, bool exact)
{
    return prepare(run) && dg_run_once(run, DG_PLACE_END) && dg_reference_compare(run, exact);
}

/* A small C says little about a fault that not every element shows: such get more inputs. */
static unsigned turns_for(const struct dg_run_kernel *p)
{
    enum { ELEMENTS = 96, MOST = 24 };
    uint64_t turns = (ELEMENTS + p->m * p->n - 1) / (p->m * p->n);
    uint64_t work = p->m * p->n * (p->k + 1);
    return work > 100 * 1000 ? 1 : turns < MOST ? (unsigned)turns : MOST;
}

/* Integers are exact whatever the pattern, and have nothing to round and no NaN. */
static void check_pattern(struct dg_trial *run, const char *name, enum dg_pattern pattern,
                          bool exact, const char *detail)
{
    bool whole = !dg_trial_floats(run);
    if (whole && (pattern == DG_SPECIAL || pattern == DG_ROUNDING))
        return;
    dg_trial_at(run, name);
    for (unsigned turns = turns_for(run->kernel); turns > 0; turns--) {
        dg_pattern_fill(run, pattern);
        if (!run_and_compare(run, exact || whole))
            return;
    }
    dg_trial_ok(run, "%s", whole ? "every element exact" : detail);
}

/* Integers: where neighbouring products are as large as they can be, 16 bits do not hold their
 * sum. */
static void check_extremes(struct dg_trial *run)
{
    if (dg_trial_floats(run))
        return;
    dg_trial_at(run, "extremes");
    for (unsigned choice = 0; dg_pattern_extremes(run, choice); choice++)
        if (!run_and_compare(run, true))
            return;
    dg_trial_ok(run, "exact where all of A and of B are the lowest or the highest");
}

static void check_packing(struct dg_trial *run)
{
    static const enum dg_place places[] = {DG_PLACE_START, DG_PLACE_ODD};
    const struct dg_run_kernel *p = run->kernel;
    dg_trial_at(run, "pack");
    if (p->layout_b != DG_RUN_PACKED) {
        dg_trial_skip(run, "B is not packed");
        return;
    }
    if (run->packed_size != p->packed_size) {
        dg_trial_bad(run, "packed_b_size() is %zu, the manifest says %llu", run->packed_size,
               (unsigned long long)p->packed_size);
        return;
    }
    unsigned char *before = malloc(run->packed_size + 1);
    dg_pattern_fill(run, DG_NORMAL);
    bool ok = before != NULL && dg_run_pack(run, DG_PLACE_END);
    if (ok)
        memcpy(before, run->packed, run->packed_size);
    for (size_t i = 0; i < sizeof places / sizeof *places && ok; i++)
        ok = dg_run_pack(run, places[i])
          && (memcmp(before, run->packed, run->packed_size) == 0
              || dg_trial_bad(run, "packing the same B again gives different bytes, or not all are "
                              "written"));
    if (ok)
        dg_trial_ok(run, "%zu bytes, nothing outside touched", run->packed_size);
    free(before);
}

/* With beta 0 the old C must not be read: the result is the same from NaN and from zeros. */
static void check_old_c(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    dg_trial_at(run, "old-c");
    if (p->beta != 0) {
        dg_trial_skip(run, "beta is 1: C is an input");
        return;
    }
    memset(run->c, 0, (size_t)(p->m * p->n) * p->dtype->c->bytes);
    struct dg_operands o = dg_run_place(run, DG_PLACE_END, run->c);
    struct dg_call_state ignored;
    uint64_t arguments[4] = {(uintptr_t)o.a, (uintptr_t)o.b, (uintptr_t)o.c};
    dg_run_call(run, (const void *)(uintptr_t)p->call, arguments, 0, &ignored);
    if (dg_run_collect(run) && dg_same_bits(run, run->first, "with zeros in C instead of NaN"))
        dg_trial_ok(run, "the same from NaN and from zeros in C");
}

static void check_place(struct dg_trial *run, const char *name, enum dg_place place,
                        const char *detail)
{
    dg_trial_at(run, name);
    if (dg_run_once(run, place) && dg_same_bits(run, run->first, detail))
        dg_trial_ok(run, "%s", detail);
}

/* The patterns end with the integers: the checks after them repeat those, bit for bit. */
void dg_check_numbers(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    check_packing(run);
    check_pattern(run, "random", DG_NORMAL, false, "every element within the derived bound");
    check_pattern(run, "nan-inf", DG_SPECIAL, false,
                  "NaN, infinities, -0 and denormals come out in kind and place");
    check_pattern(run, "boundary", DG_BOUNDARY, true, "one rounding at the limits of the format");
    check_pattern(run, "rounding", DG_ROUNDING, true, "a sum of two products, to the nearest");
    check_extremes(run);
    check_pattern(run, "integers", DG_WHOLE, true, "every element exact");
    memcpy(run->first, run->result, (size_t)(p->m * p->n) * p->dtype->c->bytes);
    check_place(run, "repeat", DG_PLACE_END, "a second run gives the same bits");
    check_place(run, "guard-before", DG_PLACE_START, "operands just behind an unmapped page");
    check_place(run, "guard-after", DG_PLACE_END, "operands just before an unmapped page");
    check_place(run, "alignment", DG_PLACE_ODD, "operands aligned to one element");
    check_old_c(run);
}
