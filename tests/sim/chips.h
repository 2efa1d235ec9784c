/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated chips: every class of classes.def with every row of noise.def. */
#ifndef DG_TESTS_SIM_CHIPS_H
#define DG_TESTS_SIM_CHIPS_H

#include "tests/sim/sim.h"

enum sim_class {
#define CHIP(id, ...) SIM_CLASS_##id,
#include "tests/sim/classes.def"
#undef CHIP
    SIM_CLASSES
};
enum sim_noise {
#define NOISE(id, ...) SIM_NOISE_##id,
#include "tests/sim/noise.def"
#undef NOISE
    SIM_NOISES
};

struct sim_case {
    const char *title, *noise;
    struct sim_chip chip;
    struct sim_trouble trouble;
    bool whole;                          /* run all, not only what --quick does */
};
struct sim_case sim_case_of(enum sim_class chip, enum sim_noise noise);
/* The same with what no class fixes drawn by a seed: clock, latencies beyond the core. */
struct sim_case sim_case_drawn(enum sim_class chip, enum sim_noise noise, uint64_t seed);
/* Bits of the widest vector. */
unsigned sim_vector_bits(const struct sim_chip *chip);

#endif
