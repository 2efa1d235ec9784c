/* SPDX-License-Identifier: Apache-2.0
 *
 * From an offset of the arena to the level that serves it. L1 is indexed by the virtual address,
 * as its index lies within a page or is made to look so; the others by the physical one. Offsets
 * beyond the arena are the memory of others. */
#include "tests/sim/sim.h"

/* Addresses of 37 bits, so that numbers of lines of 32 bytes fit the tags of the caches. */
enum { HUGE_PAGE = 21, PHYSICAL_BITS = 37 };
static const uint64_t CODE_FROM = UINT64_C(3) << (PHYSICAL_BITS - 2);

uint64_t sim_small_from(const struct sim_chip *chip)
{
    return chip->memory / 4 * 3 >> HUGE_PAGE << HUGE_PAGE;
}

/* A TLB is a cache whose lines are pages, told by their numbers. */
static struct sim_cache_spec tlb_spec(const struct sim_tlb_spec *t)
{
    return (struct sim_cache_spec){ .size = t->entries, .line = 1,
                                    .ways = t->ways == 0 ? t->entries : t->ways };
}

static uint32_t small_shift(const struct sim_chip *chip)
{
    uint32_t shift = 12;
    while (UINT32_C(1) << shift < chip->page_bytes)
        shift++;
    return shift;
}

bool sim_memory_init(struct sim_memory *m, const struct sim_chip *chip, double neighbour,
                     uint64_t seed, struct dg_arena *arena)
{
    *m = (struct sim_memory){ .chip = chip, .page_seed = seed, .random = seed | 1,
                              .neighbour = neighbour, .small_shift = small_shift(chip),
                              .prefetch = { .spec = chip->prefetch } };
    m->page_shift = chip->huge_pages ? HUGE_PAGE : m->small_shift;
    struct sim_cache_spec tlb1 = tlb_spec(&chip->tlb1);
    struct sim_cache_spec tlb2 = tlb_spec(&chip->tlb2);
    return sim_cache_init(&m->l1, &chip->l1, arena) && sim_cache_init(&m->l2, &chip->l2, arena) &&
           sim_cache_init(&m->l3, &chip->l3, arena) &&
           sim_cache_init(&m->l1i, &chip->front.l1i, arena) &&
           sim_cache_init(&m->tlb1, &tlb1, arena) && sim_cache_init(&m->tlb2, &tlb2, arena);
}

/* Of the page that holds an offset: the last quarter of the arena has small ones. */
static uint32_t shift_of(const struct sim_memory *m, uint64_t offset)
{
    return offset >= sim_small_from(m->chip) ? m->small_shift : m->page_shift;
}

/* Frames of pages: a bijection that scatters (xor-shift and multiply by odd numbers). */
static uint64_t frame_of(const struct sim_memory *m, uint64_t page, uint32_t shift)
{
    const uint64_t mask = (UINT64_C(1) << (PHYSICAL_BITS - shift)) - 1;
    uint64_t x = (page + m->page_seed * 7919) & mask;
    x ^= x >> 13;
    x = x * 0x2545f4915u & mask;
    x ^= x >> 11;
    x = x * 0x9e3779b1u & mask;
    return x ^ x >> 13;
}

static uint64_t physical(const struct sim_memory *m, uint64_t offset)
{
    uint32_t shift = shift_of(m, offset);
    return frame_of(m, offset >> shift, shift) << shift |
           (offset & ((UINT64_C(1) << shift) - 1));
}

static double translate(struct sim_memory *m, uint64_t offset)
{
    /* pages of both kinds share the entries where the chip gives huge pages any */
    const uint64_t huge = UINT64_C(1) << 24;
    uint32_t shift = shift_of(m, offset);
    uint32_t entry = m->chip->huge_as_small ? m->small_shift : shift;
    uint64_t page = (offset >> entry) + (entry == m->small_shift ? 0 : huge);
    if (sim_cache_access(&m->tlb1, page, page, NULL))
        return 0;
    if (m->tlb2.sets == 0 || sim_cache_access(&m->tlb2, page, page, NULL))
        return m->chip->tlb2.cost;
    return m->chip->walk;
}

static uint64_t next_random(struct sim_memory *m)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random;
}

/* ---- the levels ---- */

/* Takes the lines of [from, from + bytes) out; lines of levels may be of different lengths. */
static void drop(struct sim_cache *c, bool by_physical, const struct sim_memory *m, uint64_t from,
                 uint32_t bytes)
{
    for (uint64_t at = from; c->sets != 0 && at < from + bytes; at += c->spec.line)
        sim_cache_drop(c, by_physical ? physical(m, at) : at, at);
}

/* True: L3 had it. A victim cache gives it away, the others keep or take it. */
static bool ask_l3(struct sim_memory *m, uint64_t offset, uint64_t index)
{
    uint64_t lost;
    if (m->l3.sets == 0)
        return false;
    if (m->l3.spec.keeps == SIM_VICTIM)
        return sim_cache_drop(&m->l3, index, offset);
    bool hit = sim_cache_access(&m->l3, index, offset, &lost);
    if (m->l3.spec.keeps == SIM_INCLUSIVE && lost != SIM_NOTHING) {
        drop(&m->l2, true, m, lost, m->l3.spec.line);
        drop(&m->l1, false, m, lost, m->l3.spec.line);
    }
    return hit;
}

static void lost_from_l2(struct sim_memory *m, uint64_t line)
{
    if (line == SIM_NOTHING)
        return;
    if (m->l2.spec.keeps == SIM_INCLUSIVE)
        drop(&m->l1, false, m, line, m->l2.spec.line);
    if (m->l3.sets != 0 && m->l3.spec.keeps == SIM_VICTIM)
        sim_cache_access(&m->l3, physical(m, line), line, NULL);
}

/* Others use L3 too: their lines push ours out. */
static void let_neighbour(struct sim_memory *m)
{
    double r = (double)(next_random(m) >> 11) * 0x1p-53;
    if (m->neighbour <= 0 || m->l3.sets == 0 || r >= m->neighbour)
        return;
    uint64_t theirs = m->chip->memory + (next_random(m) >> (64 - PHYSICAL_BITS + 1));
    uint64_t index = physical(m, theirs);
    if (m->l3.spec.keeps == SIM_VICTIM)
        sim_cache_access(&m->l3, index, theirs, NULL);
    else
        ask_l3(m, theirs, index);
}

/* Brings a line into L2; the level that had it. */
static unsigned fill_l2(struct sim_memory *m, uint64_t offset)
{
    uint64_t index = physical(m, offset), lost;
    if (sim_cache_access(&m->l2, index, offset, &lost))
        return 1;
    unsigned level = ask_l3(m, offset, index) ? 2 : 3;
    lost_from_l2(m, lost);
    return level;
}

static void bring(struct sim_memory *m, uint64_t offset)
{
    const uint32_t line = m->l1.spec.line;
    struct sim_brought lines;
    if (m->prefetch.spec.stride == 0 && m->prefetch.spec.streams == 0)
        return;
    sim_prefetch(&m->prefetch, offset, line, &lines);
    for (unsigned i = 0; i < lines.l1; i++)
        if (!sim_cache_access(&m->l1, lines.to_l1[i] * line, lines.to_l1[i] * line, NULL))
            fill_l2(m, lines.to_l1[i] * line);
    for (unsigned i = 0; i < lines.l2; i++)
        fill_l2(m, lines.to_l2[i] * line);
}

unsigned sim_access(struct sim_memory *m, uint64_t offset, double *translation)
{
    unsigned level = 0;
    if (translation != NULL)
        *translation = translate(m, offset);
    if (!sim_cache_access(&m->l1, offset, offset, NULL)) {
        level = fill_l2(m, offset);
        if (level > 1 && m->chip->adjacent_line)
            fill_l2(m, offset ^ m->chip->l2.line);
        if (level > 1)
            let_neighbour(m);
    }
    m->from[level]++;
    bring(m, offset);
    return level;
}

unsigned sim_access_code(struct sim_memory *m, uint64_t offset)
{
    uint64_t at = CODE_FROM + offset;
    return sim_cache_access(&m->l1i, at, at, NULL) ? 0 : fill_l2(m, at);
}

void sim_flush(struct sim_memory *m, uint64_t offset)
{
    drop(&m->l1, false, m, offset, 1);
    drop(&m->l2, true, m, offset, 1);
    drop(&m->l3, true, m, offset, 1);
}

struct sim_cost sim_level_cost(const struct sim_chip *chip, unsigned level)
{
    switch (level) {
    case 0: return (struct sim_cost){ chip->l1.latency, 0 };
    case 1: return (struct sim_cost){ chip->l2.latency, 0 };
    case 2: return (struct sim_cost){ 0, chip->l3.latency };
    default: return (struct sim_cost){ 0, chip->dram_latency };
    }
}
