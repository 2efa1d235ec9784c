/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests of a bench on a simulated chip. */
#include <math.h>
#include <string.h>

#include "tests/sim/internal.h"

/* Before each request: true when the budget is over. */
static bool over(struct sim *sim, bool keeps_window)
{
    sim->requests++;
    sim->window = keeps_window ? sim->window : 0;
    sim->walked_last = false;
    return sim->trouble.budget > 0 && (double)sim->requests > sim->trouble.budget;
}

static bool refuse_budget(struct dg_error *e)
{
    return dg_fail(e, DG_EXIT_UNAVAILABLE, "budget", "the time allowed is over", "",
                   "allow more time");
}

static const struct sim_timing long_enough = { 0, 0 };

static bool inside(const struct sim *sim, const uint32_t *order, size_t count, struct dg_error *e)
{
    for (size_t i = 0; i < count; i++)
        if (order[i] + UINT64_C(64) > sim->info.memory_limit)
            return dg_fail(e, DG_EXIT_UNAVAILABLE, "chase", "an offset lies outside the arena", "",
                           "allow more memory");
    return count > 0 || dg_fail(e, DG_EXIT_INTERNAL, "chase", "the order is empty", "", "");
}

/* Adds `part` of what a load costs. */
static void load(struct sim *sim, uint32_t offset, bool vector, bool translated, double part,
                 struct sim_cost *cost)
{
    double translation;
    unsigned level = sim_access(&sim->memory, offset, &translation);
    struct sim_cost of = sim_level_cost(sim->chip, level);
    cost->ns += part * of.ns;
    cost->cycles += part * (of.cycles + (translated ? translation : 0) +
                            (vector ? sim->chip->vector_load_extra + sim->chip->moves[1] : 0));
}

static bool chase(void *self, const struct dg_chase *q, struct dg_samples *out,
                  struct dg_error *e)
{
    struct sim *sim = self;
    struct sim_cost cost = { 0, 0 };
    if (over(sim, false))
        return refuse_budget(e);
    if (!inside(sim, q->order, q->count, e))
        return false;
    for (unsigned pass = 0; pass < q->warm; pass++)
        for (size_t i = 0; i < q->count; i++)
            sim_access(&sim->memory, q->order[i], &(double){ 0 });
    uint64_t steps = q->steps != 0 ? q->steps : q->count;
    for (uint64_t i = 0; i < steps; i++)
        load(sim, q->order[i % q->count], q->vector, true, 1 / (double)steps, &cost);
    sim_fill(sim, out, cost, long_enough);
    return true;
}

static bool evict(void *self, const struct dg_evict *q, struct dg_samples *out,
                  struct dg_error *e)
{
    struct sim *sim = self;
    if (over(sim, false))
        return refuse_budget(e);
    if (!inside(sim, q->order, q->count, e) || !inside(sim, &q->target, 1, e))
        return false;
    struct sim_cost cost = { 0, 0 };
    sim_access(&sim->memory, q->target, &(double){ 0 });
    for (unsigned pass = 0; pass < q->passes; pass++)
        for (size_t i = 0; i < q->count; i++)
            sim_access(&sim->memory, q->order[i], &(double){ 0 });
    load(sim, q->target, false, true, 1, &cost);
    sim_fill(sim, out, cost, (struct sim_timing){ .repeats = q->repeats > 0 ? q->repeats : 1 });
    return true;
}

/* The same window again right after: what is kept of it is still there, if other lines now than
 * before where samples were taken inside. Streaming it once more would only take the test's time.
 * Lines of samples outside it would be met again: enough of it passes to push them out. */
static void pass_window(struct sim *sim, const struct dg_resample *q)
{
    const struct sim_chip *chip = sim->chip;
    const uint64_t enough = 4 * (uint64_t)(chip->l1.size + chip->l2.size + chip->l3.size);
    bool again = sim->window == q->window, outside = false;
    for (size_t i = 0; i < q->count; i++)
        outside |= q->order[i] >= q->window;
    uint64_t from = again && q->window > enough ? q->window - enough : 0;
    for (uint64_t at = from; (!again || sim->outside) && at < q->window; at += chip->l1.line)
        sim_access(&sim->memory, at, NULL);
    sim->window = q->window;
    sim->outside = outside;
}

static bool resample(void *self, const struct dg_resample *q, struct dg_samples *out,
                     struct dg_error *e)
{
    struct sim *sim = self;
    struct sim_cost cost = { 0, 0 };
    if (over(sim, true))
        return refuse_budget(e);
    if (!inside(sim, q->order, q->count, e))
        return false;
    if (q->window > sim->info.memory_limit)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "resample", "the window is larger than the arena",
                       "", "allow more memory");
    pass_window(sim, q);
    for (size_t i = 0; i < q->count; i++)
        load(sim, q->order[i], false, false, 1 / (double)q->count, &cost);
    sim_fill(sim, out, cost, (struct sim_timing){ .units = (double)q->count });
    return true;
}

static void read_on(struct sim *sim, uint64_t from, uint64_t bytes)
{
    for (uint64_t at = from; at < from + bytes; at += sim->chip->l1.line)
        sim_access(&sim->memory, at, NULL);
}

static bool hold(void *self, const struct dg_hold *q, struct dg_samples *out, struct dg_error *e)
{
    struct sim *sim = self;
    struct sim_cost cost = { 0, 0 };
    double loads = (double)q->count * (q->push > 0 ? 1 : q->walks);
    if (over(sim, false))
        return refuse_budget(e);
    if (!inside(sim, q->order, q->count, e))
        return false;
    if (q->from + q->bytes > sim->info.memory_limit || q->beside > q->bytes ||
        q->push_from + q->push > sim->info.memory_limit)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "hold", "the panel does not fit the arena", "",
                       "allow more memory");
    uint64_t passed = 0;
    for (unsigned walk = 0; walk < 2 * q->walks + (q->push > 0); walk++) {
        bool last = walk == 2 * q->walks;
        passed = passed + q->beside > q->bytes ? 0 : passed;
        read_on(sim, last ? q->push_from : q->from + passed, last ? q->push : q->beside);
        passed += q->beside;
        cost = walk == q->walks || last ? (struct sim_cost){ 0, 0 } : cost;
        for (size_t i = 0; i < q->count; i++)
            load(sim, q->order[i], false, true, 1 / loads, &cost);
    }
    sim_fill(sim, out, cost, (struct sim_timing){ .units = (double)q->count });
    return true;
}

static bool stream(void *self, const struct dg_stream *q, struct dg_samples *out,
                   struct dg_error *e)
{
    enum { MOST = 32 };
    struct sim *sim = self;
    bool straight = sim->walked_last;
    if (over(sim, false))
        return refuse_budget(e);
    if (q->bytes == 0 || q->bytes > sim->info.memory_limit)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "stream", "the arrays do not fit the arena", "",
                       "allow more memory");
    struct sim_cost cost[MOST] = { { 0, 0 } };
    size_t samples = out->capacity < MOST ? out->capacity : MOST;
    sim->walked_last = straight;
    sim_stream_cost(sim, q, samples, cost);
    sim_fill_each(sim, out, cost, samples, long_enough);
    return true;
}

static bool no_such_loop(struct dg_error *e, const char *op)
{
    return dg_fail(e, DG_EXIT_UNAVAILABLE, "loop", "there is no such loop here", op,
                   "nothing: the chip lacks the instruction");
}

static double rate_cycles(const struct sim_chip *chip, const char *op, unsigned chains)
{
    double units[SIM_RESOURCES], latency, acc;
    if (!sim_units(chip, op, units, &latency, &acc))
        return 0;
    double alone = sim_group_cycles(chip, op, 1, NULL, 0);
    bool chained = units[SIM_MULTIPLY] > 0;
    return chained ? fmax(alone, acc / fmax(1, chains)) : alone;
}

static double reference_cycles(const struct sim_chip *chip, const char *op)
{
    static const struct { const char *op; double cycles; } rows[] = {
        { "ref.add", 1 }, { "ref.xor-rotate", 2 }, { "ref.multiply", 3 }, { "ref.wide", 0.25 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].op, op) == 0)
            return rows[i].cycles;
    return chip->moves[0] + chip->moves[1];      /* ref.through-vector */
}

static bool loop(void *self, const struct dg_loop *q, struct dg_samples *out, struct dg_error *e)
{
    struct sim *sim = self;
    double units[SIM_RESOURCES], latency = 0, acc = 0, cycles;
    if (over(sim, false))
        return refuse_budget(e);
    if (strncmp(q->op, "ref.", 4) == 0) {
        cycles = reference_cycles(sim->chip, q->op);
    } else {
        if (!sim_units(sim->chip, q->op, units, &latency, &acc))
            return no_such_loop(e, q->op);
        cycles = q->kind == DG_LOOP_LATENCY ? (q->operand == 0 ? acc : latency) :
                 q->kind == DG_LOOP_RATE ? rate_cycles(sim->chip, q->op, q->chains) :
                 sim_group_cycles(sim->chip, q->op, q->count_a, q->other, q->count_b);
        if (cycles <= 0)
            return no_such_loop(e, q->other);
    }
    sim_fill(sim, out, (struct sim_cost){ cycles, 0 }, long_enough);
    return true;
}

static bool fetch(void *self, const struct dg_fetch *q, struct dg_samples *out,
                  struct dg_error *e)
{
    struct sim *sim = self;
    if (over(sim, false))
        return refuse_budget(e);
    if (!inside(sim, q->timed, q->timed_count, e) ||
        (q->count > 0 && !inside(sim, q->order, q->count, e)))
        return false;
    if (q->from >= q->to || q->to > sim->info.memory_limit)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "fetch", "not places inside the arena", "", "");
    struct sim_timing how = { .repeats = q->repeats > 0 ? q->repeats : 1 };
    sim_fill(sim, out, sim_fetch_cost(sim, q), how);
    return true;
}

static bool pick(void *self, const struct dg_pick *q, struct dg_samples *out, struct dg_error *e)
{
    struct sim *sim = self;
    if (over(sim, false))
        return refuse_budget(e);
    double cycles = q->count <= DG_PICKS ? sim_pick_cycles(sim->chip, q) : 0;
    if (!inside(sim, q->offset, q->count, e) || cycles <= 0)
        return no_such_loop(e, "pick");
    sim_fill(sim, out, (struct sim_cost){ cycles, 0 }, long_enough);
    return true;
}

static bool code(void *self, const struct dg_code *q, struct dg_samples *out, struct dg_error *e)
{
    struct sim *sim = self;
    bool fixed = strcmp(sim->chip->architecture, "aarch64") == 0;    /* instructions of 4 bytes */
    if (over(sim, false))
        return refuse_budget(e);
    if (sim->chip->front.l1i.size == 0 || q->bytes < q->length || (fixed && q->length != 4))
        return no_such_loop(e, "code");
    sim_fill(sim, out, (struct sim_cost){ sim_code_cycles(sim, q), 0 }, long_enough);
    return true;
}

static bool pace(void *self, const struct dg_pace *q, struct dg_samples *out, struct dg_error *e)
{
    struct sim *sim = self;
    char op[32];
    double units[SIM_RESOURCES], latency, acc;
    if (over(sim, false))
        return refuse_budget(e);
    dg_format(op, sizeof op, "fma.f32.%u", q->bits);
    if (q->bits > 0 && !sim_units(sim->chip, op, units, &latency, &acc))
        return no_such_loop(e, op);
    sim_pace(sim, q, out);
    return true;
}

static bool fresh(void *self, const struct dg_fresh *q, struct dg_samples *out, struct dg_error *e)
{
    struct sim *sim = self;
    double ns = sim->chip->first_touch[q->huge];
    if (over(sim, false))
        return refuse_budget(e);
    if (q->huge && !sim->chip->huge_pages)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "fresh", "huge pages are not given", "", "");
    sim_fill(sim, out, (struct sim_cost){ 0, ns > 0 ? ns : 250 }, long_enough);
    return true;
}

static bool mix(void *self, const struct dg_mix *q, size_t count, struct dg_samples *out,
                struct dg_error *e)
{
    struct sim *sim = self;
    if (over(sim, false))
        return refuse_budget(e);
    for (size_t i = 0; i < count; i++) {
        double cycles = sim_turn_cycles(sim, &q[i], e);
        if (cycles <= 0)
            return false;
        sim_fill(sim, &out[i], (struct sim_cost){ cycles, 0 }, long_enough);
    }
    return true;
}

static bool handoff(void *self, const struct dg_handoff *q, struct dg_samples *out,
                    struct dg_error *e)
{
    struct sim *sim = self;
    const struct sim_chip *c = sim->chip;
    if (over(sim, false))
        return refuse_budget(e);
    if (q->a == q->b || q->a >= c->cpus || q->b >= c->cpus)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "handoff", "not an allowed pair", "", "");
    bool near = c->cluster == 0 || q->a / c->cluster == q->b / c->cluster;
    double ns = near ? c->near_ns : c->far_ns;
    sim_fill(sim, out, (struct sim_cost){ 0, ns > 0 ? ns : 40 }, long_enough);
    return true;
}

static bool visit(void *self, const struct dg_visit *q, struct dg_samples *out, struct dg_error *e)
{
    struct sim *sim = self;
    const struct sim_chip *c = sim->chip;
    bool other = c->other_kind_from > 0 && q->cpu >= c->other_kind_from;
    if (q->cpu >= c->cpus || q->loop.kind != DG_LOOP_LATENCY)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "visit", "not allowed", "", "");
    if (!loop(self, &q->loop, out, e))
        return false;
    for (size_t i = 0; other && i < out->count; i++) {
        out->sample[i].cycles *= 2;
        out->sample[i].ns *= 2;
    }
    dg_samples_summary(out);
    return true;
}

static bool remote(void *self, const struct dg_remote *q, struct dg_samples *out,
                   struct dg_error *e)
{
    struct sim *sim = self;
    const struct sim_chip *c = sim->chip;
    if (over(sim, false))
        return refuse_budget(e);
    if (q->home >= c->cpus || q->bytes > sim->info.memory_limit)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "remote", "not allowed", "", "");
    bool local = c->node_cpus == 0 || q->home < c->node_cpus;
    sim_fill(sim, out, (struct sim_cost){ 0, c->dram_latency + (local ? 0 : c->remote_ns) },
         long_enough);
    return true;
}

static double time_left(void *self)
{
    const struct sim *sim = self;
    if (sim->trouble.budget <= 0)
        return -1;
    return fmax(0, (sim->trouble.budget - (double)sim->requests) / 100);
}

struct sim *sim_new(const struct sim_chip *chip, const struct sim_trouble *trouble, uint64_t seed,
                    struct dg_arena *arena)
{
    struct sim *sim = dg_alloc(arena, sizeof *sim);
    if (sim == NULL || !sim_memory_init(&sim->memory, chip, trouble->neighbour, seed, arena))
        return NULL;
    sim->chip = chip;
    sim->trouble = *trouble;
    sim->random = seed * 2654435761u + 88172645463325252u;
    sim->info = (struct dg_bench_info){
        .time_source = "sim", .tick_ns = trouble->tick_ns, .clock_hz = chip->clock_hz,
        .clock_low_hz = chip->clock_hz * (trouble->clock_step > 0 ? trouble->clock_step : 1),
        .clock_high_hz = chip->clock_hz, .chains = "simulated", .cycle_source = "chains",
        .perf = "cycles: ENOENT", .page_bytes = chip->page_bytes, .huge_pages = chip->huge_pages,
        .memory_limit = chip->memory,
        .small_from = sim_small_from(chip), .cpus = chip->cpus, .pinned = true,
        .features = chip->features, .feature_count = chip->feature_count };
    dg_format(sim->cpu_list, sizeof sim->cpu_list, "0-%u", chip->cpus - 1);
    sim->info.cpu_list = sim->cpu_list;
    return sim;
}

struct dg_bench sim_bench(struct sim *sim)
{
    return (struct dg_bench){ .self = sim, .info = &sim->info, .chase = chase, .evict = evict,
                              .resample = resample, .hold = hold, .stream = stream, .loop = loop,
                              .mix = mix, .fetch = fetch, .pick = pick, .code = code,
                              .pace = pace, .fresh = fresh, .handoff = handoff, .visit = visit,
                              .remote = remote, .time_left = time_left };
}
