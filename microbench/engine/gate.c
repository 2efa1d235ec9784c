/* SPDX-License-Identifier: Apache-2.0
 * The state of the core. A tenant on the sibling thread halves multiply-add while a chain of
 * additions still reads the same, so beside every sample stand three more loops: wide integer
 * work, multiply-add at its peak rate, and multiply-add as a chain. */
#include "microbench/engine/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

enum { ROUNDS = 32, ENOUGH = 20, BATCHES = 40 };
static const double WIDE_LIMIT = 0.026, FLOAT_LIMIT = 0.01, CLOCK_LIMIT = 0.01;
static const double LONG_CLOCK_LIMIT = 0.03;
static const double check_cycles[CHECKS] = {
    [CHECK_WIDE] = 5000, [CHECK_PEAK] = 10000, [CHECK_DELAY] = 5000,
};

/* Cycles a trip of a check loop, call and set-up included: its quiet value has them too. */
static double trip_cycles(const struct engine *e, const struct check *check, double ticks_per_cycle)
{
    return dg_run_ticks(e, check->loop, check->trips) / ticks_per_cycle / (double)check->trips;
}

struct checks dg_checks_now(const struct engine *e, const struct width *width,
                            double ticks_per_cycle)
{
    struct checks now = {.ticks_per_cycle = ticks_per_cycle};
    for (int i = CHECKS - 1; i >= 0; i--)
        now.trip[i] = trip_cycles(e, &width->check[i], ticks_per_cycle);
    now.at_ns = e->clock.host->monotonic_ns(e->clock.host);
    return now;
}

/* Rates of whole and half operations a cycle, latencies of whole cycles, with call and set-up: the
 * one that a reading is near to. 0: near none. */
static double expected(const struct check *check, enum check_kind kind, double seen, double near)
{
    const double set_up = 1.002;
    double operations = check->loop->per_trip, exact = 0;
    if (kind == CHECK_PEAK && operations / seen >= 0.4)
        exact = operations / (round(2 * operations / seen) / 2);
    else if (kind == CHECK_DELAY && seen / operations >= 1.5)
        exact = operations * round(seen / operations);
    return exact > 0 && fabs(seen / exact - 1) <= near ? exact * set_up : 0;
}

/* Very near to a whole rate that is the quiet value, even when the chain beside it was slowed a
 * little; not further off, where the loop's own branch takes slots of its multiply-adds. */
static void believe(struct check *check, enum check_kind kind, double seen)
{
    const double very_near = 0.008;
    double exact = expected(check, kind, seen, very_near);
    check->cycles_per_trip = exact > 0 ? exact : seen;
    check->alike = 0;
    check->alike_sum = 0;
}

/* A check that reads alike many times in a row, but not the quiet value: that was not quiet. A
 * better value is believed soon; a worse one only after long, since a busy sibling is never that
 * even. */
static void learn(struct check *check, enum check_kind kind, double seen)
{
    enum { BETTER_IN_A_ROW = 8, WORSE_IN_A_ROW = 64 };
    const double alike = 0.004, off = 0.01;
    double mean = check->alike > 0 ? check->alike_sum / check->alike : seen;
    if (!(fabs(seen / check->cycles_per_trip - 1) > off) || !(fabs(seen / mean - 1) <= alike)) {
        check->alike = 0;
        check->alike_sum = 0;
        return;
    }
    check->alike++;
    check->alike_sum += seen;
    if (check->alike >= (mean < check->cycles_per_trip ? BETTER_IN_A_ROW : WORSE_IN_A_ROW))
        believe(check, kind, check->alike_sum / check->alike);
}

static double off_by(const struct width *w, const struct checks *seen, enum check_kind kind)
{
    double ratio = seen->trip[kind] / w->check[kind].cycles_per_trip - 1;
    return kind == CHECK_WIDE ? ratio : fabs(ratio);     /* wide work may well go faster */
}

bool dg_chains_quiet(struct engine *e, struct width *width, const struct checks *before,
                     double first, double second, const struct checks *after)
{
    unsigned long *const rejected[CHECKS] = {
        [CHECK_WIDE] = &e->state.rejected_wide, [CHECK_PEAK] = &e->state.rejected_peak,
        [CHECK_DELAY] = &e->state.rejected_delay,
    };
    double limit = e->long_work ? LONG_CLOCK_LIMIT : CLOCK_LIMIT;
    if (!(fabs(first - second) <= limit * 0.5 * (first + second))) {
        e->state.rejected_clock++;
        e->clock_moves++;
        return false;
    }
    for (int i = 0; i < CHECKS; i++)
        learn(&width->check[i], (enum check_kind)i, after->trip[i]);
    for (int i = 0; i < CHECKS; i++) {
        double worst = fmax(off_by(width, before, (enum check_kind)i),
                            off_by(width, after, (enum check_kind)i));
        if (!(worst <= (i == CHECK_WIDE ? WIDE_LIMIT : FLOAT_LIMIT))) {
            ++*rejected[i];
            return false;
        }
    }
    return true;
}

/* --- the quiet values, when the engine opens --- */

/* The middle of the densest half: what most of the sorted values say, whatever the others are. */
static double densest(const double *sorted, size_t count)
{
    size_t half = count / 2 + 1, best = 0;
    for (size_t i = 0; i + half <= count; i++)
        if (sorted[i + half - 1] - sorted[i] < sorted[best + half - 1] - sorted[best])
            best = i;
    return sorted[best + half / 2];
}

/* The middle of the densest half of unsorted values. */
static double usual(const double *values, size_t count)
{
    double sorted[BATCHES * ROUNDS];
    memcpy(sorted, values, count * sizeof *values);
    dg_sort_doubles(sorted, count);
    return densest(sorted, count);
}

/* The least value that several readings share: a quiet core is the fastest one. 0: none. */
static double least_shared(const double *values, size_t count)
{
    const double alike = 1.006;
    double sorted[BATCHES * ROUNDS];
    size_t enough = 3 + count / 32;
    memcpy(sorted, values, count * sizeof *values);
    dg_sort_doubles(sorted, count);
    for (size_t i = 0; i + enough <= count; i++)
        if (sorted[i + enough - 1] <= alike * sorted[i])
            return sorted[i + enough / 2];
    return 0;
}

struct readings { double value[CHECKS][BATCHES * ROUNDS]; size_t count; };

/* Rounds in which the clock stood still. */
static void read_batch(struct engine *e, const struct width *w, struct readings *all,
                       size_t rounds)
{
    for (size_t i = 0; i < rounds; i++) {
        double before = dg_wake(e, w);
        struct checks seen = dg_checks_now(e, w, before);
        if (fabs(dg_wake(e, w) / before - 1) > CLOCK_LIMIT / 2)
            continue;
        for (int kind = 0; kind < CHECKS; kind++)
            all->value[kind][all->count] = seen.trip[kind];
        all->count++;
    }
}

/* A float loop's quiet value: the fastest near a whole one that several rounds show. */
static void judge_float(struct width *w, const struct readings *all, enum check_kind kind)
{
    const double near = 0.03;
    double exact[BATCHES * ROUNDS];
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (expected(&w->check[kind], kind, all->value[kind][i], near) > 0)
            exact[count++] = all->value[kind][i];
    double least = least_shared(exact, count);
    believe(&w->check[kind], kind, least > 0 ? least : usual(all->value[kind], all->count));
}

/* The wide loop is judged by rounds in which the float loops were as they should be. Returns how
 * many those are. */
static size_t judge(struct width *w, const struct readings *all)
{
    double wide[BATCHES * ROUNDS];
    size_t good = 0;
    judge_float(w, all, CHECK_PEAK);
    judge_float(w, all, CHECK_DELAY);
    for (size_t i = 0; i < all->count; i++) {
        struct checks seen = {.trip = {0, all->value[CHECK_PEAK][i], all->value[CHECK_DELAY][i]}};
        if (off_by(w, &seen, CHECK_PEAK) <= FLOAT_LIMIT &&
            off_by(w, &seen, CHECK_DELAY) <= FLOAT_LIMIT)
            wide[good++] = all->value[CHECK_WIDE][i];
    }
    double least = least_shared(wide, good);
    believe(&w->check[CHECK_WIDE], CHECK_WIDE, least > 0 ? least
                                   : usual(all->value[CHECK_WIDE], all->count));
    return least > 0 ? good : 0;
}

static bool settle(struct engine *e, struct width *w)
{
    const uint64_t pause_ns = 20000000;
    const double coarse_ns = 400;
    bool coarse = e->clock.step_ticks * e->clock.ns_per_tick > coarse_ns;
    struct readings *all = calloc(1, sizeof *all);
    if (all == NULL)
        return false;
    for (int batch = 0; batch < BATCHES; batch++) {
        if (batch > 0)
            e->host.pause(&e->host, pause_ns);
        read_batch(e, w, all, coarse ? 4 : ROUNDS);
        if ((all->count > 0 && judge(w, all) >= ENOUGH) || coarse || e->info.emulated)
            break;
    }
    if (all->count == 0) {
        struct checks now = dg_checks_now(e, w, dg_wake(e, w));
        for (int kind = 0; kind < CHECKS; kind++)
            believe(&w->check[kind], (enum check_kind)kind, fmax(now.trip[kind], 1e-3));
    }
    free(all);
    return true;
}

bool dg_gate_open(struct engine *e, struct width *width, struct dg_error *error)
{
    double ticks_per_cycle = dg_chain_of(e, width);
    for (int i = 0; i < CHECKS; i++) {
        struct check *check = &width->check[i];
        check->trips = dg_trips_for(e, check->loop, check_cycles[i], ticks_per_cycle);
    }
    return settle(e, width) ||
           dg_fail(error, DG_EXIT_UNAVAILABLE, "memory", "room for check readings", "none left",
                   "free memory");
}
