/* SPDX-License-Identifier: Apache-2.0
 *
 * Inference on tables with known answers: made by rules of caches and machines, and by noise. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "probes/infer/cache.h"
#include "probes/infer/groups.h"
#include "probes/infer/like.h"
#include "probes/infer/rate.h"
#include "probes/infer/stats.h"
#include "probes/infer/vote.h"

/* A repeatable uniform value in [0, 1). */
static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

Test(infer, statistics)
{
    double values[] = { 5, 1, 4, 2, 3 };
    struct dg_stat s = dg_stat_of(values, 5);
    cr_expect(s.median == 3 && s.low == 2 && s.high == 4 && s.min == 1 && s.max == 5);
    cr_expect(dg_stat_of(values, 0).count == 0);

    double states[] = { 1.22, 0.668, 0.666, 1.23, 0.667, 0.9, 1.21 };
    s = dg_stat_fastest(states, 7);
    cr_expect(s.median == 0.667 && s.max == 0.668 && s.count == 3);
    cr_expect(dg_stat_fastest(states, 0).count == 0);

    uint64_t state = 1;
    for (int round = 0; round < 200; round++) {
        double sequence[40], sum[2] = { 0 };
        size_t count = 1 + (size_t)(uniform(&state) * 39);
        for (size_t i = 0; i < count; i++)
            sum[0] += sequence[i] = (double)i / 10 + uniform(&state);
        dg_isotonic(sequence, count);
        for (size_t i = 0; i < count; i++) {
            sum[1] += sequence[i];
            cr_expect(i == 0 || sequence[i] >= sequence[i - 1] - 1e-12, "round %d at %zu", round,
                      i);
        }
        cr_expect(fabs(sum[0] - sum[1]) < 1e-9, "the mean stays");
    }
    double falling[] = { 3, 2, 1 };
    dg_isotonic(falling, 3);
    cr_expect(falling[0] == 2 && falling[2] == 2);
}

/* Latency of k lines a stride apart in a cache of `ways` and `set_stride`: a set that holds too
 * many lines misses always (LRU) or now and then. */
static double conflict(unsigned ways, uint32_t set_stride, uint32_t stride, unsigned k, double part)
{
    unsigned sets = stride < set_stride ? set_stride / stride : 1;
    unsigned crowded = (k + sets - 1) / sets;
    return crowded <= ways ? 4 : 4 + part * 9;
}

Test(infer, ways_and_set_stride)
{
    enum { MOST = 40, STRIDES = 10 };
    static const struct { unsigned ways; uint32_t set_stride; } caches[] = {
        { 8, 4096 },  { 12, 4096 }, { 4, 16384 }, { 8, 8192 },
        { 16, 2048 }, { 2, 32768 }, { 6, 4096 },
    };
    uint32_t stride[STRIDES];
    double latency[STRIDES * MOST];
    uint64_t state = 7;
    for (size_t c = 0; c < sizeof caches / sizeof *caches; c++)
        for (int noisy = 0; noisy < 2; noisy++) {
            for (size_t s = 0; s < STRIDES; s++)
                for (unsigned k = 1; k <= MOST; k++) {
                    stride[s] = 512u << s;
                    latency[s * MOST + k - 1] =
                        conflict(caches[c].ways, caches[c].set_stride, stride[s], k,
                                 noisy ? 0.4 + 0.6 * uniform(&state) : 1) *
                        (noisy ? 1 + 0.05 * uniform(&state) : 1);
                }
            struct dg_conflicts conflicts = { stride, STRIDES, MOST, latency };
            struct dg_ways got = dg_infer_ways(&conflicts);
            cr_expect(got.ways == caches[c].ways && got.set_stride == caches[c].set_stride,
                      "%u ways, %u: got %u, %u", caches[c].ways, caches[c].set_stride, got.ways,
                      got.set_stride);
        }
    /* a hashed tag conflicts early at some strides, as on a Zen 1 */
    static const unsigned fits[STRIDES] = { 40, 29, 13, 8, 8, 6, 8, 8, 5, 4 };
    for (size_t s = 0; s < STRIDES; s++)
        for (unsigned k = 1; k <= MOST; k++)
            latency[s * MOST + k - 1] = k <= fits[s] ? 4 : 12.9;
    struct dg_conflicts hashed = { stride, STRIDES, MOST, latency };
    struct dg_ways got = dg_infer_ways(&hashed);
    cr_expect(got.ways == 8 && got.set_stride == 4096 && got.confidence < 0.8);
    /* nothing ever misses: no answer */
    for (size_t i = 0; i < STRIDES * MOST; i++)
        latency[i] = 4;
    cr_expect(dg_infer_ways(&hashed).ways == 0);
}

Test(infer, line)
{
    static const uint32_t distance[] = { 8, 16, 32, 64, 128, 256, 512 };
    for (uint32_t line = 32; line <= 256; line *= 2) {
        double latency[7];
        for (size_t i = 0; i < 7; i++)
            latency[i] = (distance[i] < line ? 8 : 12.4) + (double)(i % 3) * 0.2;
        cr_expect_eq(dg_infer_line(distance, latency, 7), line);
    }
    static const double flat[7] = { 8, 8.1, 8, 8.2, 8, 8, 8.1 };
    cr_expect_eq(dg_infer_line(distance, flat, 7), 0);
}

/* Measured on guests: windows in KiB, lower quartiles in cycles. */
static const struct reading { unsigned kib; double cycles; } zen1[] = {
    { 64, 10.1 }, { 68, 10.2 }, { 76, 10.7 }, { 80, 10.6 }, { 88, 10.9 }, { 96, 11.2 },
    { 104, 11.2 }, { 116, 11.7 }, { 124, 11.6 }, { 136, 12.0 }, { 152, 11.7 }, { 164, 12.0 },
    { 180, 12.3 },
    { 196, 12.3 }, { 212, 12.5 }, { 232, 12.4 }, { 252, 12.6 }, { 276, 12.6 }, { 304, 13.8 },
    { 328, 14.0 }, { 360, 13.9 }, { 392, 14.2 }, { 428, 14.9 }, { 468, 16.2 }, { 508, 16.9 },
    { 556, 17.3 }, { 608, 18.9 }, { 660, 20.4 }, { 724, 21.9 }, { 788, 23.4 }, { 860, 24.1 },
    { 936, 25.6 }, { 1020, 26.5 }, { 1116, 27.7 }, { 1216, 28.6 }, { 1324, 29.1 }, { 1448, 29.8 },
    { 1576, 30.6 }, { 1720, 30.8 }, { 1876, 31.3 }, { 2044, 31.3 }, { 2232, 32.0 }, { 2432, 32.5 },
    { 2652, 32.8 }, { 2896, 33.3 }, { 3156, 33.5 }, { 3444, 33.7 }, { 3756, 34.1 }, { 4092, 34.9 },
    { 4464, 34.7 }, { 5308, 42.6 }, { 6316, 53.9 }, { 7512, 64.4 }, { 8932, 79.4 },
    { 10620, 128.3 }, { 12632, 152.0 }, { 15024, 182.7 }, { 17864, 222.5 }, { 21244, 230.7 },
    { 25264, 243.2 }, { 30048, 247.3 }, { 35732, 247.3 }, { 42492, 252.0 }, { 50532, 265.9 },
    { 60096, 271.5 },
};
/* Its last level keeps much of what is larger than itself. */
static const struct reading zen4[] = {
    { 64, 12.1 }, { 68, 12.4 }, { 76, 12.6 }, { 80, 12.9 }, { 88, 13.3 }, { 96, 13.5 },
    { 104, 13.7 }, { 116, 13.8 }, { 124, 13.8 }, { 136, 14.3 }, { 152, 14.2 }, { 164, 14.4 },
    { 180, 14.5 }, { 196, 14.6 }, { 212, 15.1 }, { 232, 15.0 }, { 252, 15.2 }, { 276, 15.6 },
    { 304, 15.7 }, { 328, 16.3 }, { 360, 15.9 }, { 392, 16.6 }, { 428, 16.3 }, { 468, 16.7 },
    { 508, 16.7 }, { 556, 16.9 }, { 608, 17.1 }, { 660, 17.6 }, { 724, 18.4 }, { 788, 19.0 },
    { 860, 19.2 }, { 936, 20.0 }, { 1020, 21.1 }, { 1116, 22.1 }, { 1216, 24.4 }, { 1324, 26.0 },
    { 1448, 27.6 }, { 1576, 28.5 }, { 1720, 30.2 }, { 1876, 32.7 }, { 2044, 34.1 }, { 2232, 35.7 },
    { 2432, 36.4 }, { 2652, 37.7 }, { 2896, 38.2 }, { 3156, 39.7 }, { 3444, 40.5 }, { 3756, 41.5 },
    { 4092, 42.0 }, { 4464, 43.0 }, { 5308, 44.5 }, { 6316, 45.4 }, { 7512, 45.7 }, { 8932, 46.6 },
    { 10620, 47.1 }, { 12632, 47.9 }, { 15024, 48.5 }, { 17864, 50.0 }, { 21244, 50.6 },
    { 25264, 53.9 }, { 30048, 54.8 }, { 35732, 93.4 }, { 42492, 147.8 }, { 50532, 121.7 },
    { 60096, 237.6 }, { 71464, 205.0 }, { 84988, 231.4 }, { 101068, 377.7 }, { 120192, 419.8 },
};

Test(infer, levels_of_measured_curves)
{
    static const struct {
        const struct reading *reading;
        size_t count;
        double memory, l2, l3;
    } rows[] = {
        { zen1, sizeof zen1 / sizeof *zen1, 272, 512 << 10, 8 << 20 },
        { zen4, sizeof zen4 / sizeof *zen4, 531, 1 << 20, 32 << 20 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        enum { MOST = 80 };
        uint64_t size[MOST];
        double cycles[MOST];
        struct dg_plateau p[8];
        struct dg_extent l2, l3;
        for (size_t i = 0; i < rows[r].count; i++) {
            size[i] = rows[r].reading[i].kib * UINT64_C(1024);
            cycles[i] = rows[r].reading[i].cycles;
        }
        struct dg_curve curve = { size, cycles, rows[r].count };
        cr_assert(dg_infer_plateaus(&curve, p, 8) >= 2, "row %zu", r);
        cr_assert(dg_infer_extent(&curve, p[0].level, p[1].level, &l2), "row %zu", r);
        cr_assert(dg_infer_extent(&curve, p[1].level, rows[r].memory, &l3), "row %zu", r);
        cr_expect_eq(l2.size, rows[r].l2, "row %zu: %g", r, l2.size);
        cr_expect_eq(l3.size, rows[r].l3, "row %zu: %g", r, l3.size);
        cr_expect(l2.kept <= l2.size && l3.kept <= l3.size && l3.kept > l3.size / 3, "row %zu", r);
        cr_expect(dg_infer_crossing(&curve, 1000, 1100, 0.5) == 0);
        cr_expect(!dg_infer_extent(&curve, 1000, 1100, &l3), "a step that is not there");
    }
}

Test(infer, roundest)
{
    static const struct { double low, high; uint64_t want; } rows[] = {
        { 900, 1100, 1024 },       { 480e3, 860e3, 524288 }, { 1.2e6, 1.4e6, 1310720 },
        { 600e3, 700e3, 655360 },  { 48000, 50000, 49152 },  { 33e6, 36e6, 33554432 },
        { 7, 7.5, 7 },             { 7.1, 7.5, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(dg_roundest(rows[i].low, rows[i].high), rows[i].want, "[%g, %g]: %llu",
                     rows[i].low, rows[i].high,
                     (unsigned long long)dg_roundest(rows[i].low, rows[i].high));
}

Test(infer, chain_sweep)
{
    static const unsigned chains[] = { 1, 2, 3, 4, 5, 6, 8, 10, 12 };
    double cycles[9];
    for (double latency = 3; latency <= 6; latency++)
        for (double rate = 0.5; rate <= 2; rate *= 2) {
            for (size_t i = 0; i < 9; i++)
                cycles[i] = fmax(latency / chains[i], 1 / rate);
            struct dg_sweep sweep = { chains, cycles, 9 };
            struct dg_rate got = dg_infer_rate(&sweep);
            unsigned want = 0;
            while (chains[want] < 0.97 * latency * rate)
                want++;
            cr_expect(got.per_cycle == rate, "%g", got.per_cycle);
            cr_expect(got.chains == chains[want], "latency %g rate %g: %u", latency, rate,
                      got.chains);
        }
    /* 8 chains reach 95 %: whether 8 or 10 are enough is not clear */
    static const double creeping[] = { 4, 2, 1.33, 1, 0.8, 0.67, 0.526, 0.5, 0.5 };
    struct dg_rate slow = dg_infer_rate(&(struct dg_sweep){ chains, creeping, 9 });
    cr_expect(slow.per_cycle == 2 && slow.chains == 0, "%u", slow.chains);
}

/* ---- resources: machines made of resources, times from them, the fit must give times back ---- */

struct machine {
    size_t ops, resources;
    double capacity[6], units[6][DG_FIT_OPS];
};

static double machine_cycles(const struct machine *m, const double *counts)
{
    double cycles = 0;
    for (size_t r = 0; r < m->resources; r++) {
        double units = 0;
        for (size_t i = 0; i < m->ops; i++)
            units += counts[i] * m->units[r][i];
        cycles = fmax(cycles, units / m->capacity[r]);
    }
    return cycles;
}

/* Each pair takes up to that part longer than the resources say. */
static double fit_slowed(const struct machine *m, double part, uint64_t *state, struct dg_fit *fit)
{
    static const unsigned groups[3][2] = { { 1, 1 }, { 2, 1 }, { 1, 2 } };
    struct dg_pair_time pair[DG_FIT_OPS * DG_FIT_OPS * 3];
    double alone[DG_FIT_OPS], counts[DG_FIT_OPS];
    struct dg_fit_input input = { m->ops, alone, pair, 0 };
    for (size_t i = 0; i < m->ops; i++) {
        memset(counts, 0, sizeof counts);
        counts[i] = 1;
        alone[i] = machine_cycles(m, counts);
        for (size_t j = 0; j < i; j++)
            for (size_t g = 0; g < 3; g++) {
                memset(counts, 0, sizeof counts);
                counts[j] = groups[g][0];
                counts[i] = groups[g][1];
                pair[input.pairs++] = (struct dg_pair_time){
                    (unsigned)j, (unsigned)i, groups[g][0], groups[g][1],
                    machine_cycles(m, counts) * (1 + part * uniform(state)) };
            }
    }
    dg_infer_resources(&input, fit);
    return fit->worst;
}

static double fit_machine(const struct machine *m, struct dg_fit *fit)
{
    uint64_t state = 1;
    return fit_slowed(m, 0, &state, fit);
}

Test(infer, resources)
{
    /* fma, mul | add | load, broadcast | store | scalar add; memory operations share two address
     * units, everything shares six slots, wide ones take two */
    static const struct machine chip = {
        .ops = 7, .resources = 6,
        .capacity = { 2, 2, 2, 1, 4, 6 },
        .units = { { 2, 2, 0, 0, 0, 0, 0 }, { 0, 0, 2, 0, 0, 0, 0 }, { 0, 0, 0, 2, 2, 2, 0 },
                   { 0, 0, 0, 0, 0, 2, 0 }, { 0, 0, 0, 0, 0, 0, 1 }, { 2, 2, 2, 2, 2, 2, 1 } },
    };
    struct dg_fit fit;
    cr_expect(fit_machine(&chip, &fit) < 0.04, "worst %g", fit.worst);
    /* groups of three that were never fitted: fma, load, broadcast as in a tile step */
    static const double step[DG_FIT_OPS] = { 12, 0, 0, 2, 6, 0, 0 };
    double want = machine_cycles(&chip, step), got = dg_fit_cycles(&fit, 7, step);
    cr_expect(fabs(got / want - 1) < 0.05, "%g, %g", got, want);

    uint64_t state = 3;
    for (int round = 0; round < 60; round++) {
        struct machine m = { .ops = 4 + (size_t)(uniform(&state) * 4), .resources = 4 };
        for (size_t r = 0; r < 4; r++) {
            m.capacity[r] = r == 3 ? 4 + floor(uniform(&state) * 5)
                                   : 1 + floor(uniform(&state) * 2);
            for (size_t i = 0; i < m.ops; i++)
                m.units[r][i] = r == 3 ? 1 : i % 3 == r ? 1 : 0;
        }
        cr_expect(fit_machine(&m, &fit) < 0.1, "round %d: worst %g", round, fit.worst);
    }
}

/* Loops that lose a few per cent by how they fall on a scheduler are no resource; what a broadcast
 * shares with two multiplies is one resource, and another what it shares with loads. */
Test(infer, shared_resources)
{
    enum { FMA, MUL, ADD, LOAD, BROADCAST, STORE, SCALAR, OPS };
    static const struct machine chip = {
        .ops = OPS, .resources = 6,
        .capacity = { 1, 1, 1.5, 2, 4, 0.5 },
        .units = { { 1, 1, 0, 0, 0, 0, 0 }, { 0, 0, 1, 0, 0, 0, 0 }, { 1, 1, 0, 0, 1, 0, 0 },
                   { 0, 0, 0, 2, 1.2, 1, 0 }, { 0, 0, 0, 0, 0, 0, 1 }, { 0, 0, 0, 0, 0, 1, 0 } },
    };
    struct dg_fit fit;
    cr_expect(fit_machine(&chip, &fit) < 0.1, "worst %g", fit.worst);
    uint64_t state = 11;
    for (int round = 0; round < 50; round++) {
        unsigned shared = 0;
        fit_slowed(&chip, round == 0 ? 0 : 0.07, &state, &fit);
        for (size_t r = 0; r < fit.count; r++) {
            const struct dg_resource *x = &fit.resource[r];
            shared += x->kind == DG_FIT_SHARED;
            cr_expect(x->kind != DG_FIT_SHARED || (x->units[BROADCAST] > 0 || x->units[LOAD] > 0),
                      "round %d: a resource of its own without reason", round);
            cr_expect(x->kind != DG_FIT_SHARED || (x->units[ADD] == 0 && x->units[SCALAR] == 0),
                      "round %d", round);
        }
        cr_expect(shared >= 2 && shared <= 3, "round %d: %u shared", round, shared);
    }
}

Test(infer, latencies)
{
    static const struct { double cycles; enum dg_latency want; } rows[] = {
        { 0.17, DG_LATENCY_NONE }, { 0.33, DG_LATENCY_NONE }, { 0.998, DG_LATENCY_WHOLE },
        { 1.004, DG_LATENCY_WHOLE }, { 1.14, DG_LATENCY_BROKEN }, { 4.42, DG_LATENCY_BROKEN },
        { 5.95, DG_LATENCY_WHOLE }, { 0.5, DG_LATENCY_BROKEN }, { 12.2, DG_LATENCY_BROKEN },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(dg_infer_latency(rows[i].cycles), rows[i].want, "%g", rows[i].cycles);
}

/* ---- votes ---- */

static struct dg_answer number(double value)
{
    return (struct dg_answer){ .key = "x", .unit = "bytes",
                               .low = value - 0.01, .high = value + 0.01,
                               .value = { .kind = DG_VALUE_NUMBER, .number = value },
                               .confidence = 1, .samples = 5 };
}

Test(infer, votes)
{
    struct dg_vote_rule exact = { .discrete = true, .needed = 3 };
    struct dg_vote_rule near = { .tolerance = 0.02, .needed = 3 };
    struct dg_vote_rule most = { .largest = true, .tolerance = 0.25, .needed = 3 };
    struct dg_answer out, sizes[] = { number(8), number(12), number(8), number(8), number(4) };
    cr_expect(!dg_infer_vote(&exact, sizes, 3, &out) && out.status == DG_UNRELIABLE &&
              out.reason != NULL && out.help != NULL && out.value.kind == DG_VALUE_NULL);
    cr_expect(dg_infer_vote(&exact, sizes, 4, &out) && out.value.number == 8 &&
              out.confidence == 0.75 && out.samples == 15);
    struct dg_answer times[] = { number(4.02), number(7), number(4), number(4.01) };
    cr_expect(dg_infer_vote(&near, times, 4, &out) && out.value.number == 4.01 &&
              out.low == 4 && out.high == 4.02);
    cr_expect(!dg_infer_vote(&near, times, 2, &out) && strstr(out.reason, "few") != NULL);
    /* the largest that is not alone */
    struct dg_answer kept[] = { number(8), number(10), number(12), number(20) };
    cr_expect(dg_infer_vote(&most, sizes, 3, &out) && out.value.number == 8);
    cr_expect(dg_infer_vote(&most, kept, 4, &out) && out.value.number == 12);
    struct dg_vote_rule strict = { .largest = true, .tolerance = 0.03, .needed = 3 };
    struct dg_answer modes[] = { number(2.71), number(3), number(2.7), number(2.98) };
    cr_expect(dg_infer_vote(&strict, modes, 3, &out) && out.value.number == 2.71);
    cr_expect(dg_infer_vote(&strict, modes, 4, &out) && out.value.number == 3);
    cr_expect(!dg_infer_vote(&strict, kept, 4, &out), "each alone");
    /* of two groups that agree the faster one, even where the slower one is larger */
    struct dg_vote_rule fast = { .fastest = true, .tolerance = 0.015, .needed = 3 };
    struct dg_answer rates[] = { number(57), number(57.5), number(64), number(57.2), number(63.8),
                                 number(57.1), number(63.9), number(70) };
    cr_expect(dg_infer_vote(&fast, rates, 4, &out) && out.value.number == 57.2);
    cr_expect(dg_infer_vote(&fast, rates, 8, &out) && out.value.number == 63.9 &&
              out.confidence == 3 / 8.);
    cr_expect(!dg_infer_vote(&fast, rates + 2, 3, &out), "three of three, none in between");
    struct dg_vote_rule counts = { .whole = true, .tolerance = 0.2, .needed = 3 };
    struct dg_answer chains[] = { number(8), number(9), number(9), number(8) };
    cr_expect(dg_infer_vote(&counts, chains, 4, &out) && out.value.number == 9);
    /* never measured: its own reason stands, and asking again is no use */
    struct dg_answer none[3] = { { .key = "x", .status = DG_UNAVAILABLE, .reason = "why" },
                                 { .key = "x", .status = DG_UNAVAILABLE, .reason = "why" },
                                 { .key = "x", .status = DG_UNAVAILABLE, .reason = "why" } };
    cr_expect(dg_infer_vote(&exact, none, 3, &out) && strcmp(out.reason, "why") == 0 &&
              out.status == DG_UNAVAILABLE);
}

/* Distances by a rule: within p within q, across q. */
static void blocks(double *distance, size_t n, size_t small, size_t large, const double d[3])
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            distance[i * n + j] = i == j ? 0 : i / small == j / small ? d[0] :
                                  i / large == j / large ? d[1] : d[2];
}

Test(infer, groups_and_their_certificate)
{
    static const double three[] = { 12, 40, 130 }, two[] = { 40, 40, 130 }, one[] = { 40, 41, 42 };
    double distance[64];
    unsigned group[8];
    struct dg_grouping level[DG_GROUP_LEVELS];
    blocks(distance, 8, 2, 4, three);
    cr_assert_eq(dg_infer_levels(distance, 8, 1.35, level), 2u);
    cr_expect(level[0].groups == 4 && level[1].groups == 2 && level[1].group[3] == 0 &&
              level[1].group[4] == 1);
    cr_expect(level[0].near == 12 && level[0].far == 40);
    blocks(distance, 8, 2, 4, two);
    cr_assert_eq(dg_infer_levels(distance, 8, 1.35, level), 1u);
    cr_expect_eq(level[0].groups, 2u);
    blocks(distance, 8, 2, 4, one);
    cr_expect_eq(dg_infer_levels(distance, 8, 1.35, level), 0u, "no gap");
    /* one pair that contradicts the rest: no grouping */
    blocks(distance, 8, 2, 4, two);
    distance[0 * 8 + 5] = distance[5 * 8 + 0] = 40;
    cr_expect_eq(dg_infer_levels(distance, 8, 1.35, level), 0u);
    /* between near and far: neither alike nor different */
    blocks(distance, 8, 4, 8, (const double[]){ 0.01, 0.4, 0 });
    cr_expect_eq(dg_infer_groups(distance, 8, 0.05, 0.15, group), 2u);
    blocks(distance, 8, 4, 8, (const double[]){ 0.01, 0.1, 0 });
    cr_expect_eq(dg_infer_groups(distance, 8, 0.05, 0.15, group), 0u);
    cr_expect_eq(dg_infer_groups(distance, 1, 0.05, 0.15, group), 1u);
    cr_expect_eq(dg_infer_levels(distance, 1, 1.35, level), 0u);
}

/* A body is like another when nothing but noise is between their cells. */
Test(infer, bodies_that_are_like_another)
{
    static const struct { const char *what; double by[8]; size_t count; bool like; } rows[] = {
        { "noise", { 1, 0.998, 1.001, 1.002, 1, 0.9995, 1, 1.003 }, 8, true },
        { "one stray", { 1, 1, 1.001, 1.2, 1, 1, 1, 1 }, 8, true },
        { "two strays", { 1, 1, 1.001, 1.2, 1, 1, 0.9, 1 }, 8, false },
        { "a little dearer in all", { 1.004, 1.003, 1.005, 1.004, 1.003, 1.004, 1.004, 1.003 }, 8,
          false },
        { "a little cheaper in all", { 0.996, 0.997, 0.995, 0.996, 0.997, 0.996, 0.996, 1 }, 8,
          false },
        { "without values", { 1, 1, 0, 0, 1, 1, 0, 0 }, 8, true },
        { "too few", { 1, 1, 0, 0, 1, 0, 0, 0 }, 8, false },
        { "none", { 0 }, 0, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double cycles[8], other[8];
        for (size_t j = 0; j < 8; j++) {
            other[j] = 100.0 * (double)(j + 1);
            cycles[j] = other[j] * rows[i].by[j];
        }
        cr_expect_eq(dg_infer_like(cycles, other, rows[i].count), rows[i].like, "%s",
                     rows[i].what);
    }
}
