/* SPDX-License-Identifier: Apache-2.0
 * The engine on this machine (sanity floors only: no timing is a gate), and on clocks and kernels
 * that misbehave. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "microbench/engine/internal.h"
#include "opened.h"

static void expect_latency(struct dg_bench *bench, const char *op, unsigned operand, double floor)
{
    struct dg_samples out = room(0);
    struct dg_error error = {0};
    struct dg_loop loop = {.kind = DG_LOOP_LATENCY, .op = op, .operand = operand};
    if (!bench->loop(bench->self, &loop, &out, &error))
        return;                          /* no such row on this processor */
    cr_expect(out.count + out.rejected > 0);
    if (out.count > 0)
        cr_expect(out.median >= floor && out.median < 1000, "%s: %g", op, out.median);
}

static uint32_t ring[256];

static struct dg_chase l1_chase(void)
{
    for (uint32_t i = 0; i < 256; i++)
        ring[i] = i * 37 % 256 * 64;
    return (struct dg_chase){.order = ring, .count = 256, .warm = 2};
}

Test(engine, runs_here)
{
    struct dg_bench bench = open_with(NULL, 0);
    struct dg_error error = {0};
    cr_expect(bench.info->tick_ns > 0 && bench.info->clock_hz > 0);
    cr_expect(bench.info->memory_limit == SMALL);
    cr_expect(bench.time_left(bench.self) < 0);
    expect_latency(&bench, "fma.f32.256", 0, 1);
    expect_latency(&bench, "fma.f32.256", 1, 1);
    expect_latency(&bench, "fma.f64.128", 0, 1);
    expect_latency(&bench, "add.f32.128", 1, 1);
    expect_latency(&bench, "multiply.i64.64", 0, 1);
    struct dg_samples out = room(0);
    struct dg_chase chase = l1_chase();
    for (int vector = 0; vector < 2; vector++) {
        chase.vector = vector != 0;
        cr_assert(bench.chase(bench.self, &chase, &out, &error), "%s", error.rule);
        if (out.count > 0)
            cr_expect(out.median >= 2, "load to use %g", out.median);
    }
    struct dg_evict evict = {.target = 1 << 20, .order = ring, .count = 64, .passes = 2,
                             .repeats = 12};
    cr_expect(bench.evict(bench.self, &evict, &out, &error), "%s", error.rule);
    cr_expect(out.count == 0 || out.median >= 0);
    struct dg_resample cold = {.window = 1 << 20, .order = ring, .count = 200};
    cr_expect(bench.resample(bench.self, &cold, &out, &error), "%s", error.rule);
    cr_expect(out.count == 0 || out.median >= 2);
    struct dg_hold held = {.order = ring, .count = 64, .from = 1 << 20, .bytes = 1 << 20,
                           .beside = 65536, .walks = 4};
    for (; held.push <= 65536; held.push += 65536) {
        cr_expect(bench.hold(bench.self, &held, &out, &error), "%s", error.rule);
        cr_expect(out.count == 0 || out.median >= 2, "load of a block %g", out.median);
    }
    held.bytes = 2 * SMALL;
    cr_expect_not(bench.hold(bench.self, &held, &out, &error), "a panel outside the arena");
    for (unsigned threads = 0; threads < 2; threads++) {
        struct dg_stream stream = {.kind = DG_TRIAD, .bytes = 24576, .passes = 1,
                                   .threads = threads};
        cr_expect(bench.stream(bench.self, &stream, &out, &error), "%s", error.rule);
        cr_expect(out.count == 0 || out.median > 0);
    }
    dg_engine_close(&bench);
}

/* What stands beside work is of its own width: the clock of wide code may be another one. */
Test(engine, widths)
{
    struct dg_bench bench = open_with(NULL, 0);
    struct engine *e = bench.self;
    cr_assert(e->widths >= 1 && e->widths <= WIDTHS_MOST);
    for (size_t i = 0; i < e->widths; i++) {
        struct width *w = &e->width[i];
        double each = w->chain.cycles_per_trip / w->chain.loop->per_trip;
        cr_expect(i == 0 || w->bits > e->width[i - 1].bits);
        cr_expect(i == 0 || (each >= 1 && each == round(each)), "%u bits: a step of the chain "
                  "takes %g cycles", w->bits, each);
        for (int kind = 0; kind < CHECKS; kind++)
            cr_expect(w->check[kind].cycles_per_trip > 0 && w->check[kind].trips > 0);
        cr_expect(i == 0 || dg_op_bits(w->check[CHECK_PEAK].loop->op) == w->bits);
        cr_expect_eq(dg_width_for(e, w->bits), w);
        cr_expect_eq(dg_width_for(e, w->bits + 1), w);
        for (unsigned moves = 0; moves < 4 * DG_CLOCK_MOVES; moves++)
            cr_expect_eq(dg_width_in_turn(e, w->bits, moves),
                         moves / DG_CLOCK_MOVES % 2 == 0 ? w : &e->width[0], "%u", moves);
    }
    cr_expect_eq(dg_width_for(e, 0), &e->width[0], "scalar work");
    cr_expect_eq(dg_op_bits("fma.f32.512"), 512);
    cr_expect_eq(dg_op_bits(DG_REF_ADD), 0);
    cr_expect_eq(dg_op_bits(NULL), 0);
    dg_engine_close(&bench);
}

Test(engine, mixes_round_robin_and_refusals)
{
    struct dg_bench bench = open_with(NULL, 0);
    struct dg_samples out[2] = {room(0), room(1)};
    struct dg_error error = {0};
    struct dg_mix mixes[2] = {
        {.dtype = "f32", .bits = 256, .vectors = 2, .rows = 4, .stores = 8, .steps = 16,
         .turns = 100, .row_stride = 4160, .c_turn = 256, .c_region = 65536,
         .c_row_stride = 4096},
        {.dtype = "f32", .bits = 256, .vectors = 2, .rows = 4, .stores = 0, .steps = 64,
         .turns = 50, .s_turn = 4096, .s_region = 65536, .row_stride = 4160, .prefetch = true},
    };
    if (bench.mix(bench.self, mixes, 2, out, &error)) {
        for (int i = 0; i < 2; i++)
            cr_expect(out[i].count == 0 || out[i].median > 16, "%g", out[i].median);
        mixes[0].steps = 18;
        cr_expect_not(bench.mix(bench.self, mixes, 2, out, &error));
        cr_expect(strstr(error.rule, "multiple of 4") != NULL, "%s", error.rule);
        mixes[0].steps = 16;
        mixes[0].stores = 3;
        cr_expect_not(bench.mix(bench.self, mixes, 2, out, &error));
        mixes[0].stores = 8;
        mixes[0].c_region = UINT64_MAX - 5;
        cr_expect_not(bench.mix(bench.self, mixes, 2, out, &error));
        cr_expect(strstr(error.rule, "arena") != NULL, "%s", error.rule);
    }
    mixes[0].vectors = 99;
    cr_expect_not(bench.mix(bench.self, mixes, 1, out, &error));
    const struct dg_chase outside = {.order = (const uint32_t[]){0, SMALL}, .count = 2};
    const struct dg_chase crooked = {.order = (const uint32_t[]){0, 12}, .count = 2};
    static const struct dg_chase none = {.order = NULL, .count = 0};
    static const struct dg_stream long_one = {.kind = DG_READ, .bytes = UINT64_C(1) << 40,
                                              .threads = 1};
    /* what two threads write lies apart, so that no prefetcher runs from one into the other */
    const struct dg_stream side_by_side = {.kind = DG_WRITE, .threads = 2,
                                           .bytes = SMALL / 2 - 16384};
    const struct dg_stream apart = {.kind = DG_WRITE, .threads = 2, .bytes = SMALL / 2 - 131072};
    static const struct dg_loop unknown = {.kind = DG_LOOP_RATE, .op = "nothing.f32.1",
                                           .chains = 1};
    cr_expect_not(bench.chase(bench.self, &outside, out, &error));
    cr_expect_not(bench.chase(bench.self, &crooked, out, &error));
    cr_expect_not(bench.chase(bench.self, &none, out, &error));
    cr_expect_not(bench.stream(bench.self, &long_one, out, &error));
    if (bench.info->cpus > 1) {
        cr_expect_not(bench.stream(bench.self, &side_by_side, out, &error));
        cr_expect(bench.stream(bench.self, &apart, out, &error), "%s", error.rule);
    }
    cr_expect_not(bench.loop(bench.self, &unknown, out, &error));
    cr_expect(error.rule[0] != '\0' && strstr(error.value, "nothing") != NULL);
    dg_engine_close(&bench);
}

/* --- clocks --- */

static uint64_t step_ns;

static uint64_t coarse_ns(struct dg_host *host)
{
    (void)host;
    return real_ns() / step_ns * step_ns;
}

static uint64_t frozen_ns(struct dg_host *host)
{
    (void)host;
    return 12345;
}

/* A counter that runs at a rate that changes from window to window. */
static uint64_t uneven_ticks(struct dg_host *host)
{
    uint64_t now = real_ns(), window = now / 7000000;
    (void)host;
    return window * 7000000 + now % 7000000 * (1 + window % 2) / 2;
}

Test(engine, a_coarse_clock_ends)
{
    struct dg_host host;
    static const uint64_t steps[] = {42, 1000, 1000000};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct dg_samples out = room(0);
        struct dg_error error = {0};
        struct dg_chase chase = l1_chase();
        dg_host_system(&host, NULL);
        host.ticks = NULL;
        host.monotonic_ns = coarse_ns;
        step_ns = steps[i];
        struct dg_bench bench = open_with(&host, 0);
        cr_expect_str_eq(bench.info->time_source, "clock_monotonic_raw");
        cr_expect(bench.info->tick_ns >= 0.9 * (double)steps[i], "%g", bench.info->tick_ns);
        cr_expect(bench.chase(bench.self, &chase, &out, &error), "%s", error.rule);
        cr_expect(out.count == 0 || out.median >= 2);
        dg_engine_close(&bench);
    }
}

Test(engine, a_bad_clock_is_not_believed)
{
    struct dg_host host;
    struct dg_bench bench;
    struct dg_error error = {0};
    struct dg_engine_options options = {.host = &host, .cpu = -1, .memory = SMALL};
    dg_host_system(&host, NULL);
    if (host.ticks != NULL) {
        host.ticks = uneven_ticks;
        bench = open_with(&host, 0);
        cr_expect_str_eq(bench.info->time_source, "clock_monotonic_raw");
        dg_engine_close(&bench);
    }
    host.ticks = NULL;
    host.monotonic_ns = frozen_ns;
    cr_expect_not(dg_engine_open(&options, &bench, &error));
    cr_expect_eq(error.exit_code, DG_EXIT_UNAVAILABLE);
}

/* The rate of a counter is measured, whatever CPUID or a brand text would say about it. */
static uint64_t odd_ticks(struct dg_host *host)
{
    (void)host;
    return real_ns() / 7 * 3;
}

Test(engine, the_rate_of_the_time_source_is_measured)
{
    struct dg_host host;
    dg_host_system(&host, NULL);
    if (host.ticks == NULL)
        return;
    host.ticks = odd_ticks;
    struct dg_bench bench = open_with(&host, 0);
    if (strcmp(bench.info->time_source, "clock_monotonic_raw") != 0)
        cr_expect_float_eq(dg_engine_state(&bench)->tick_hz / 1e9, 3.0 / 7, 0.005 * 3 / 7);
    dg_engine_close(&bench);
}

/* A thread that is moved while it runs: its samples are not used, and waiting for better ones
 * ends. */
static int wandering_cpu(struct dg_host *host)
{
    static int calls;
    (void)host;
    return calls++ % 2;
}

Test(engine, a_moved_thread_gives_no_samples)
{
    struct dg_host host;
    struct dg_samples out = room(0);
    struct dg_error error = {0};
    struct dg_loop loop = {.kind = DG_LOOP_LATENCY, .op = "ref.multiply"};
    dg_host_system(&host, NULL);
    struct dg_bench bench = open_with(&host, 0);
    dg_engine_close(&bench);
    host.current_cpu = wandering_cpu;
    struct dg_engine_options options = {.host = &host, .cpu = -1, .memory = SMALL,
                                        .patience_seconds = 0.02};
    cr_assert(dg_engine_open(&options, &bench, &error), "%s", error.rule);
    if (dg_engine_state(&bench)->agree) {
        cr_expect(bench.loop(bench.self, &loop, &out, &error), "%s", error.rule);
        cr_expect(out.count == 0 && out.rejected > 0, "%zu", out.count);
        cr_expect(dg_engine_state(&bench)->rejected_usage > 0);
    }
    dg_engine_close(&bench);
}

/* --- CPUs, limits, budget --- */

static unsigned pinned_to = DG_CPUS_MAX;

static int fake_pin(struct dg_host *host, unsigned cpu)
{
    (void)host;
    pinned_to = cpu;
    return EINVAL;
}

static int fake_cpu(struct dg_host *host)
{
    (void)host;
    return 1;
}

static uint64_t small_limit(struct dg_host *host, int resource)
{
    (void)host, (void)resource;
    return UINT64_C(1) << 20;
}

static uint64_t granted;
static uint64_t fake_huge_bytes(struct dg_host *host, const void *start, uint64_t bytes)
{
    (void)host, (void)start;
    return bytes / 100 * granted;
}

Test(engine, cpus_and_memory)
{
    struct dg_host host;
    struct dg_bench bench;
    struct dg_error error = {0};
    struct dg_engine_options options = {.host = &host, .cpu = 9999, .memory = SMALL};
    dg_host_system(&host, NULL);
    cr_expect_not(dg_engine_open(&options, &bench, &error));
    cr_expect_eq(error.exit_code, DG_EXIT_USAGE);
    cr_expect_str_eq(error.value, "9999");
    host.get_affinity = fake_mask;
    host.pin = fake_pin;
    host.current_cpu = fake_cpu;
    options.cpu = 4;
    cr_expect_not(dg_engine_open(&options, &bench, &error));
    cr_expect(strstr(error.todo, "3,5") != NULL, "%s", error.todo);
    cr_expect_eq(pinned_to, DG_CPUS_MAX, "nothing outside the mask is tried");
    options.cpu = 5;
    cr_expect_not(dg_engine_open(&options, &bench, &error));
    cr_expect(strstr(error.value, "EINVAL") != NULL, "%s", error.value);
    options.cpu = -1;
    cr_assert(dg_engine_open(&options, &bench, &error), "%s", error.rule);
    cr_expect(!bench.info->pinned && bench.info->cpu == 3 && bench.info->cpus == 2);
    dg_engine_close(&bench);
    host.huge_bytes = fake_huge_bytes;
    for (granted = 50; granted <= 100; granted += 50) {
        cr_assert(dg_engine_open(&options, &bench, &error), "%s", error.rule);
        cr_expect_eq(bench.info->huge_pages, granted == 100, "huge pages are said when given");
        dg_engine_close(&bench);
    }
    dg_host_system(&host, NULL);
    host.limit = small_limit;
    cr_expect_not(dg_engine_open(&options, &bench, &error));
    cr_expect_str_eq(error.value, "RLIMIT_AS");
}

static long page_size;
static long odd_page(struct dg_host *host, int name)
{
    (void)host, (void)name;
    return page_size;
}

/* Memory is written before it is timed, or all of it could be one page of zeros; pages may have
 * any size, or none that is known. */
Test(engine, memory_is_really_there)
{
    static const struct { long said; unsigned used; } pages[] = {
        {4096, 4096}, {16384, 16384}, {65536, 65536}, {0, 4096}, {-1, 4096},
    };
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct dg_host host;
        struct dg_samples out = room(0);
        struct dg_error error = {0};
        struct dg_chase chase = l1_chase();
        char text[64] = "0";
        dg_host_system(&host, NULL);
        host.sysconf = odd_page;
        page_size = pages[i].said;
        struct dg_bench bench = open_with(&host, 0);
        cr_expect_eq(bench.info->page_bytes, pages[i].used);
        cr_assert(dg_host_key(&host, "/proc/self/status", "VmRSS", text, sizeof text));
        cr_expect(strtoull(text, NULL, 10) * 1024 >= SMALL, "%s resident", text);
        cr_expect(bench.chase(bench.self, &chase, &out, &error), "%s", error.rule);
        dg_engine_close(&bench);
    }
}

static bool stop_it(void *context, double seconds)
{
    ++*(int *)context;
    return seconds < 0;
}

Test(engine, budget_and_interrupt)
{
    struct dg_bench bench = open_with(NULL, 1e-3);
    struct dg_samples out = room(0);
    struct dg_error error = {0};
    struct dg_chase chase = l1_chase();
    cr_expect(bench.time_left(bench.self) == 0);
    cr_expect_not(bench.chase(bench.self, &chase, &out, &error));
    cr_expect_eq(error.exit_code, DG_EXIT_UNAVAILABLE);
    cr_expect(strstr(error.rule, "budget") != NULL, "%s", error.rule);
    dg_engine_close(&bench);
    /* A long request asks, and ends when told so. */
    int calls = 0;
    struct dg_engine_options options = {.cpu = -1, .memory = 64 << 20, .progress = stop_it,
                                        .progress_context = &calls};
    cr_assert(dg_engine_open(&options, &bench, &error), "%s", error.rule);
    struct dg_mix mix = {.dtype = "f32", .bits = 256, .vectors = 1, .rows = 1, .stores = 1,
                         .steps = 512, .turns = 200000};
    if (!bench.mix(bench.self, &mix, 1, &out, &error) && calls > 0)
        cr_expect_eq(error.exit_code, DG_EXIT_INTERRUPTED);
    dg_engine_close(&bench);
}

Test(engine, the_mask_comes_back)
{
    struct dg_host host;
    struct dg_cpus before, after;
    dg_host_system(&host, NULL);
    cr_assert(host.get_affinity(&host, &before));
    for (int i = 0; i < 2; i++) {
        struct dg_bench bench = open_with(NULL, 0);
        cr_expect_eq(bench.info->cpus, dg_cpus_count(&before));
        dg_engine_close(&bench);
    }
    cr_assert(host.get_affinity(&host, &after));
    cr_expect_arr_eq(&before, &after, sizeof before);
}

/* --- other CPUs --- */

static unsigned unwilling = DG_CPUS_MAX;

static int pin_but_one(struct dg_host *host, unsigned cpu)
{
    (void)host;
    return cpu == unwilling ? EINVAL : 0;
}

static bool two_cpus(struct dg_host *host, struct dg_cpus *out)
{
    (void)host;
    memset(out, 0, sizeof *out);
    dg_cpus_add(out, 0);
    dg_cpus_add(out, 1);
    return true;
}

/* Another CPU, where there is one; without one and with one that nobody may be pinned to: said. */
Test(engine, other_cpus)
{
    struct dg_bench bench = open_with(NULL, 0);
    struct dg_samples out = room(0);
    struct dg_error error = {0};
    unsigned here = bench.info->cpu, other = here + 1;
    struct dg_handoff same = {here, here}, outside = {here, 4095};
    struct dg_visit visit = {.cpu = here, .loop = {.kind = DG_LOOP_LATENCY, .op = "ref.multiply"}};
    struct dg_remote remote = {.home = here, .bytes = 4 << 20}, large = {here, UINT64_C(1) << 50};
    cr_expect_not(bench.handoff(bench.self, &same, &out, &error));
    cr_expect_not(bench.handoff(bench.self, &outside, &out, &error));
    cr_expect_str_eq(error.value, "4095");
    cr_expect_not(bench.remote(bench.self, &large, &out, &error));
    cr_expect(bench.visit(bench.self, &visit, &out, &error), "%s", error.rule);
    cr_expect(out.count == 0 || out.median >= 1);
    cr_expect(bench.remote(bench.self, &remote, &out, &error), "%s", error.rule);
    cr_expect(out.count == 0 || out.median >= 2);
    visit.loop.op = "nothing";
    cr_expect_not(bench.visit(bench.self, &visit, &out, &error));
    visit.loop = (struct dg_loop){.kind = DG_LOOP_RATE, .op = "ref.multiply", .chains = 1};
    cr_expect_not(bench.visit(bench.self, &visit, &out, &error), "rates are no marks of a kind");
    for (; other < here + DG_CPUS_MAX; other++) {
        struct dg_handoff pair = {here, other % DG_CPUS_MAX};
        if (bench.handoff(bench.self, &pair, &out, &error)) {
            cr_expect(out.count == 0 || out.low_ns > 1, "%g", out.low_ns);
            break;
        }
    }
    dg_engine_close(&bench);
}

Test(engine, a_partner_that_cannot_be_pinned)
{
    struct dg_host host;
    struct dg_samples out = room(0);
    dg_host_system(&host, NULL);
    host.get_affinity = two_cpus;
    host.pin = pin_but_one;
    struct dg_bench bench = open_with(&host, 0);
    unsigned here = bench.info->cpu;
    unwilling = 1 - here;
    cr_expect_str_eq(bench.info->cpu_list, "0-1");
    for (int way = 0; way < 2; way++) {
        struct dg_error error = {0};
        struct dg_handoff pair = {way == 0 ? here : unwilling, way == 0 ? unwilling : here};
        cr_expect_not(bench.handoff(bench.self, &pair, &out, &error));
        cr_expect(strstr(error.value, "EINVAL") != NULL, "%s", error.value);
    }
    struct dg_error error = {0};
    struct dg_visit visit = {.cpu = unwilling,
                             .loop = {.kind = DG_LOOP_LATENCY, .op = "ref.multiply"}};
    struct dg_remote remote = {.home = unwilling, .bytes = 4 << 20};
    cr_expect_not(bench.visit(bench.self, &visit, &out, &error));
    cr_expect_not(bench.remote(bench.self, &remote, &out, &error));
    cr_expect(strstr(error.value, "EINVAL") != NULL, "%s", error.value);
    dg_engine_close(&bench);
}
