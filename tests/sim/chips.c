/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/chips.h"

#define FEATURES(name, ...) static const char *const name[] = { __VA_ARGS__ };
FEATURES(avx2, "sse2", "avx", "fma", "avx2")
FEATURES(avx512, "sse2", "avx", "fma", "avx2", "avx512f", "avx512dq", "avx512bw", "avx512vl")
FEATURES(neon, "fp", "asimd")

/* With how code is fetched: instructions are kept decoded, or are decoded as fast as they run. */
#define X86 .architecture = "x86_64", .front = { { 32 << 10, 8, 64 }, 1536, 4, { 16, 10, 4, 2 } }
#define ARM .architecture = "aarch64", .front = { { 64 << 10, 4, 64 }, 0, 8, { 32, 10, 4, 2 } }

/* What a core computes with: units of `bits` (multiply, load, store), scalar units, issue slots. */
#define CORE(isa, list, registers, multiply, load, store, bits, scalar, slots, ghz) \
    isa, .features = list, .feature_count = sizeof list / sizeof *list, \
    .vector_registers = registers, .clock_hz = (ghz) * 1e9, \
    .unit = { [SIM_MULTIPLY] = { multiply, bits }, [SIM_LOAD] = { load, bits }, \
              [SIM_STORE] = { store, bits }, [SIM_INTEGER] = { scalar, 0 }, \
              [SIM_ISSUE] = { slots, 0 } }, \
    .walk = 30, .l3_gbps = 30, .dram_gbps = 12, .all_factor = 1.6, .cpus = 2
#define X86_128(ghz) CORE(X86, avx2, 16, 2, 2, 1, 128, 4, 5, ghz), .l2_bytes = 32, \
    .fma_latency = 5, .fma_acc_latency = 5, .add_latency = 3, .moves = { 1, 1 }, .dram_latency = 90
#define X86_256(ghz) CORE(X86, avx2, 16, 2, 2, 1, 256, 4, 5, ghz), .l2_bytes = 32, \
    .fma_latency = 4, .fma_acc_latency = 4, .add_latency = 3, .moves = { 4, 3 }, .dram_latency = 90
#define X86_512(ghz) CORE(X86, avx512, 32, 2, 2, 1, 512, 4, 6, ghz), .l2_bytes = 48, \
    .fma_latency = 4, .fma_acc_latency = 4, .add_latency = 3, .moves = { 4, 3 }, .dram_latency = 95
#define X86_512_HALF(ghz) CORE(X86, avx512, 32, 2, 2, 1, 256, 4, 6, ghz), .l2_bytes = 32, \
    .fma_latency = 4, .fma_acc_latency = 4, .add_latency = 3, .moves = { 4, 3 }, .dram_latency = 105
#define ARM_1(ghz) CORE(ARM, neon, 32, 1, 1, 1, 128, 2, 2, ghz), .l2_bytes = 16, \
    .fma_latency = 8, .fma_acc_latency = 4, .add_latency = 4, .moves = { 3, 2 }, .dram_latency = 150
#define ARM_2(ghz) CORE(ARM, neon, 32, 2, 2, 1, 128, 3, 4, ghz), .l2_bytes = 32, \
    .fma_latency = 4, .fma_acc_latency = 2, .add_latency = 2, .moves = { 3, 2 }, .dram_latency = 120
#define ARM_4(ghz) CORE(ARM, neon, 32, 4, 3, 2, 128, 6, 8, ghz), .l2_bytes = 32, \
    .fma_latency = 4, .fma_acc_latency = 2, .add_latency = 2, .moves = { 3, 2 }, .dram_latency = 110

#define LEVEL(kib, ways, line, policy, latency, keeps, hashed) \
    { (kib) << 10, ways, line, SIM_##policy, hashed, SIM_##keeps, latency }
#define CACHE(...) LEVEL(__VA_ARGS__, EITHER, false)
#define PLAIN(...) LEVEL(__VA_ARGS__, false)
#define HASHED(...) LEVEL(__VA_ARGS__, true)
#define TLBS(first, second, ways, cost) .tlb1 = { first, 0, 0 }, .tlb2 = { second, ways, cost }
#define SMALL_PAGES(kib) .page_bytes = (kib) << 10, .huge_pages = false
#define HUGE_PAGES(kib) .page_bytes = (kib) << 10, .huge_pages = true

static const struct { const char *title; struct sim_chip chip; } classes[] = {
#define CHIP(id, title, ...) [SIM_CLASS_##id] = { title, { .name = #id, __VA_ARGS__ } },
#include "tests/sim/classes.def"
#undef CHIP
};

static const struct { const char *title; struct sim_trouble trouble; } noises[] = {
#define NOISE(id, title, ...) [SIM_NOISE_##id] = { title, { __VA_ARGS__ } },
#include "tests/sim/noise.def"
#undef NOISE
};

struct sim_case sim_case_of(enum sim_class chip, enum sim_noise noise)
{
    struct sim_case c = { classes[chip].title, noises[noise].title, classes[chip].chip,
                          noises[noise].trouble };
    if (c.chip.memory == 0)
        c.chip.memory = 32 << 20;
    return c;
}

/* 1 - part to 1 + part */
static double about(uint64_t *random, double part)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 1 + part * ((double)(*random >> 11) * 0x1p-52 - 1);
}

struct sim_case sim_case_drawn(enum sim_class chip, enum sim_noise noise, uint64_t seed)
{
    struct sim_case c = sim_case_of(chip, noise);
    uint64_t random = seed * 0x9e3779b97f4a7c15u + (uint64_t)chip;
    about(&random, 0);
    c.chip.clock_hz *= about(&random, 0.15);
    c.chip.l3.latency *= about(&random, 0.15);
    c.chip.dram_latency *= about(&random, 0.15);
    c.chip.l3_gbps *= about(&random, 0.2);
    c.chip.dram_gbps *= about(&random, 0.2);
    return c;
}

unsigned sim_vector_bits(const struct sim_chip *chip)
{
    return chip->features == avx512 ? 512 : chip->features == avx2 ? 256 : 128;
}
