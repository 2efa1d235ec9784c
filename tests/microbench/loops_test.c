/* SPDX-License-Identifier: Apache-2.0
 * The loop tables: every row of isa/ is measured or says why not; the loops compute and move what
 * they say. Loops of features that are not usable here are never called. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "microbench/bodies.h"
#include "microbench/host/host.h"
#include "microbench/loops/portable.h"

static const char *features[DG_FEATURES_MAX];
static size_t feature_count;
static struct dg_host host;
static unsigned char *memory;

enum { MEMORY = 4 << 20 };

static void start(void)
{
    struct dg_feature_words words;
    dg_host_system(&host, NULL);
    dg_features_read(&host, &words);
    feature_count = dg_features_decode(host.machine, &words, features);
    memory = aligned_alloc(4096, MEMORY);
}

static void stop(void)
{
    free(memory);
}

/* What memory is filled with, what a step of a mix then adds to each sum, and what sums are. */
static const struct known_body {
    const char *name;
    uint32_t fill;
    double product;
    enum { SUM_F32, SUM_F64, SUM_S32 } sum;
} known_bodies[] = {
    {"f32", 0x3f800000, 1, SUM_F32},
    {"f64", 0x3ff00000, 0x1.000003ff00000p0 * 0x1.000003ff00000p0, SUM_F64},
    {"bf16", 0x3f803f80, 2, SUM_F32},               /* two products of 1 */
    {"f16", 0x3c003c00, 1, SUM_F32},
    {"u8s8", 0x01010101, 4, SUM_S32},
    {"s8s8", 0x01010101, 4, SUM_S32},
    {"s16", 0x01010101, 2 * 257 * 257, SUM_S32},
};

static const struct known_body *known_body(const char *name)
{
    for (size_t i = 0; i < sizeof known_bodies / sizeof *known_bodies; i++)
        if (strcmp(known_bodies[i].name, name) == 0)
            return &known_bodies[i];
    return NULL;
}

static void fill(uint32_t word)
{
    memcpy(memory, &word, sizeof word);
    for (size_t filled = sizeof word; filled < MEMORY; filled *= 2)
        memcpy(memory + filled, memory, filled);
}

static bool usable(const char *needed)
{
    return dg_features_have(features, feature_count, needed);
}

static unsigned loops_of(const char *key, enum dg_loop_kind kind)
{
    unsigned count = 0;
    for (size_t i = 0; i < dg_loop_count; i++)
        count += dg_loops[i].kind == kind && strcmp(dg_loops[i].op, key) == 0;
    return count;
}

static const char *reason_of(const char *key)
{
    for (size_t i = 0; i < dg_loops_absent_count; i++)
        if (strcmp(dg_loops_absent[i].op, key) == 0)
            return dg_loops_absent[i].reason;
    return NULL;
}

Test(loops, every_row_is_measured_or_says_why_not, .init = start, .fini = stop)
{
    for (size_t n = 0; dg_isas[n] != NULL; n++) {
        const struct dg_isa *isa = dg_isas[n];
        if (strcmp(isa->architecture, host.machine) != 0)
            continue;
        for (size_t i = 0; i < isa->op_count; i++) {
            const struct dg_op *op = &isa->ops[i];
            char key[64];
            snprintf(key, sizeof key, "%s.%s.%u", op->name, op->dtype, op->bits);
            const char *reason = reason_of(key);
            cr_expect(loops_of(key, DG_LOOP_LATENCY) > 0 || reason != NULL, "%s: latency", key);
            bool never = strchr(op->operands, 'l') != NULL || op->part != 0;
            cr_expect(loops_of(key, DG_LOOP_RATE) > 0 || never, "%s: rate (%s)", key,
                      reason != NULL ? reason : "no reason");
            cr_expect(reason == NULL || strstr(reason, "not understood") == NULL, "%s", key);
        }
    }
}

Test(loops, entries_are_whole, .init = start, .fini = stop)
{
    for (size_t i = 0; i < dg_loop_count; i++) {
        const struct dg_loop_entry *l = &dg_loops[i];
        cr_expect(l->per_trip > 0 && l->run != NULL && l->op != NULL && l->features != NULL);
        cr_expect((l->kind == DG_LOOP_PAIR) == (l->other != NULL), "%s", l->op);
        cr_expect(l->kind != DG_LOOP_RATE || l->per_trip % l->chains == 0, "%s", l->op);
    }
    /* Operations of the pair 2:1 are found from either side. */
    struct dg_loop want = {.kind = DG_LOOP_PAIR, .op = "load.f32.256", .other = "add.f32.256",
                           .count_a = 1, .count_b = 2};
    if (strcmp(host.machine, "x86_64") == 0 && usable("avx2,fma"))
        cr_expect_not_null(dg_loop_find(&want, features, feature_count));
    want.other = "nothing.f32.256";
    cr_expect_null(dg_loop_find(&want, features, feature_count));
    cr_expect_null(dg_loop_find(&(struct dg_loop){.kind = DG_LOOP_LATENCY,
                                                  .op = "fma.f32.512"}, NULL, 0));
}

/* One and three trips of everything usable: it comes back, constants and loads stay as before. */
Test(loops, all_run, .init = start, .fini = stop)
{
    unsigned char *copy = malloc(DG_BLOCK_BYTES);
    size_t run = 0;
    dg_loop_block_fill(memory);
    memcpy(copy, memory, DG_BLOCK_BYTES);
    for (size_t i = 0; i < dg_loop_count; i++) {
        if (!usable(dg_loops[i].features))
            continue;
        dg_loops[i].run(1, memory);
        dg_loops[i].run(3, memory);
        run++;
    }
    cr_expect(run > 4);
    cr_expect_arr_eq(memory, copy, DG_BLOCK_STORE);
    free(copy);
}

static struct dg_mix_state mix_state(const struct dg_mix_entry *mix, unsigned trips, unsigned mode)
{
    uint64_t vector = mix->bits / 8, s = (uintptr_t)memory, r = s + (1 << 20), c = r + (1 << 20);
    uint64_t panel = trips * DG_MIX_STEPS * mix->vectors * vector /
                     dg_mix_body_named(mix->dtype)->narrow;
    return (struct dg_mix_state){
        .s = s, .r = r, .c = c, .turns = 5, .trips = trips, .row_stride = 4160,
        .c_row_stride = 4096, .s_turn = panel, .s_start = s, .s_end = s + 2 * panel,
        .repeat_left = 2, .s_repeat = 2, .r_turn = 64, .r_start = r, .r_end = r + 192,
        .c_turn = 512, .c_start = c, .c_end = c + 1024, .mode = mode, .prefetch = s + panel,
        .next = s + panel, .panel = panel,
    };
}

static double at(const struct known_body *body, uint64_t address, unsigned index)
{
    const void *p = (const void *)(uintptr_t)address;
    return body->sum == SUM_F64 ? ((const double *)p)[index]
         : body->sum == SUM_F32 ? (double)((const float *)p)[index]
                                : (double)((const int32_t *)p)[index];
}

/* Five turns: the C places of turns 0 and 1 alternate, S moves after two turns, rows each turn. */
static void check_mix(const struct dg_mix_entry *mix, unsigned trips)
{
    const struct known_body *body = known_body(mix->dtype);
    cr_assert(body != NULL, "%s has no known answer", mix->dtype);
    fill(body->fill);
    double start = at(body, (uintptr_t)memory, 0);
    unsigned lanes = mix->vectors * mix->bits / (body->sum == SUM_F64 ? 64 : 32);
    for (unsigned mode = 0; mode < 3; mode++) {
        struct dg_mix_state state = mix_state(mix, trips, mode), first = state;
        double turn = body->product * trips * DG_MIX_STEPS;
        double want[2] = {mode == 0 ? start : mode == 1 ? turn : start + 3 * turn,
                          mode == 0 ? start : mode == 1 ? turn : start + 2 * turn};
        fill(body->fill);
        mix->run(&state);
        for (unsigned row = 0; row < mix->rows; row++)
            for (unsigned i = 0; i < lanes; i++)
                for (unsigned place = 0; place < 2; place++) {
                    double seen = at(body, first.c + place * 512 + row * 4096, i);
                    if (mix->vectors * mix->bits / 8 > 512)
                        continue;
                    cr_assert(seen >= want[place] * (1 - 1e-6) && seen <= want[place] * (1 + 1e-6),
                              "%s.%u %ux%u prefetch %u mode %u row %u lane %u: %g, not %g",
                              mix->dtype, mix->bits, mix->vectors, mix->rows, mix->prefetch, mode,
                              row, i, seen, want[place]);
                }
        cr_expect_eq(state.turns, 0);
        cr_expect_eq(state.s, first.s_start);                       /* moved twice, wrapped */
        cr_expect_eq(state.r, first.r_start + 2 * first.r_turn);    /* 5 turns, region of 3 */
        cr_expect_eq(state.c, first.c_start + first.c_turn);
        cr_expect_eq(state.repeat_left, 1);
        if (mix->prefetch > 0)
            cr_expect(state.prefetch >= first.s_start && state.next == first.s_start + first.panel);
    }
}

Test(loops, mixes_compute_and_walk, .init = start, .fini = stop)
{
    size_t run = 0;
    for (size_t i = 0; i < dg_mix_count; i++) {
        if (!usable(dg_mixes[i].features))
            continue;
        check_mix(&dg_mixes[i], 1);
        check_mix(&dg_mixes[i], 5);
        run++;
    }
    cr_expect(run > 0 || !(usable("avx2,fma") || usable("asimd")));
}

static void check_stream(const char *what, const struct dg_stream_entry *entry)
{
    enum { BYTES = 24576, GAP = 1 << 16 };
    float *a = (float *)(void *)memory;
    float *b = a + GAP, *c = b + GAP;
    enum dg_traffic kind = entry->kind;
    uint64_t bytes = BYTES / entry->step * entry->step / entry->streams;
    struct dg_stream_state state = {(uintptr_t)a, (uintptr_t)b, (uintptr_t)c, bytes, 256, 2,
                                    bytes};
    size_t count = state.bytes / sizeof *a;
    for (size_t i = 0; i < GAP; i++) {
        a[i] = (float)(i % 1000);
        b[i] = (float)(i % 777) + 0.5F;
        c[i] = -1.0F;
    }
    entry->run(&state);
    for (size_t i = 0; i < count + 64; i++) {
        bool reads = kind == DG_READ || kind == DG_READ_FMA;
        float want = i >= count || reads ? -1.0F
                   : kind == DG_WRITE || kind == DG_NT_WRITE ? 1.0F
                   : dg_traffic_arrays(kind) == 3 ? a[i] + b[i] : a[i];
        cr_assert(c[i] == want, "%s step %u: [%zu] is %g, not %g", what, entry->step, i,
                  (double)c[i], (double)want);
    }
}

Test(loops, streams_are_found_by_form, .init = start, .fini = stop)
{
    static const struct dg_stream wants[] = {
        {.kind = DG_READ}, {.kind = DG_READ, .step = 4608}, {.kind = DG_READ, .prefetch = 64},
        {.kind = DG_READ, .width = 16}, {.kind = DG_READ, .streams = 4},
        {.kind = DG_READ, .step = 9216, .place = 1}, {.kind = DG_READ, .step = 9216, .place = 7},
    };
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        const struct dg_stream *want = &wants[i];
        const struct dg_stream_entry *entry = dg_stream_find(want, features, feature_count);
        cr_assert(entry != NULL, "row %zu", i);
        cr_expect(want->step == 0 || entry->step == want->step, "row %zu", i);
        cr_expect(want->width == 0 || entry->bits == 8 * want->width, "row %zu", i);
        cr_expect_eq(entry->streams, want->streams > 0 ? want->streams : 1, "row %zu", i);
        cr_expect_eq(entry->prefetch, want->prefetch > 0, "row %zu", i);
        cr_expect_eq(entry->place, want->place % 3, "row %zu", i);
    }
    cr_expect(dg_stream_find(&(struct dg_stream){.step = 100}, features, feature_count) == NULL);
}

Test(loops, streams_move_what_they_say, .init = start, .fini = stop)
{
    for (size_t i = 0; i < dg_stream_count; i++)
        if (usable(dg_streams[i].features))
            check_stream("made", &dg_streams[i]);
    for (int kind = 0; kind < DG_TRAFFIC_COUNT; kind++)
        cr_expect_not_null(dg_stream_find(&(struct dg_stream){.kind = (enum dg_traffic)kind},
                                          features, feature_count), "kind %d", kind);
#define DG_PORTABLE_LOOP(kind, op, operand, chains, per_trip, run)
#define DG_PORTABLE_STREAM(kind, step, prefetch, run) \
    check_stream("portable", &(struct dg_stream_entry){kind, 32, step, 1, 0, prefetch, "", run});
#define DG_PORTABLE_CHASE(run)
#include "microbench/loops/portable.def"
#undef DG_PORTABLE_LOOP
#undef DG_PORTABLE_STREAM
#undef DG_PORTABLE_CHASE
}

static void check_chase(void *(*run)(void *, uint64_t))
{
    enum { RING = 24, STRIDE = 448 };
    for (unsigned i = 0; i < RING; i++)
        *(void **)(void *)(memory + i * STRIDE) = memory + (i + 1) % RING * STRIDE;
    cr_expect_eq((unsigned char *)run(memory, 1), memory + 16 * STRIDE);
    cr_expect_eq((unsigned char *)run(memory, 3), memory);
}

Test(loops, chases_follow_the_ring, .init = start, .fini = stop)
{
    for (size_t i = 0; i < dg_chase_count; i++)
        if (usable(dg_chases[i].features))
            check_chase(dg_chases[i].run);
    check_chase(dg_portable_chase);
    cr_expect_not_null(dg_chase_find(false, NULL, 0));
}

Test(loops, portable_loops_run, .init = start, .fini = stop)
{
    dg_loop_block_fill(memory);
#define DG_PORTABLE_LOOP(kind, op, operand, chains, per_trip, run) run(3, memory);
#define DG_PORTABLE_STREAM(kind, step, prefetch, run)
#define DG_PORTABLE_CHASE(run)
#include "microbench/loops/portable.def"
    float one;
    memcpy(&one, memory + DG_BLOCK_ONE_F32, sizeof one);
    cr_expect(one == 1.0F);
}
