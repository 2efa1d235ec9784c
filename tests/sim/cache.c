/* SPDX-License-Identifier: Apache-2.0
 *
 * One cache (or TLB, whose lines are pages): sets and ways, LRU or tree PLRU. */
#include <string.h>

#include "tests/sim/sim.h"

static uint32_t log2_of(uint64_t value)
{
    uint32_t bits = 0;
    while (value > 1) {
        value >>= 1;
        bits++;
    }
    return bits;
}

bool sim_cache_init(struct sim_cache *c, const struct sim_cache_spec *spec,
                    struct dg_arena *arena)
{
    *c = (struct sim_cache){ .spec = *spec };
    if (spec->size == 0)
        return true;
    c->sets = spec->size / spec->line / spec->ways;
    c->shift = log2_of(spec->line);
    c->set_bits = log2_of(c->sets);
    size_t lines = (size_t)c->sets * spec->ways;
    c->tag = dg_alloc_array(arena, lines, sizeof *c->tag);
    c->age = dg_alloc_array(arena, lines, sizeof *c->age);
    return c->tag != NULL && c->age != NULL;
}

static uint32_t set_of(const struct sim_cache *c, uint64_t line)
{
    if (c->sets == 1)
        return 0;
    if (c->spec.hashed)
        line ^= (line >> c->set_bits) ^ (line >> (2 * c->set_bits)) ^ (line >> (3 * c->set_bits));
    return (uint32_t)(line % c->sets);
}

/* The tree splits [low, high) in halves; bit `node` set: the left half was used last. */
static void plru_use(uint64_t *bits, uint32_t way, uint32_t ways)
{
    uint32_t low = 0, high = ways, node = 1;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        bool left = way < middle;
        *bits = left ? *bits | UINT64_C(1) << node : *bits & ~(UINT64_C(1) << node);
        low = left ? low : middle;
        high = left ? middle : high;
        node = 2 * node + !left;
    }
}

static uint32_t plru_victim(uint64_t bits, uint32_t ways)
{
    uint32_t low = 0, high = ways, node = 1;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        bool right = bits >> node & 1;
        low = right ? middle : low;
        high = right ? high : middle;
        node = 2 * node + right;
    }
    return low;
}

static uint32_t victim_of(const struct sim_cache *c, uint32_t set)
{
    uint64_t *age = c->age + (size_t)set * c->spec.ways;
    if (c->spec.policy == SIM_PLRU)
        return plru_victim(age[0], c->spec.ways);
    uint32_t oldest = 0;
    for (uint32_t way = 1; way < c->spec.ways; way++)
        if (age[way] < age[oldest])
            oldest = way;
    return oldest;
}

bool sim_cache_touch(struct sim_cache *c, uint64_t address)
{
    uint64_t line = address >> c->shift;
    uint32_t set = set_of(c, line), way = 0, ways = c->spec.ways;
    uint64_t *tag = c->tag + (size_t)set * ways, *age = c->age + (size_t)set * ways;
    while (way < ways && tag[way] != line + 1)
        way++;
    bool hit = way < ways;
    for (uint32_t i = 0; way == ways && i < ways; i++)
        if (tag[i] == 0)
            way = i;
    if (way == ways)
        way = victim_of(c, set);
    tag[way] = line + 1;
    if (c->spec.policy == SIM_PLRU)
        plru_use(&age[0], way, ways);
    else
        age[way] = ++c->now;
    return hit;
}
