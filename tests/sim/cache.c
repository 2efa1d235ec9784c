/* SPDX-License-Identifier: Apache-2.0
 *
 * One cache (or TLB, whose lines are pages): sets and ways, LRU or tree PLRU. */
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
    c->tree = dg_alloc_array(arena, c->sets, sizeof *c->tree);
    return c->tag != NULL && c->tree != NULL;
}

static uint32_t set_of(const struct sim_cache *c, uint64_t line)
{
    if (c->sets == 1)
        return 0;
    if (c->spec.hashed)
        line ^= (line >> c->set_bits) ^ (line >> (2 * c->set_bits)) ^ (line >> (3 * c->set_bits));
    return (uint32_t)(c->sets & (c->sets - 1) ? line % c->sets : line & (c->sets - 1));
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

/* The tags of a set stand in the order of use, the last used first. */
static bool touch_lru(uint32_t *tag, uint32_t ways, uint32_t wanted)
{
    uint32_t moved = wanted;
    for (uint32_t way = 0; way < ways; way++) {
        uint32_t here = tag[way];
        tag[way] = moved;
        if (here == wanted)
            return true;
        if (here == 0)
            return false;
        moved = here;
    }
    return false;
}

static bool touch_plru(uint32_t *tag, uint64_t *bits, uint32_t ways, uint32_t wanted)
{
    uint32_t way = 0;
    while (way < ways && tag[way] != wanted)
        way++;
    bool hit = way < ways;
    for (uint32_t i = 0; way == ways && i < ways; i++)
        if (tag[i] == 0)
            way = i;
    if (way == ways)
        way = plru_victim(*bits, ways);
    tag[way] = wanted;
    plru_use(bits, way, ways);
    return hit;
}

bool sim_cache_touch(struct sim_cache *c, uint64_t address)
{
    uint64_t line = address >> c->shift;
    uint32_t set = set_of(c, line), wanted = (uint32_t)line + 1;
    uint32_t *tag = c->tag + (size_t)set * c->spec.ways;
    if (c->spec.policy == SIM_PLRU)
        return touch_plru(tag, &c->tree[set], c->spec.ways, wanted);
    return touch_lru(tag, c->spec.ways, wanted);
}
