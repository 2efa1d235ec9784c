/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_TESTS_SIM_INTERNAL_H
#define DG_TESTS_SIM_INTERNAL_H

#include "microbench/walk.h"
#include "tests/sim/sim.h"

struct sim {
    const struct sim_chip *chip;
    struct sim_trouble trouble;
    struct sim_memory memory;
    struct dg_bench_info info;
    uint64_t random;
    uint64_t sample;                     /* number of the next one, for clock steps */
    uint64_t requests;
    uint64_t window;                     /* that the last request streamed */
    bool outside;                        /* and sampled outside it */
    struct dg_walk walked;               /* of the last stream */
    bool walked_last;                    /* nothing else ran since */
    char cpu_list[16];
};

/* How one sample is timed: `units` of it in one stretch (0: as long as the engine likes, which is
 * 30 us, or 200 ticks), or `repeats` loads each alone. */
struct sim_timing { double units; unsigned repeats; };
void sim_fill(struct sim *sim, struct dg_samples *out, struct sim_cost cost,
              struct sim_timing how);
/* Samples that cost[i % costs] each. */
void sim_fill_each(struct sim *sim, struct dg_samples *out, const struct sim_cost *cost,
                   size_t costs, struct sim_timing how);
double sim_uniform(struct sim *sim);
/* Factor on the time of one sample; negative: the engine throws it away. */
double sim_disturb(struct sim *sim);
double sim_clock_now(const struct sim *sim);

/* Cycles of one turn of a mix, its accesses made; 0: it cannot be run (*e says why). */
double sim_turn_cycles(struct sim *sim, const struct dg_mix *mix, struct dg_error *e);
/* What the timed loads take in all. */
struct sim_cost sim_fetch_cost(struct sim *sim, const struct dg_fetch *fetch);
/* Of one round; 0: there are no such loads. */
double sim_pick_cycles(const struct sim_chip *chip, const struct dg_pick *pick);
/* Of one instruction. */
double sim_code_cycles(struct sim *sim, const struct dg_code *code);
void sim_pace(struct sim *sim, const struct dg_pace *pace, struct dg_samples *out);
/* Of one byte of a stream, for each sample. */
void sim_stream_cost(struct sim *sim, const struct dg_stream *stream, size_t samples,
                     struct sim_cost *cost);

#endif
