/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and mixes: every line is touched, and the time is the longer of what the core needs and
 * what the lines that came from each level need. */
#include <math.h>
#include <string.h>

#include "microbench/bodies.h"
#include "tests/sim/internal.h"

/* To bring one line from a level (1 L2, 2 L3, 3 memory) at its bandwidth. */
static struct sim_cost line_cost(const struct sim_chip *chip, unsigned level)
{
    double line = chip->l1.line;
    switch (level) {
    case 0: return (struct sim_cost){ 0, 0 };
    case 1: return (struct sim_cost){ line / chip->l2_bytes, 0 };
    case 2: return (struct sim_cost){ 0, line / chip->l3_gbps };
    default: return (struct sim_cost){ 0, line / chip->dram_gbps };
    }
}

static double line_cycles(const struct sim_chip *chip, unsigned level)
{
    struct sim_cost cost = line_cost(chip, level);
    return cost.cycles + cost.ns * chip->clock_hz / 1e9;
}

static double unit_bytes(const struct sim_chip *chip, enum sim_resource resource)
{
    return chip->unit[resource].capacity * chip->unit[resource].bits / 8;
}

struct arrays { unsigned read, written; bool past; };      /* past: stores go past the caches */
static const struct arrays arrays_of[DG_TRAFFIC_COUNT] = {
    [DG_READ] = { 1, 0, false }, [DG_WRITE] = { 0, 1, false }, [DG_COPY] = { 1, 1, false },
    [DG_SCALE] = { 1, 1, false }, [DG_ADD] = { 2, 1, false }, [DG_TRIAD] = { 2, 1, false },
    [DG_NT_COPY] = { 1, 1, true }, [DG_NT_WRITE] = { 0, 1, true }, [DG_NT_TRIAD] = { 2, 1, true },
    [DG_READ_FMA] = { 1, 0, false },
};

static void add(struct sim_cost *sum, struct sim_cost cost, double times)
{
    sum->cycles += times * cost.cycles;
    sum->ns += times * cost.ns;
}

/* Bytes [from, to) of all arrays, side by side. */
static struct sim_cost pass(struct sim *sim, const struct arrays *a, const struct dg_walk *walk,
                            uint64_t from, uint64_t to)
{
    const struct sim_chip *chip = sim->chip;
    struct sim_cost lines = { 0, 0 };
    double core = (double)(to - from) * a->read / unit_bytes(chip, SIM_LOAD);
    core = fmax(core, (double)(to - from) * a->written / unit_bytes(chip, SIM_STORE));
    for (uint64_t at = from; at < to; at += chip->l1.line) {
        for (uint64_t i = 0; i < walk->side; i++) {
            bool written = i >= a->read, past = written && a->past;
            unsigned level = past ? 3 : sim_access(&sim->memory, i * walk->bytes + at, NULL);
            /* what is written must be brought in and put back */
            add(&lines, line_cost(chip, level), written && !past && level > 0 ? 2 : 1);
        }
    }
    if (core > lines.cycles + lines.ns * chip->clock_hz / 1e9)
        lines = (struct sim_cost){ core, 0 };
    return lines;
}

/* What each sample passes is where the walk stands. */
void sim_stream_cost(struct sim *sim, const struct dg_stream *q, size_t samples,
                     struct sim_cost *cost)
{
    const struct arrays *a = &arrays_of[q->kind];
    double l1 = (double)sim->chip->l1.size, l2 = (double)sim->chip->l2.size;
    double threads = q->threads == 0 ? sim->chip->cpus : q->threads;
    bool private_level = (double)q->bytes <= fmax(l1, l2) && !a->past;
    double share = private_level ? threads : fmin(threads, sim->chip->all_factor);
    unsigned count = a->read + a->written;
    struct dg_walk walk = dg_walk_over(q->bytes / count, count, 4096);
    if (!dg_walk_on(&walk, sim->walked_last && threads < 2 ? &sim->walked : NULL))
        pass(sim, a, &walk, 0, walk.bytes);
    for (size_t i = 0; i < samples; i++, dg_walk_next(&walk)) {
        uint64_t length = walk.slice > 0 ? walk.slice : walk.bytes;
        struct sim_cost all = { 0, 0 };
        cost[i] = cost[0];
        if (walk.slice == 0 && i > 0)
            continue;                            /* the same arrays again, as warm as before */
        all = pass(sim, a, &walk, walk.at, walk.at + length);
        cost[i] = (struct sim_cost){ 0, 0 };
        add(&cost[i], all, 1 / ((double)length * count * share));
    }
    sim->walked = walk;
    sim->walked_last = threads < 2;
}

/* Where the streams of a mix lie in the arena. */
struct layout { uint64_t s, rows, c, end; };

static struct layout place(const struct dg_mix *q)
{
    uint64_t bytes = q->bits / 8;
    uint64_t panel = q->steps * q->vectors * bytes / dg_mix_body_named(q->dtype)->narrow;
    uint64_t s = q->s_region > panel ? q->s_region : panel;
    struct layout l = { .rows = (s + 4095) / 4096 * 4096 };
    l.c = l.rows + (q->r_region + q->row_stride * q->rows + 4095) / 4096 * 4096;
    l.end = l.c + q->c_row_stride * q->rows + q->c_region + q->vectors * bytes;
    return l;
}

struct count { double l2, far, stored; };

static void touch(struct sim *sim, uint64_t offset, bool store, bool prefetched,
                  struct count *out)
{
    unsigned level = sim_access(&sim->memory, offset, NULL);
    double cycles = line_cycles(sim->chip, level);
    if (store)
        out->stored += level > 1 ? cycles / 2 : 0;
    else if (level == 1)
        out->l2 += cycles;
    else
        out->far += prefetched ? cycles / 8 : cycles;
}

static void make_accesses(struct sim *sim, const struct dg_mix *q, const struct layout *l,
                          uint64_t turn, struct count *out)
{
    const struct dg_mix_body *body = dg_mix_body_named(q->dtype);
    uint64_t bytes = q->bits / 8, line = sim->chip->l1.line, element = body->element;
    uint64_t s = q->s_region == 0 ? 0 :
                 turn / (q->s_repeat != 0 ? q->s_repeat : 1) * q->s_turn % q->s_region;
    uint64_t r = q->r_region == 0 ? 0 : turn * q->r_turn % q->r_region;
    uint64_t c = q->c_region == 0 ? 0 : turn * q->c_turn % q->c_region;
    uint64_t last = UINT64_MAX;
    for (uint64_t step = 0; step < q->steps; step++) {
        for (uint64_t v = 0; v < q->vectors; v++) {
            uint64_t at = l->s + s + (step * q->vectors + v) * bytes / body->narrow;
            if (at / line != last)
                touch(sim, at, false, q->prefetch, out);
            last = at / line;
        }
        for (uint64_t row = 0; row < q->rows; row++)
            touch(sim, l->rows + r + row * q->row_stride + step * element, false, false, out);
    }
    for (uint64_t i = 0; i < q->stores; i++)
        touch(sim, l->c + c + i / q->vectors * q->c_row_stride + i % q->vectors * bytes, true,
              false, out);
}

/* The form of its body, as this chip's targets have it. */
static bool form_of(const struct sim_chip *chip, const struct dg_mix *q, struct dg_mix_form *out)
{
    for (size_t i = 0; dg_isas[i] != NULL; i++)
        if (strcmp(dg_isas[i]->architecture, chip->architecture) == 0 &&
            dg_isas[i]->vector_bits == q->bits && dg_mix_form_of(dg_isas[i], q->dtype, out) &&
            dg_mix_form_usable(out, chip->features, chip->feature_count))
            return true;
    return false;
}

static double step_cycles(const struct sim_chip *chip, const struct dg_mix *q)
{
    struct dg_mix_form form;
    if (!form_of(chip, q, &form))
        return 0;
    double products = (double)q->vectors * q->rows, cycles = chip->fma_acc_latency;
    bool folded = q->vectors == 1 && form.op[DG_MIX_FOLDED] != NULL;
    const double counts[DG_MIX_PARTS] = {
        [DG_MIX_LOAD] = q->vectors, [DG_MIX_BROADCAST] = folded ? 0 : q->rows,
        [DG_MIX_MULTIPLY] = folded ? 0 : products, [DG_MIX_FOLDED] = folded ? products : 0,
        [DG_MIX_ADD] = form.accumulates ? 0 : products,
    };
    double total[SIM_RESOURCES] = { 0 };
    for (unsigned i = 0; i < DG_MIX_PARTS; i++) {
        char op[64];
        double units[SIM_RESOURCES], latency, acc;
        if (form.op[i] == NULL || counts[i] == 0)
            continue;
        dg_format(op, sizeof op, "%s.%s.%u", form.op[i]->name, form.op[i]->dtype, q->bits);
        if (!sim_units(chip, op, units, &latency, &acc))
            return 0;
        for (int r = 0; r < SIM_RESOURCES; r++)
            total[r] += counts[i] * units[r];
    }
    for (int r = 0; r < SIM_RESOURCES; r++)
        cycles = fmax(cycles, total[r] / chip->unit[r].capacity);
    return cycles;
}

double sim_turn_cycles(struct sim *sim, const struct dg_mix *q, struct dg_error *e)
{
    const struct sim_chip *chip = sim->chip;
    double step = step_cycles(chip, q), cycles = 0;
    struct layout l = step > 0 ? place(q) : (struct layout){ 0 };
    if (step <= 0 || l.end > sim->info.memory_limit) {
        dg_fail(e, DG_EXIT_UNAVAILABLE, "mix", step <= 0 ? "there is no such loop here" :
                "the streams do not fit the arena", q->dtype, "allow more memory");
        return 0;
    }
    double stores = q->stores > 8 ? 0.5 * (q->stores - 8) / chip->unit[SIM_STORE].capacity : 0;
    for (uint64_t turn = 0; turn < 2 * q->turns; turn++) {
        struct count count = { 0 };
        make_accesses(sim, q, &l, turn, &count);
        if (turn >= q->turns)
            cycles += fmax((double)q->steps * step, count.l2) + count.far + count.stored + stores +
                      (q->call ? 5 : 0);
    }
    return cycles / (double)q->turns;
}
