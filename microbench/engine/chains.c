/* SPDX-License-Identifier: Apache-2.0
 * Core cycles without counters: three chains of known length give the cycle. Readings of one
 * burst are minima, because whatever disturbs makes them longer. */
#include "microbench/engine/internal.h"

#include <math.h>
#include <stdio.h>

enum { ROUNDS = 31, TRIES = 20 };

double dg_run_ticks(const struct engine *e, const struct dg_loop_entry *loop, uint64_t trips)
{
    loop->run(1, e->block);              /* its code is near again */
    uint64_t from = dg_clock_now(&e->clock);
    loop->run(trips, e->block);
    uint64_t to = dg_clock_now(&e->clock);
    return dg_clock_elapsed(&e->clock, from, to);
}

double dg_chain_of(const struct engine *e, const struct width *width)
{
    double cycles = (double)width->chain.trips * width->chain.cycles_per_trip;
    return dg_run_ticks(e, width->chain.loop, width->chain.trips) / cycles;
}

double dg_chain_now(const struct engine *e)
{
    return dg_chain_of(e, &e->width[0]);
}

static const struct dg_loop_entry *reference(const struct engine *e, const char *name)
{
    struct dg_loop want = {.kind = DG_LOOP_LATENCY, .op = name};
    return dg_loop_find(&want, e->info.features, e->info.feature_count);
}

/* Trips of a loop that last `cycles`, and enough clock steps to tell them apart as far as that
 * stays short. Doubles until the clock shows something: a coarse one shows nothing for long. */
uint64_t dg_trips_for(const struct engine *e, const struct dg_loop_entry *loop, double cycles,
                      double ticks_per_cycle)
{
    enum { FIRST = 16, STEPS = 500, FEW_STEPS = 4 };
    const double most_ns = 2e6, most_trips = 1e9;
    double steps = fmin(STEPS * e->clock.step_ticks,
                        fmax(most_ns / e->clock.ns_per_tick, FEW_STEPS * e->clock.step_ticks));
    double wanted = fmax(cycles * ticks_per_cycle, steps), trips = FIRST, ticks = 0;
    for (; trips < most_trips; trips *= 2) {
        ticks = dg_run_ticks(e, loop, (uint64_t)trips);
        if (ticks >= wanted / 8 && (ticks = dg_run_ticks(e, loop, (uint64_t)trips)) >= wanted / 8)
            break;
    }
    return (uint64_t)fmin(fmax(trips * wanted / fmax(ticks, 1), FEW_STEPS), most_trips);
}

/* Ticks an operation of the three chains; call and set-up taken out by n and 2n. */
struct chain_ticks { double add, pair, multiply; };
struct spans { double once, twice; };

/* With a coarse clock every reading is long: fewer of them. */
static size_t rounds_of(const struct engine *e)
{
    const double coarse_ns = 400;
    return e->clock.step_ticks * e->clock.ns_per_tick > coarse_ns ? 5 : ROUNDS;
}

static void note(const struct engine *e, const struct dg_loop_entry *loop, uint64_t trips,
                 struct spans *least)
{
    least->once = fmin(least->once, dg_run_ticks(e, loop, trips));
    least->twice = fmin(least->twice, dg_run_ticks(e, loop, 2 * trips));
}

static struct chain_ticks measure_chains(const struct engine *e,
                                         const struct dg_loop_entry *const *loops,
                                         const uint64_t *trips)
{
    struct spans least[3] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}, {INFINITY, INFINITY}};
    double per_op[3];
    for (size_t i = 0; i < rounds_of(e); i++)
        for (int n = 0; n < 3; n++)
            note(e, loops[n], trips[n], &least[n]);
    for (int n = 0; n < 3; n++)
        per_op[n] = (least[n].twice - least[n].once) / ((double)trips[n] * loops[n]->per_trip);
    return (struct chain_ticks){per_op[0], per_op[1] / per_op[0], per_op[2] / per_op[0]};
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

/* Call and set-up of the chain are hidden behind its first trip: nothing is taken off. */
static void set_chain(struct engine *e, const struct dg_loop_entry *loop, double cycles_per_op,
                      double ticks_per_cycle)
{
    e->width[0].chain = (struct check){
        .loop = loop, .cycles_per_trip = loop->per_trip * cycles_per_op,
        .trips = dg_trips_for(e, loop, DG_CHAIN_CYCLES, ticks_per_cycle) };
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
    struct chain_ticks ticks = {0};
    uint64_t trips[3];
    const uint64_t longest_ns = 3000000000;
    double add = 0;
    if (!loops[0] || !loops[1] || !loops[2])
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "loops", "reference chains for this processor",
                       e->host.machine, "type the profile by hand");
    warm_up(e, loops[0]);
    for (int i = 0; i < TRIES && add <= 0; i++) {
        if (i > 0 && e->host.monotonic_ns(&e->host) - e->opened_ns > longest_ns)
            break;
        if (i > 0)
            e->host.pause(&e->host, 10000000);
        for (int n = 0; n < 3; n++)
            trips[n] = dg_trips_for(e, loops[n], DG_CHAIN_CYCLES / 2.0, 1);
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
    e->info.clock_hz = 1e9 / (dg_chain_now(e) * e->clock.ns_per_tick);
    e->info.clock_low_hz = e->info.clock_high_hz = e->info.clock_hz;
    return dg_widths_open(e, error);
}
