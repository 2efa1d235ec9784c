/* SPDX-License-Identifier: Apache-2.0
 * Vector widths. Wide units sleep while nothing wide runs: their first instructions after that
 * come at a fraction of the rate for some tens of microseconds, and the clock may go down until
 * they have slept again (Intel's licence levels). A chain of additions would read the clock of
 * scalar code, so wide work has chains of wide multiply-adds beside it, whose latency was found to
 * be a whole number of cycles of the scalar chain. */
#include "microbench/engine/internal.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "isa/isa.h"

double dg_wake(struct engine *e, const struct width *width)
{
    enum { MOST_RUNS = 1000 };           /* a clock may stand still */
    const uint64_t most_ns = 1000000;    /* a busy sibling keeps it slow; none took so long */
    const double nearly = 1.2;           /* no less than this of the rate of units asleep */
    const struct check *peak = &width->check[CHECK_PEAK];
    double quiet = nearly * peak->cycles_per_trip * (double)peak->trips;
    if (width == &e->width[0])
        return dg_chain_of(e, width);
    uint64_t from = e->host.monotonic_ns(&e->host);
    for (int i = 0;; i++) {
        double ticks = dg_run_ticks(e, peak->loop, peak->trips), now = dg_chain_of(e, width);
        if (ticks <= quiet * now || i == MOST_RUNS ||
            e->host.monotonic_ns(&e->host) - from >= most_ns)
            return now;
    }
}

struct width *dg_width_for(struct engine *e, unsigned bits)
{
    struct width *best = &e->width[0];
    for (size_t i = 1; i < e->widths && e->width[i].bits <= bits; i++)
        best = &e->width[i];
    return best;
}

struct width *dg_width_in_turn(struct engine *e, unsigned bits, unsigned clock_moves)
{
    return dg_width_for(e, clock_moves / DG_CLOCK_MOVES % 2 == 0 ? bits : 0);
}

/* --- which there are --- */

static bool usable(const struct engine *e, const struct dg_loop_entry *loop)
{
    return dg_features_have(e->info.features, e->info.feature_count, loop->features);
}

/* The rate loop with the most chains of the narrowest multiply-add (or else multiply) that is
 * wider than `above` bits. */
static const struct dg_loop_entry *peak_loop(const struct engine *e, unsigned above)
{
    static const char *const names[] = {"fma.f32.", "mul.f32."};
    const struct dg_loop_entry *best = NULL;
    for (size_t n = 0; n < 2 && best == NULL; n++)
        for (size_t i = 0; i < dg_loop_count; i++) {
            const struct dg_loop_entry *loop = &dg_loops[i];
            unsigned bits = dg_op_bits(loop->op);
            if (loop->kind != DG_LOOP_RATE || bits <= above || !usable(e, loop) ||
                strncmp(loop->op, names[n], strlen(names[n])) != 0)
                continue;
            unsigned least = best != NULL ? dg_op_bits(best->op) : bits;
            if (best == NULL || bits < least || (bits == least && loop->chains > best->chains))
                best = loop;
        }
    return best;
}

static const struct dg_loop_entry *latency_loop(const struct engine *e, const char *op)
{
    struct dg_loop want = {.kind = DG_LOOP_LATENCY, .op = op};
    const struct dg_loop_entry *found = NULL;
    for (; found == NULL && want.operand < 2; want.operand++)
        found = dg_loop_find(&want, e->info.features, e->info.feature_count);
    return found;
}

static struct width with_loops(const struct engine *e, const struct dg_loop_entry *peak)
{
    struct dg_loop wide = {.kind = DG_LOOP_LATENCY, .op = DG_REF_WIDE};
    const struct dg_loop_entry *delay = latency_loop(e, peak->op);
    struct width width = {.bits = dg_op_bits(peak->op), .chain = {.loop = delay}};
    width.check[CHECK_PEAK].loop = peak;
    width.check[CHECK_DELAY].loop = delay != NULL ? delay : peak;
    width.check[CHECK_WIDE].loop = dg_loop_find(&wide, e->info.features, e->info.feature_count);
    return width;
}

/* --- the chain of a wide one --- */

/* Cycles of one operation of the chain, told by a short scalar chain right behind it, before the
 * clock goes up again. 0: not a whole number. */
static double operation_cycles(const struct engine *e, const struct width *w, uint64_t trips)
{
    enum { ROUNDS = 31 };
    const double near = 0.03;
    const struct check *scalar = &e->width[0].chain, *peak = &w->check[CHECK_PEAK];
    double cycles[ROUNDS], operations = (double)trips * w->chain.loop->per_trip;
    uint64_t few = scalar->trips / 8 + 1;
    for (int i = 0; i < ROUNDS; i++) {
        peak->loop->run(peak->trips, e->block);
        double wide = dg_run_ticks(e, w->chain.loop, trips);
        double tick = dg_run_ticks(e, scalar->loop, few) / ((double)few * scalar->cycles_per_trip);
        cycles[i] = wide / tick / operations;
    }
    dg_sort_doubles(cycles, ROUNDS);
    double whole = round(cycles[ROUNDS / 2]);
    return whole >= 1 && fabs(cycles[ROUNDS / 2] / whole - 1) <= near ? whole : 0;
}

/* Whatever the units do when they wake, they have done it by then. Least cycles of a trip. */
static double run_awake(struct engine *e, const struct width *w)
{
    enum { MOST_RUNS = 1000 };
    const uint64_t most_ns = 2000000;
    const struct check *peak = &w->check[CHECK_PEAK];
    double least = INFINITY;
    uint64_t from = e->host.monotonic_ns(&e->host);
    for (int i = 0; i < MOST_RUNS && e->host.monotonic_ns(&e->host) - from < most_ns; i++) {
        double ticks = dg_run_ticks(e, peak->loop, peak->trips);
        least = fmin(least, ticks / dg_chain_of(e, w) / (double)peak->trips);
    }
    return isfinite(least) ? least : 0;
}

/* False: no chain of whole cycles; work of this width is judged by a narrower one. */
static bool open_wide(struct engine *e, struct width *w)
{
    enum { TRIES = 8, FIRST_TRIPS = 64, PEAK_CYCLES = 10000 };
    double tick = dg_chain_now(e), each = 0;
    w->chain.trips = w->check[CHECK_PEAK].trips = FIRST_TRIPS;
    w->chain.cycles_per_trip = w->chain.loop->per_trip;
    run_awake(e, w);
    w->check[CHECK_PEAK].trips = dg_trips_for(e, w->check[CHECK_PEAK].loop, PEAK_CYCLES, tick);
    uint64_t trips = dg_trips_for(e, w->chain.loop, DG_CHAIN_CYCLES / 2.0, tick);
    for (int i = 0; i < TRIES && each == 0; i++) {
        run_awake(e, w);
        each = operation_cycles(e, w, trips);
    }
    w->chain.cycles_per_trip = each * w->chain.loop->per_trip;
    w->chain.trips = dg_trips_for(e, w->chain.loop, DG_CHAIN_CYCLES, tick);
    if (each > 0)
        w->check[CHECK_PEAK].cycles_per_trip = run_awake(e, w);
    return each > 0;
}

bool dg_widths_open(struct engine *e, struct dg_error *error)
{
    const struct dg_loop_entry *peak = peak_loop(e, 0);
    if (peak == NULL)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "loops", "a multiplication for this processor",
                       e->host.machine, "type the profile by hand");
    struct check chain = e->width[0].chain;
    e->width[0] = with_loops(e, peak);
    e->width[0].chain = chain;
    e->widths = 1;
    if (!dg_gate_open(e, &e->width[0], error))
        return false;
    while (e->agree && e->widths < WIDTHS_MOST &&
           (peak = peak_loop(e, dg_op_bits(peak->op))) != NULL) {
        struct width *w = &e->width[e->widths];
        *w = with_loops(e, peak);
        if (w->chain.loop == NULL || !open_wide(e, w))
            continue;
        if (!dg_gate_open(e, w, error))
            return false;
        e->widths++;
    }
    return true;
}
