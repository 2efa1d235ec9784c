/* SPDX-License-Identifier: Apache-2.0
 *
 * From an offset of the arena to the level that serves it. L1 is indexed by the virtual address,
 * as its index lies within a page or is made to look so; the others by the physical one. */
#include "tests/sim/sim.h"

/* Physical addresses of 38 bits, so that line numbers fit the tags of the caches. */
enum { SMALL_PAGE = 12, HUGE_PAGE = 21, PHYSICAL_BITS = 38 };

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

bool sim_memory_init(struct sim_memory *m, const struct sim_chip *chip, double neighbour,
                     uint64_t seed, struct dg_arena *arena)
{
    *m = (struct sim_memory){ .chip = chip, .page_seed = seed, .random = seed | 1,
                              .neighbour = neighbour,
                              .page_shift = chip->huge_pages ? HUGE_PAGE : SMALL_PAGE };
    struct sim_cache_spec tlb1 = tlb_spec(&chip->tlb1);
    struct sim_cache_spec tlb2 = tlb_spec(&chip->tlb2);
    return sim_cache_init(&m->l1, &chip->l1, arena) && sim_cache_init(&m->l2, &chip->l2, arena) &&
           sim_cache_init(&m->l3, &chip->l3, arena) && sim_cache_init(&m->tlb1, &tlb1, arena) &&
           sim_cache_init(&m->tlb2, &tlb2, arena);
}

/* Of the page that holds an offset: the last quarter of the arena has small ones. */
static uint32_t shift_of(const struct sim_memory *m, uint64_t offset)
{
    return offset >= sim_small_from(m->chip) ? SMALL_PAGE : m->page_shift;
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
    uint32_t entry = m->chip->huge_as_small ? SMALL_PAGE : shift;
    uint64_t page = (offset >> entry) + (entry == SMALL_PAGE ? 0 : huge);
    if (sim_cache_touch(&m->tlb1, page))
        return 0;
    if (m->tlb2.sets == 0 || sim_cache_touch(&m->tlb2, page))
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

/* Others use L3 too: their lines push ours out. */
static void let_neighbour(struct sim_memory *m)
{
    double r = (double)(next_random(m) >> 11) * 0x1p-53;
    if (m->neighbour > 0 && r < m->neighbour)
        sim_cache_touch(&m->l3, next_random(m) >> (64 - PHYSICAL_BITS));
}

/* Behind L2; its neighbour line comes along where the chip does so. */
static unsigned from_beyond(struct sim_memory *m, uint64_t address)
{
    uint64_t buddy = address ^ m->chip->l2.line;
    bool fetch = m->chip->adjacent_line && !sim_cache_touch(&m->l2, buddy);
    if (m->l3.sets == 0)
        return 3;
    if (fetch)
        sim_cache_touch(&m->l3, buddy);
    let_neighbour(m);
    return sim_cache_touch(&m->l3, address) ? 2 : 3;
}

unsigned sim_access(struct sim_memory *m, uint64_t offset, double *translation)
{
    unsigned level = 0;
    if (translation != NULL)
        *translation = translate(m, offset);
    uint64_t address = physical(m, offset);
    if (!sim_cache_touch(&m->l1, offset)) {
        level = sim_cache_touch(&m->l2, address) ? 1 : from_beyond(m, address);
    }
    m->from[level]++;
    return level;
}

double sim_level_cycles(const struct sim_chip *chip, unsigned level)
{
    double cycle_ns = 1e9 / chip->clock_hz;
    switch (level) {
    case 0: return chip->l1.latency;
    case 1: return chip->l2.latency;
    case 2: return chip->l3.latency / cycle_ns;
    default: return chip->dram_latency / cycle_ns;
    }
}
