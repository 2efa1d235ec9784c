/* SPDX-License-Identifier: Apache-2.0
 * Core cycles without counters, and the state of the core. Three chains of known length give the
 * cycle; a multiply-add loop and a wide integer loop beside them show a tenant on the sibling
 * thread, which a chain cannot see. */
#include "microbench/engine/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

enum { ROUNDS = 31, TRIES = 20, CHAIN_CYCLES = 16000, PEAK_CYCLES = 10000, WIDE_CYCLES = 5000 };

static double run_ticks(const struct engine *e, const struct dg_loop_entry *loop, uint64_t trips)
{
    loop->run(1, e->block);              /* its code is near again */
    uint64_t from = dg_clock_now(&e->clock);
    loop->run(trips, e->block);
    uint64_t to = dg_clock_now(&e->clock);
    return dg_clock_elapsed(&e->clock, from, to);
}

double dg_check_ticks(const struct engine *e, const struct check *check)
{
    return run_ticks(e, check->loop, check->trips);
}

double dg_chain_now(const struct engine *e)
{
    double cycles = (double)e->chain.trips * e->chain.cycles_per_trip + e->chain.entry_cycles;
    return dg_check_ticks(e, &e->chain) / cycles;
}

/* Cycles a trip of a check loop, given the chain beside it. */
static double trip_cycles(const struct engine *e, const struct check *check, double ticks_per_cycle)
{
    double cycles = dg_check_ticks(e, check) / ticks_per_cycle - check->entry_cycles;
    return cycles / (double)check->trips;
}

struct checks dg_checks_now(const struct engine *e, double ticks_per_cycle)
{
    struct checks now = {.ticks_per_cycle = ticks_per_cycle};
    now.peak = trip_cycles(e, &e->peak, ticks_per_cycle);
    now.wide = trip_cycles(e, &e->wide, ticks_per_cycle);
    now.at_ns = e->clock.host->monotonic_ns(e->clock.host);
    return now;
}

/* --- the state gate --- */

static const double WIDE_LIMIT = 1.026, PEAK_LIMIT = 0.01, CLOCK_LIMIT = 0.01;

/* A check that reads alike many times in a row, but not the quiet value: that was not quiet. A
 * better value is believed soon; a worse one only after long, since a busy sibling is never that
 * even. */
static void learn(struct check *check, double seen)
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
    if (check->alike >= (mean < check->cycles_per_trip ? BETTER_IN_A_ROW : WORSE_IN_A_ROW)) {
        check->cycles_per_trip = check->alike_sum / check->alike;
        check->alike = 0;
        check->alike_sum = 0;
    }
}

bool dg_chains_quiet(struct engine *e, const struct checks *before, double first, double second,
                  const struct checks *after)
{
    if (!(fabs(first - second) <= CLOCK_LIMIT * 0.5 * (first + second))) {
        e->state.rejected_clock++;
        return false;
    }
    learn(&e->wide, after->wide);
    if (after->wide <= WIDE_LIMIT * e->wide.cycles_per_trip)
        learn(&e->peak, after->peak);
    double wide = fmax(before->wide, after->wide) / e->wide.cycles_per_trip;
    double peak = fmax(fabs(before->peak / e->peak.cycles_per_trip - 1),
                       fabs(after->peak / e->peak.cycles_per_trip - 1));
    e->state.quiet_wide = e->wide.cycles_per_trip;
    e->state.quiet_peak = e->peak.cycles_per_trip;
    if (!(wide <= WIDE_LIMIT)) {
        e->state.rejected_wide++;
        return false;
    }
    if (!(peak <= PEAK_LIMIT)) {
        e->state.rejected_peak++;
        return false;
    }
    return true;
}

/* --- finding the cycle --- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

static const struct dg_loop_entry *reference(const struct engine *e, const char *name)
{
    struct dg_loop want = {.kind = DG_LOOP_LATENCY, .op = name};
    return dg_loop_find(&want, e->info.features, e->info.feature_count);
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

/* Trips of a loop that last `cycles`, and enough clock steps to tell them apart as far as that
 * stays short. Doubles until the clock shows something: a coarse one shows nothing for long. */
static uint64_t trips_for(const struct engine *e, const struct dg_loop_entry *loop, double cycles,
                          double ticks_per_cycle)
{
    enum { FIRST = 16, STEPS = 500, FEW_STEPS = 4 };
    const double most_ns = 2e6, most_trips = 1e9;
    double steps = fmin(STEPS * e->clock.step_ticks,
                        fmax(most_ns / e->clock.ns_per_tick, FEW_STEPS * e->clock.step_ticks));
    double wanted = fmax(cycles * ticks_per_cycle, steps), trips = FIRST, ticks = 0;
    for (; trips < most_trips; trips *= 2) {
        ticks = run_ticks(e, loop, (uint64_t)trips);
        if (ticks >= wanted / 8 && (ticks = run_ticks(e, loop, (uint64_t)trips)) >= wanted / 8)
            break;
    }
    return (uint64_t)fmin(fmax(trips * wanted / fmax(ticks, 1), FEW_STEPS), most_trips);
}

/* Ticks an operation of the three chains, side by side; call and set-up taken out by n and 2n. */
struct chain_ticks { double add, pair, multiply; };

static double per_op(const struct engine *e, const struct dg_loop_entry *loop, uint64_t trips)
{
    double once = run_ticks(e, loop, trips), twice = run_ticks(e, loop, 2 * trips);
    return (twice - once) / ((double)trips * loop->per_trip);
}

/* With a coarse clock every reading is long: fewer of them. */
static size_t rounds_of(const struct engine *e)
{
    const double coarse_ns = 1000;
    return e->clock.step_ticks * e->clock.ns_per_tick > coarse_ns ? 5 : ROUNDS;
}

static struct chain_ticks measure_chains(const struct engine *e,
                                         const struct dg_loop_entry *const *loops,
                                         const uint64_t *trips)
{
    double add[ROUNDS], pair[ROUNDS], multiply[ROUNDS];
    struct chain_ticks found;
    size_t rounds = rounds_of(e);
    for (size_t i = 0; i < rounds; i++) {
        double base = per_op(e, loops[0], trips[0]);
        add[i] = base;
        pair[i] = per_op(e, loops[1], trips[1]) / base;
        multiply[i] = per_op(e, loops[2], trips[2]) / base;
    }
    found.add = median(add, rounds);
    found.pair = median(pair, rounds);
    found.multiply = median(multiply, rounds);
    return found;
}

static bool whole(double value, double least, double most)
{
    double nearest = round(value);
    return nearest >= least && nearest <= most && fabs(value / nearest - 1) <= 0.015;
}

/* Cycles of one addition: 1; 2 where a dependent addition takes two; 0.5 where it is folded at
 * rename. 0: no integers fit, the chains do not agree. */
static double addition_cycles(const struct chain_ticks *t)
{
    static const double candidates[] = {1, 2, 0.5};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        double add = candidates[i];
        bool usual = add < 1 ? whole(t->pair * add, 2, 2) : whole(t->pair * add, 2 * add, 2 * add);
        if (usual && whole(t->multiply * add, 2, 9))
            return add;
    }
    return 0;
}

static void set_chain(struct engine *e, const struct dg_loop_entry *loop, double cycles_per_op,
                      double ticks_per_cycle)
{
    double entry[ROUNDS];
    size_t rounds = rounds_of(e);
    e->chain.loop = loop;
    e->chain.cycles_per_trip = loop->per_trip * cycles_per_op;
    e->chain.trips = trips_for(e, loop, CHAIN_CYCLES, ticks_per_cycle);
    for (size_t i = 0; i < rounds; i++) {
        double once = run_ticks(e, loop, e->chain.trips);
        double twice = run_ticks(e, loop, 2 * e->chain.trips);
        entry[i] = (2 * once - twice) / ticks_per_cycle;
    }
    e->chain.entry_cycles = fmin(fmax(median(entry, rounds), 0), 200);
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

/* Quiet value of a check loop, from rounds in which the clock stood still. */
static void set_check(struct engine *e, struct check *check, const struct dg_loop_entry *loop,
                      double cycles)
{
    double seen[ROUNDS], entry[ROUNDS], before = dg_chain_now(e);
    size_t rounds = rounds_of(e);
    check->loop = loop;
    check->trips = trips_for(e, loop, cycles, before);
    check->entry_cycles = 0;
    for (size_t i = 0, tries = 0; i < rounds; tries++) {
        before = dg_chain_now(e);
        double once = dg_check_ticks(e, check);
        double twice = run_ticks(e, loop, 2 * check->trips);
        double after = dg_chain_now(e);
        if (fabs(after / before - 1) > CLOCK_LIMIT / 2 && tries < 8 * rounds)
            continue;
        entry[i] = (2 * once - twice) / before;
        seen[i++] = once / before;
    }
    check->entry_cycles = fmin(fmax(median(entry, rounds), 0), 200);
    qsort(seen, rounds, sizeof *seen, ascending);
    check->cycles_per_trip = (densest(seen, rounds) - check->entry_cycles) / (double)check->trips;
}

/* Until windows of 10 ms agree: clocks of idle cores rise for a while. Bounded. */
static void warm_up(const struct engine *e, const struct dg_loop_entry *loop)
{
    const double window_ns = 1e7, most_ns = 4e8;
    double before = 0, spent = 0;
    while (spent < most_ns) {
        uint64_t from = dg_clock_now(&e->clock), trips = 0;
        double ns = 0;
        for (int i = 0; i < 100000 && ns < window_ns; i++, trips += 64) {
            loop->run(64, e->block);
            ns = dg_clock_elapsed(&e->clock, from, dg_clock_now(&e->clock)) * e->clock.ns_per_tick;
        }
        double rate = ns > 0 ? (double)trips / ns : 0;
        spent += fmax(ns, 1e5);
        if (before > 0 && fabs(rate / before - 1) < 0.005)
            return;
        before = rate;
    }
}

static void describe(struct engine *e, const struct chain_ticks *t, double add)
{
    if (e->info.emulated)
        snprintf(e->chains_text, sizeof e->chains_text, "emulated: times mean nothing");
    else if (add > 0)
        snprintf(e->chains_text, sizeof e->chains_text,
                 "add %.3g, xor-rotate %.4g, multiply %.4g cycles: they agree", add,
                 t->pair * add, t->multiply * add);
    else
        snprintf(e->chains_text, sizeof e->chains_text,
                 "add : xor-rotate : multiply = 1 : %.3f : %.3f: they do not agree", t->pair,
                 t->multiply);
    e->info.chains = e->chains_text;
}

bool dg_chains_open(struct engine *e, struct dg_error *error)
{
    const struct dg_loop_entry *loops[] = {
        reference(e, DG_REF_ADD), reference(e, DG_REF_XOR_ROTATE), reference(e, DG_REF_MULTIPLY),
    };
    const struct dg_loop_entry *wide = reference(e, DG_REF_WIDE), *peak = peak_loop(e);
    struct chain_ticks ticks = {0};
    uint64_t trips[3];
    const uint64_t longest_ns = 3000000000;
    double add = 0;
    if (!loops[0] || !loops[1] || !loops[2] || !wide || !peak)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "loops", "reference chains for this processor",
                       e->host.machine, "type the profile by hand");
    warm_up(e, loops[0]);
    for (int i = 0; i < TRIES && add <= 0; i++) {
        if (i > 0 && e->host.monotonic_ns(&e->host) - e->opened_ns > longest_ns)
            break;
        if (i > 0)
            e->host.pause(&e->host, 10000000);
        for (int n = 0; n < 3; n++)
            trips[n] = trips_for(e, loops[n], CHAIN_CYCLES / 2.0, 1);
        ticks = measure_chains(e, loops, trips);
        add = addition_cycles(&ticks);
        if (e->info.emulated)
            break;
    }
    describe(e, &ticks, add);
    /* Ratios under an emulator may look right by accident; its times mean nothing. */
    e->agree = add > 0 && !e->info.emulated;
    e->state.agree = e->agree;
    /* A folded addition is no chain: the xor-rotate pair is. */
    bool folded = add > 0 && add < 1;
    double per_cycle = add > 0 ? ticks.add / add : fmax(ticks.add, 1e-3);
    set_chain(e, folded ? loops[1] : loops[0], folded ? 2 : add > 0 ? add : 1, per_cycle);
    set_check(e, &e->wide, wide, WIDE_CYCLES);
    set_check(e, &e->peak, peak, PEAK_CYCLES);
    e->state.peak_op = peak->op;
    e->state.quiet_wide = e->wide.cycles_per_trip;
    e->state.quiet_peak = e->peak.cycles_per_trip;
    e->info.clock_hz = 1e9 / (dg_chain_now(e) * e->clock.ns_per_tick);
    e->info.clock_low_hz = e->info.clock_high_hz = e->info.clock_hz;
    return true;
}
