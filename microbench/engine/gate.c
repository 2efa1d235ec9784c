/* SPDX-License-Identifier: Apache-2.0
 * The state of the core. A tenant on the sibling thread halves multiply-add while a chain of
 * additions still reads the same, so beside every sample stand three more loops: wide integer
 * work, multiply-add at its peak rate, and multiply-add as a chain. */
#include "microbench/engine/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

enum { ROUNDS = 32, ENOUGH = 20, BATCHES = 40 };
static const double WIDE_LIMIT = 0.026, FLOAT_LIMIT = 0.01, CLOCK_LIMIT = 0.01;
static const double check_cycles[CHECKS] = {
    [CHECK_WIDE] = 5000, [CHECK_PEAK] = 10000, [CHECK_DELAY] = 5000,
};

/* Cycles a trip of a check loop, call and set-up included: its quiet value has them too. */
static double trip_cycles(const struct engine *e, const struct check *check, double ticks_per_cycle)
{
    return dg_run_ticks(e, check->loop, check->trips) / ticks_per_cycle / (double)check->trips;
}

struct checks dg_checks_now(const struct engine *e, double ticks_per_cycle)
{
    struct checks now = {.ticks_per_cycle = ticks_per_cycle};
    for (int i = CHECKS - 1; i >= 0; i--)
        now.trip[i] = trip_cycles(e, &e->check[i], ticks_per_cycle);
    now.at_ns = e->clock.host->monotonic_ns(e->clock.host);
    return now;
}

/* Rates of whole and half operations a cycle, latencies of whole cycles: where a reading is near
 * one, that is the quiet value, even when the chain beside it was slowed a little. The rest is
 * call and set-up. 0: near none. */
static double expected(const struct check *check, enum check_kind kind, double seen)
{
    const double near = 0.03, set_up = 1.002;
    double operations = check->loop->per_trip, exact = 0;
    if (kind == CHECK_PEAK && operations / seen >= 0.4)
        exact = operations / (round(2 * operations / seen) / 2);
    else if (kind == CHECK_DELAY && seen / operations >= 1.5)
        exact = operations * round(seen / operations);
    return exact > 0 && fabs(seen / exact - 1) <= near ? exact * set_up : 0;
}

static void believe(struct check *check, enum check_kind kind, double seen)
{
    double exact = expected(check, kind, seen);
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

static void publish(struct engine *e)
{
    e->state.quiet_wide = e->check[CHECK_WIDE].cycles_per_trip;
    e->state.quiet_peak = e->check[CHECK_PEAK].cycles_per_trip;
    e->state.quiet_delay = e->check[CHECK_DELAY].cycles_per_trip;
}

static double off_by(const struct engine *e, const struct checks *seen, enum check_kind kind)
{
    double ratio = seen->trip[kind] / e->check[kind].cycles_per_trip - 1;
    return kind == CHECK_WIDE ? ratio : fabs(ratio);     /* wide work may well go faster */
}

bool dg_chains_quiet(struct engine *e, const struct checks *before, double first, double second,
                     const struct checks *after)
{
    unsigned long *const rejected[CHECKS] = {
        [CHECK_WIDE] = &e->state.rejected_wide, [CHECK_PEAK] = &e->state.rejected_peak,
        [CHECK_DELAY] = &e->state.rejected_delay,
    };
    if (!(fabs(first - second) <= CLOCK_LIMIT * 0.5 * (first + second))) {
        e->state.rejected_clock++;
        return false;
    }
    for (int i = 0; i < CHECKS; i++)
        learn(&e->check[i], (enum check_kind)i, after->trip[i]);
    publish(e);
    for (int i = 0; i < CHECKS; i++) {
        double worst = fmax(off_by(e, before, (enum check_kind)i),
                            off_by(e, after, (enum check_kind)i));
        if (!(worst <= (i == CHECK_WIDE ? WIDE_LIMIT : FLOAT_LIMIT))) {
            ++*rejected[i];
            return false;
        }
    }
    return true;
}

/* --- the quiet values, when the engine opens --- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

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
    qsort(sorted, count, sizeof *sorted, ascending);
    return densest(sorted, count);
}

/* The least value that several readings share: a quiet core is the fastest one. 0: none. */
static double least_shared(const double *values, size_t count)
{
    const double alike = 1.006;
    double sorted[BATCHES * ROUNDS];
    size_t enough = 3 + count / 32;
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, ascending);
    for (size_t i = 0; i + enough <= count; i++)
        if (sorted[i + enough - 1] <= alike * sorted[i])
            return sorted[i + enough / 2];
    return 0;
}

struct readings { double value[CHECKS][BATCHES * ROUNDS]; size_t count; };

/* Rounds in which the clock stood still. */
static void read_batch(const struct engine *e, struct readings *all, size_t rounds)
{
    for (size_t i = 0; i < rounds; i++) {
        double before = dg_chain_now(e);
        struct checks seen = dg_checks_now(e, before);
        if (fabs(dg_chain_now(e) / before - 1) > CLOCK_LIMIT / 2)
            continue;
        for (int kind = 0; kind < CHECKS; kind++)
            all->value[kind][all->count] = seen.trip[kind];
        all->count++;
    }
}

/* A float loop's quiet value: the fastest exact one that several rounds show. */
static void judge_float(struct engine *e, const struct readings *all, enum check_kind kind)
{
    double exact[BATCHES * ROUNDS];
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (expected(&e->check[kind], kind, all->value[kind][i]) > 0)
            exact[count++] = all->value[kind][i];
    double least = least_shared(exact, count);
    believe(&e->check[kind], kind, least > 0 ? least : usual(all->value[kind], all->count));
}

/* The wide loop is judged by rounds in which the float loops were as they should be. Returns how
 * many those are. */
static size_t judge(struct engine *e, const struct readings *all)
{
    double wide[BATCHES * ROUNDS];
    size_t good = 0;
    judge_float(e, all, CHECK_PEAK);
    judge_float(e, all, CHECK_DELAY);
    for (size_t i = 0; i < all->count; i++) {
        struct checks seen = {.trip = {0, all->value[CHECK_PEAK][i], all->value[CHECK_DELAY][i]}};
        if (off_by(e, &seen, CHECK_PEAK) <= FLOAT_LIMIT &&
            off_by(e, &seen, CHECK_DELAY) <= FLOAT_LIMIT)
            wide[good++] = all->value[CHECK_WIDE][i];
    }
    double least = least_shared(wide, good);
    believe(&e->check[CHECK_WIDE], CHECK_WIDE, least > 0 ? least
                                   : usual(all->value[CHECK_WIDE], all->count));
    return least > 0 ? good : 0;
}

static bool settle(struct engine *e)
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
        read_batch(e, all, coarse ? 4 : ROUNDS);
        if ((all->count > 0 && judge(e, all) >= ENOUGH) || coarse || e->info.emulated)
            break;
    }
    if (all->count == 0) {
        struct checks now = dg_checks_now(e, dg_chain_now(e));
        for (int kind = 0; kind < CHECKS; kind++)
            believe(&e->check[kind], (enum check_kind)kind, fmax(now.trip[kind], 1e-3));
    }
    publish(e);
    free(all);
    return true;
}

/* The widest multiply-add (or else multiply) in its rate loop with the most chains. */
static const struct dg_loop_entry *peak_loop(const struct engine *e)
{
    static const char *const names[] = {"fma.f32.", "mul.f32."};
    const struct dg_loop_entry *best = NULL;
    unsigned best_bits = 0;
    for (size_t n = 0; n < 2 && best == NULL; n++)
        for (size_t i = 0; i < dg_loop_count; i++) {
            const struct dg_loop_entry *loop = &dg_loops[i];
            size_t length = strlen(names[n]);
            if (loop->kind != DG_LOOP_RATE || strncmp(loop->op, names[n], length) != 0 ||
                !dg_features_have(e->info.features, e->info.feature_count, loop->features))
                continue;
            unsigned bits = (unsigned)strtoul(loop->op + length, NULL, 10);
            if (best == NULL || bits > best_bits ||
                (bits == best_bits && loop->chains > best->chains)) {
                best = loop;
                best_bits = bits;
            }
        }
    return best;
}

bool dg_gate_open(struct engine *e, struct dg_error *error)
{
    struct dg_loop wide = {.kind = DG_LOOP_LATENCY, .op = DG_REF_WIDE}, delay = wide;
    const struct dg_loop_entry *peak = peak_loop(e);
    if (peak == NULL)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "loops", "a multiplication for this processor",
                       e->host.machine, "type the profile by hand");
    delay.op = peak->op;
    for (delay.operand = 0; delay.operand < 2; delay.operand++)
        if (dg_loop_find(&delay, e->info.features, e->info.feature_count) != NULL)
            break;
    e->check[CHECK_WIDE].loop = dg_loop_find(&wide, e->info.features, e->info.feature_count);
    e->check[CHECK_PEAK].loop = peak;
    e->check[CHECK_DELAY].loop = dg_loop_find(&delay, e->info.features, e->info.feature_count);
    e->state.peak_op = peak->op;
    for (int i = 0; i < CHECKS; i++) {
        if (e->check[i].loop == NULL)
            e->check[i].loop = peak;
        e->check[i].trips = dg_trips_for(e, e->check[i].loop, check_cycles[i], dg_chain_now(e));
    }
    return settle(e) || dg_fail(error, DG_EXIT_UNAVAILABLE, "memory", "room for check readings",
                                "none left", "free memory");
}
