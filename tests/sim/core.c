/* SPDX-License-Identifier: Apache-2.0
 *
 * What a core does besides operations: cold lines, loads in each other's way, straight code, the
 * clock as it goes. */
#include <math.h>

#include "tests/sim/internal.h"

enum { PAGE = 4096, LAST_LINE = 4032, PLACE = 65536 };

/* ---- cold lines ---- */

static double cycles_of(const struct sim_chip *chip, struct sim_cost cost)
{
    return cost.cycles + cost.ns * chip->clock_hz / 1e9;
}

/* Independent loads: so many start in a cycle, so many beyond L1 are on their way at once. */
static struct sim_cost timed_loads(struct sim *sim, const struct dg_fetch *q, uint64_t moved)
{
    enum { MOST = 256 };
    const struct sim_chip *chip = sim->chip;
    double free_at[MOST] = { 0 }, end = 0;
    unsigned slots = chip->misses > 0 && chip->misses < MOST ? chip->misses : 10;
    for (size_t i = 0; i < q->timed_count; i++) {
        double translation, start = (double)i / chip->unit[SIM_LOAD].capacity;
        unsigned level = sim_access(&sim->memory, q->timed[i] + moved, &translation), slot = 0;
        struct sim_cost cost = sim_level_cost(chip, level);
        cost.cycles += translation;
        if (q->timed_count == 1)
            return cost;
        for (unsigned s = 1; s < slots; s++)
            slot = free_at[s] < free_at[slot] ? s : slot;
        double done = fmax(start, level > 0 ? free_at[slot] : 0) + cycles_of(chip, cost);
        if (level > 0)
            free_at[slot] = done;
        end = fmax(end, done);
    }
    return (struct sim_cost){ 0, end * 1e9 / chip->clock_hz };
}

static struct sim_cost fetch_once(struct sim *sim, const struct dg_fetch *q)
{
    uint64_t places = (sim->info.memory_limit - q->to) / PLACE + 1;
    uint64_t moved = (uint64_t)(sim_uniform(sim) * (double)places) * PLACE;
    for (uint64_t at = q->from; at < q->to; at += q->step > 0 ? q->step : sim->chip->l1.line)
        sim_flush(&sim->memory, at + moved);
    for (size_t i = 0; q->count == 0 && i < q->timed_count; i++)
        sim_access(&sim->memory, (q->timed[i] + moved) | LAST_LINE, &(double){ 0 });
    for (size_t i = 0; i < q->count; i++)
        sim_access(&sim->memory, q->order[i] + moved, &(double){ 0 });
    return timed_loads(sim, q, moved);
}

/* The mean of the middle ones, as the engine does; fewer of them, to take less time. */
struct sim_cost sim_fetch_cost(struct sim *sim, const struct dg_fetch *q)
{
    enum { REPEATS = 8 };
    struct sim_cost all[REPEATS], sum = { 0, 0 };
    for (unsigned i = 0; i < REPEATS; i++) {
        struct sim_cost one = fetch_once(sim, q);
        unsigned at = i;
        for (; at > 0 && cycles_of(sim->chip, all[at - 1]) > cycles_of(sim->chip, one); at--)
            all[at] = all[at - 1];
        all[at] = one;
    }
    for (unsigned i = REPEATS / 4; i < REPEATS - REPEATS / 4; i++) {
        sum.cycles += all[i].cycles / (REPEATS / 2);
        sum.ns += all[i].ns / (REPEATS / 2);
    }
    return sum;
}

/* ---- loads in each other's way ---- */

static uint32_t bank_of(const struct sim_banks *banks, uint32_t line, uint32_t offset)
{
    uint32_t number = offset / banks->bytes;
    if (banks->hashed)
        number ^= offset / line * 2654435761u >> 16;
    return number % banks->count;
}

static bool collide(const struct sim_chip *chip, uint32_t a, uint32_t b)
{
    const struct sim_banks *banks = &chip->banks;
    return banks->count > 0 && a / chip->l1.line != b / chip->l1.line &&
           bank_of(banks, chip->l1.line, a) == bank_of(banks, chip->l1.line, b);
}

double sim_pick_cycles(const struct sim_chip *chip, const struct dg_pick *q)
{
    double units[SIM_RESOURCES] = { [SIM_LOAD] = 1, [SIM_STORE] = 1 }, latency, acc;
    char op[32];
    dg_format(op, sizeof op, "load.f32.%u", q->bits);
    if (q->bits != 64 && !sim_units(chip, op, units, &latency, &acc))
        return 0;
    double loads = (q->count - q->store) * units[SIM_LOAD] / chip->unit[SIM_LOAD].capacity;
    double stores = q->store ? units[SIM_LOAD] / chip->unit[SIM_STORE].capacity : 0;
    double cycles = fmax(loads, stores);
    for (unsigned i = 0; i + 1 < q->count; i += 2) {
        uint32_t a = q->offset[i], b = q->offset[i + 1];
        if (q->store && i == 0)
            cycles += a != b && a % PAGE == b % PAGE ? chip->alias_cost : 0;
        else if (chip->unit[SIM_LOAD].capacity >= 2 && collide(chip, a, b))
            cycles += chip->bank_cost;
    }
    return cycles;
}

/* ---- straight code ---- */

/* Cycles of a pass, by lines; the last of two, so that what stays is there. */
double sim_code_cycles(struct sim *sim, const struct dg_code *q)
{
    const struct sim_front *f = &sim->chip->front;
    double slots = sim->chip->unit[SIM_ISSUE].capacity, cycles = 0;
    uint64_t instructions = q->bytes / q->length, line = f->l1i.line;
    bool kept = instructions <= f->kept;
    for (unsigned pass = 0; pass < 2; pass++) {
        cycles = 0;
        for (uint64_t at = 0; at < q->bytes; at += line) {
            unsigned level = sim_access_code(&sim->memory, at);
            double each = (double)line / q->length;
            double slow = fmax(each / f->decode, (double)line / f->fetch[level]);
            cycles += kept ? each / slots : fmax(each / slots, slow);
        }
    }
    return cycles / (double)instructions;
}

/* ---- the clock ---- */

static double part(double value)
{
    return value > 0 ? value : 1;
}

static double pace_part(const struct sim_chip *chip, const struct dg_pace *q, double ns)
{
    const struct sim_pace *p = &chip->pace;
    double idle = part(p->idle), risen = p->ramp_ms > 0 ? ns / 1e6 / p->ramp_ms : 1;
    double now = q->idle_ns > 0 && risen < 1 ? idle + (1 - idle) * risen : 1;
    now *= q->bits >= 128 ? part(p->wide[q->bits >= 512 ? 2 : q->bits >= 256]) : 1;
    return now * (q->threads == 1 ? 1 : part(p->all));
}

/* Slices as they come: nothing is thrown away, what takes longer shows. */
void sim_pace(struct sim *sim, const struct dg_pace *q, struct dg_samples *out)
{
    double ns = (double)q->warm_ns, cycles = (double)q->slice_ns * sim->chip->clock_hz / 1e9;
    out->rejected = 0;
    for (out->count = 0; out->count < out->capacity; out->count++) {
        double hz = sim_clock_now(sim) * pace_part(sim->chip, q, ns), factor = sim_disturb(sim);
        double slice = cycles * 1e9 / hz * (factor > 0 ? factor : 1.3);
        out->sample[out->count] = (struct dg_sample){ cycles, slice };
        sim->sample++;
        ns += slice;
    }
    dg_samples_summary(out);
}
