/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples and their noise. */
#include <math.h>

#include "tests/sim/internal.h"

double sim_uniform(struct sim *sim)
{
    sim->random ^= sim->random << 13;
    sim->random ^= sim->random >> 7;
    sim->random ^= sim->random << 17;
    return (double)(sim->random >> 11) * 0x1p-53;
}

/* Sum of uniforms: near enough to normal, mean 0, deviation 1. */
static double normal(struct sim *sim)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += sim_uniform(sim);
    return sum;
}

/* Factor on the time of one sample; negative: the engine throws it away. */
double sim_disturb(struct sim *sim)
{
    const struct sim_trouble *t = &sim->trouble;
    double factor = 1 + t->jitter * normal(sim);
    if (sim_uniform(sim) < t->steal)
        return -1;
    if (sim_uniform(sim) < t->outliers)
        factor *= 1 + sim_uniform(sim);
    if (sim_uniform(sim) < t->sibling) {
        if (sim_uniform(sim) >= t->leak)
            return -1;
        factor *= 1.5 + 0.5 * sim_uniform(sim);
    }
    return factor;
}

/* What a time source of `tick` makes of `ns`: the clock is read at any moment between two ticks. */
static double quantised(struct sim *sim, double ns)
{
    double tick = sim->trouble.tick_ns;
    return tick > 0 ? floor(ns / tick + sim_uniform(sim)) * tick : ns;
}

/* As the engine does: many timings of one load, the mean of the middle half. */
static double timed_alone(struct sim *sim, double ns, unsigned repeats)
{
    enum { MOST = 256 };
    double values[MOST], sum = 0;
    unsigned count = repeats < 4 ? 4 : repeats > MOST ? MOST : repeats;
    if (sim->trouble.tick_ns <= 0)
        return ns;
    for (unsigned i = 0; i < count; i++) {
        double value = quantised(sim, ns);
        unsigned at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
    for (unsigned i = count / 4; i < count - count / 4; i++)
        sum += values[i];
    return sum / (count - count / 4 - count / 4);
}

double sim_clock_now(const struct sim *sim)
{
    bool low = sim->trouble.clock_step > 0 && sim->sample / 40 % 3 == 1;
    return sim->chip->clock_hz * (low ? sim->trouble.clock_step : 1);
}

/* What lies beyond the core keeps its own time, so a step of the core clock changes its cycles. */
void sim_fill_each(struct sim *sim, struct dg_samples *out, const struct sim_cost *cost,
                   size_t costs, struct sim_timing how)
{
    out->count = out->rejected = 0;
    for (size_t tries = 0; out->count < out->capacity && tries < 20 * out->capacity; tries++) {
        double factor = sim_disturb(sim), hz = sim_clock_now(sim);
        sim->sample++;
        if (factor < 0) {
            out->rejected++;
            continue;
        }
        const struct sim_cost *each = &cost[out->count % costs];
        double ns = (each->cycles * 1e9 / hz + each->ns) * factor;
        double units = how.units > 0 ? how.units : fmax(30000, 200 * sim->trouble.tick_ns) / ns;
        ns = how.repeats > 0 ? timed_alone(sim, ns, how.repeats) :
             quantised(sim, ns * units) / units;
        out->sample[out->count].cycles = ns * hz / 1e9;
        out->sample[out->count++].ns = ns;
    }
    dg_samples_summary(out);
}

void sim_fill(struct sim *sim, struct dg_samples *out, struct sim_cost cost,
              struct sim_timing how)
{
    sim_fill_each(sim, out, &cost, 1, how);
}
