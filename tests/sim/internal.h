/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_TESTS_SIM_INTERNAL_H
#define DG_TESTS_SIM_INTERNAL_H

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
    char cpu_list[16];
};

/* Cycles of one turn of a mix, its accesses made; 0: it cannot be run (*e says why). */
double sim_turn_cycles(struct sim *sim, const struct dg_mix *mix, struct dg_error *e);
/* Cycles of one byte of a stream. */
double sim_stream_cycles(struct sim *sim, const struct dg_stream *stream);

#endif
