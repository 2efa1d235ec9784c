/* SPDX-License-Identifier: Apache-2.0
 * The time source: the processor's counter when it runs evenly against the monotonic clock, else
 * that clock. Every loop here is bounded by a count, because a coarse clock may stand still. */
#include "microbench/engine/internal.h"

#include <math.h>

enum { WINDOWS = 4, WINDOW_NS = 5000000, READS_MOST = 2000000, STEPS_WANTED = 64 };

uint64_t dg_clock_now(const struct clock *clock)
{
    return clock->counter ? clock->host->ticks(clock->host)
                          : clock->host->monotonic_ns(clock->host);
}

double dg_clock_elapsed(const struct clock *clock, uint64_t from, uint64_t to)
{
    double ticks = (double)(int64_t)(to - from) - clock->overhead_ticks;
    return ticks > 0 ? ticks : 0;
}

/* A pair of simultaneous readings: of several tries the one read in the shortest time. */
struct pair { uint64_t ticks, ns; };

static struct pair read_pair(struct dg_host *host)
{
    struct pair best = {0, 0};
    uint64_t best_span = UINT64_MAX;
    for (int i = 0; i < 16; i++) {
        uint64_t before = host->ticks(host);
        uint64_t ns = host->monotonic_ns(host);
        uint64_t after = host->ticks(host);
        if (after - before < best_span) {
            best_span = after - before;
            best = (struct pair){before + (after - before) / 2, ns};
        }
    }
    return best;
}

static struct pair wait_pair(struct dg_host *host, uint64_t from_ns)
{
    for (int i = 0; i < READS_MOST; i++)
        if (host->monotonic_ns(host) - from_ns >= WINDOW_NS)
            break;
    return read_pair(host);
}

/* Even: several windows give the same rate. The rate is that of all of them together. */
static bool calibrate(struct clock *clock)
{
    enum { TOLERANCE_PER_MILLE = 2 };
    struct pair at[WINDOWS + 1];
    at[0] = read_pair(clock->host);
    for (int i = 1; i <= WINDOWS; i++)
        at[i] = wait_pair(clock->host, at[i - 1].ns);
    double ticks = (double)(int64_t)(at[WINDOWS].ticks - at[0].ticks);
    double ns = (double)(int64_t)(at[WINDOWS].ns - at[0].ns);
    if (ticks <= 0 || ns <= 0)
        return false;
    for (int i = 1; i <= WINDOWS; i++) {
        double part_ticks = (double)(int64_t)(at[i].ticks - at[i - 1].ticks);
        double part_ns = (double)(int64_t)(at[i].ns - at[i - 1].ns);
        if (part_ticks <= 0 || part_ns <= 0 ||
            fabs(part_ticks * ns / (part_ns * ticks) - 1) * 1000 > TOLERANCE_PER_MILLE)
            return false;
    }
    clock->ns_per_tick = ns / ticks;
    return true;
}

/* The mean of an empty pair: single ones come in whole steps. Interrupted ones do not count. */
static double pair_cost(const struct clock *clock, double least)
{
    enum { PAIRS = 4096 };
    double sum = 0, most = 2 * least + 2 * clock->step_ticks;
    unsigned count = 0;
    for (int i = 0; i < PAIRS; i++) {
        uint64_t from = dg_clock_now(clock);
        double ticks = (double)(dg_clock_now(clock) - from);
        if (ticks <= most) {
            sum += ticks;
            count++;
        }
    }
    return count > 0 ? sum / count : least;
}

/* The smallest step and the cost of an empty pair; false when the clock runs backwards. */
static bool granularity(struct clock *clock)
{
    double step = INFINITY, pair = INFINITY;
    unsigned steps = 0;
    uint64_t last = dg_clock_now(clock);
    for (int i = 0; i < READS_MOST && steps < STEPS_WANTED * 16; i++) {
        uint64_t now = dg_clock_now(clock);
        if ((int64_t)(now - last) < 0)
            return false;
        double delta = (double)(now - last);
        pair = fmin(pair, delta);
        if (delta > 0) {
            step = fmin(step, delta);
            steps++;
        }
        last = now;
    }
    if (steps == 0)
        return false;
    clock->step_ticks = pair > 0 ? fmin(step, pair) : step;
    clock->overhead_ticks = pair_cost(clock, pair);
    return true;
}

/* The steps of a counter that moves by more than one: the greatest common divisor of deltas. */
static double divisor(const struct clock *clock)
{
    uint64_t common = 0, last = dg_clock_now(clock);
    for (int i = 0; i < 256; i++) {
        uint64_t now = dg_clock_now(clock), a = now - last, b = common;
        while (a != 0) {
            uint64_t rest = b % a;
            b = a;
            a = rest;
        }
        common = b;
        last = now;
    }
    return (double)common;
}

bool dg_clock_open(struct clock *clock, struct dg_host *host, struct dg_error *e)
{
    *clock = (struct clock){.host = host, .ns_per_tick = 1, .name = "clock_monotonic_raw"};
    if (host->ticks != NULL) {
        clock->counter = true;
        if (calibrate(clock) && granularity(clock)) {
            clock->name = host->machine[0] == 'x' ? "tsc" : "cntvct";
            double common = divisor(clock);
            if (common > 0 && common < clock->step_ticks)
                clock->step_ticks = common;
            return true;
        }
        *clock = (struct clock){.host = host, .ns_per_tick = 1, .name = "clock_monotonic_raw"};
    }
    if (!granularity(clock))
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "clock", "a clock that moves forward",
                       clock->name, "measure on the machine itself, not under an emulator");
    return true;
}
