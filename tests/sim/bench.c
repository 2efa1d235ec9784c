/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests of a bench on a simulated chip, and the noise of samples. */
#include <math.h>
#include <string.h>

#include "tests/sim/internal.h"

static double uniform(struct sim *sim)
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
        sum += uniform(sim);
    return sum;
}

/* Factor on the time of one sample; negative: the engine throws it away. */
static double disturb(struct sim *sim)
{
    const struct sim_trouble *t = &sim->trouble;
    double factor = 1 + t->jitter * normal(sim);
    if (uniform(sim) < t->steal)
        return -1;
    if (uniform(sim) < t->outliers)
        factor *= 1 + uniform(sim);
    if (uniform(sim) < t->sibling) {
        if (uniform(sim) >= t->leak)
            return -1;
        factor *= 1.5 + 0.5 * uniform(sim);
    }
    /* a sample lasts 30 us at least, or 200 ticks */
    if (t->tick_ns > 0)
        factor *= 1 + t->tick_ns / fmax(30000, 200 * t->tick_ns) * (uniform(sim) - 0.5);
    return factor;
}

static double clock_now(const struct sim *sim)
{
    bool low = sim->trouble.clock_step > 0 && sim->sample / 40 % 3 == 1;
    return sim->chip->clock_hz * (low ? sim->trouble.clock_step : 1);
}

/* Before each request: true when the budget is over. */
static bool over(struct sim *sim, bool keeps_window)
{
    sim->requests++;
    sim->window = keeps_window ? sim->window : 0;
    return sim->trouble.budget > 0 && (double)sim->requests > sim->trouble.budget;
}

static bool refuse_budget(struct dg_error *e)
{
    return dg_fail(e, DG_EXIT_UNAVAILABLE, "budget", "the time allowed is over", "",
                   "allow more time");
}

/* L3 and memory follow the core clock here, so a step of it changes ns and leaves cycles. */
static void fill(struct sim *sim, struct dg_samples *out, double cycles)
{
    out->count = out->rejected = 0;
    for (size_t tries = 0; out->count < out->capacity && tries < 20 * out->capacity; tries++) {
        double factor = disturb(sim), hz = clock_now(sim);
        sim->sample++;
        if (factor < 0) {
            out->rejected++;
            continue;
        }
        out->sample[out->count].cycles = cycles * factor;
        out->sample[out->count++].ns = cycles * factor * 1e9 / hz;
    }
    dg_samples_summary(out);
}

static bool inside(const struct sim *sim, const uint32_t *order, size_t count, struct dg_error *e)
{
    for (size_t i = 0; i < count; i++)
        if (order[i] + UINT64_C(64) > sim->info.memory_limit)
            return dg_fail(e, DG_EXIT_UNAVAILABLE, "chase", "an offset lies outside the arena", "",
                           "allow more memory");
    return count > 0 || dg_fail(e, DG_EXIT_INTERNAL, "chase", "the order is empty", "", "");
}

static double load_cycles(struct sim *sim, uint32_t offset, bool vector, bool translated)
{
    double translation;
    unsigned level = sim_access(&sim->memory, offset, &translation);
    return sim_level_cycles(sim->chip, level) + (translated ? translation : 0) +
           (vector ? sim->chip->vector_load_extra + sim->chip->moves[1] : 0);
}

static bool chase(void *self, const struct dg_chase *q, struct dg_samples *out,
                  struct dg_error *e)
{
    struct sim *sim = self;
    double cycles = 0;
    if (over(sim, false))
        return refuse_budget(e);
    if (!inside(sim, q->order, q->count, e))
        return false;
    for (unsigned pass = 0; pass < q->warm; pass++)
        for (size_t i = 0; i < q->count; i++)
            sim_access(&sim->memory, q->order[i], &(double){ 0 });
    uint64_t steps = q->steps != 0 ? q->steps : q->count;
    for (uint64_t i = 0; i < steps; i++)
        cycles += load_cycles(sim, q->order[i % q->count], q->vector, true);
    fill(sim, out, cycles / (double)steps);
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
    load_cycles(sim, q->target, false, true);
    for (unsigned pass = 0; pass < q->passes; pass++)
        for (size_t i = 0; i < q->count; i++)
            load_cycles(sim, q->order[i], false, true);
    fill(sim, out, load_cycles(sim, q->target, false, true));
    return true;
}

static bool resample(void *self, const struct dg_resample *q, struct dg_samples *out,
                     struct dg_error *e)
{
    struct sim *sim = self;
    double cycles = 0;
    if (over(sim, true))
        return refuse_budget(e);
    if (!inside(sim, q->order, q->count, e))
        return false;
    if (q->window > sim->info.memory_limit)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "resample", "the window is larger than the arena",
                       "", "allow more memory");
    /* The same window again right after: it is still there as it passed, but for a few hundred
     * lines of the sample. Streaming it once more would only take the test's time. */
    bool again = sim->window == q->window;
    for (uint64_t offset = 0; !again && offset < q->window; offset += sim->chip->l1.line)
        sim_access(&sim->memory, offset, NULL);
    sim->window = q->window;
    for (size_t i = 0; i < q->count; i++)
        cycles += load_cycles(sim, q->order[i], false, false);
    fill(sim, out, cycles / (double)q->count);
    return true;
}

static bool stream(void *self, const struct dg_stream *q, struct dg_samples *out,
                   struct dg_error *e)
{
    struct sim *sim = self;
    if (over(sim, false))
        return refuse_budget(e);
    if (q->bytes == 0 || q->bytes > sim->info.memory_limit)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "stream", "the arrays do not fit the arena", "",
                       "allow more memory");
    fill(sim, out, sim_stream_cycles(sim, q));
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
    fill(sim, out, cycles);
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
        fill(sim, &out[i], cycles);
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
    fill(sim, out, (ns > 0 ? ns : 40) * c->clock_hz * 1e-9);
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
    fill(sim, out, (c->dram_latency + (local ? 0 : c->remote_ns)) * c->clock_hz * 1e-9);
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
        .perf = "cycles: ENOENT", .page_bytes = 4096, .huge_pages = chip->huge_pages,
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
                              .resample = resample, .stream = stream, .loop = loop, .mix = mix,
                              .handoff = handoff, .visit = visit, .remote = remote,
                              .time_left = time_left };
}
