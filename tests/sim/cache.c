/* SPDX-License-Identifier: Apache-2.0
 *
 * One cache (or TLB, whose lines are pages): sets and ways; LRU, tree PLRU or random replacement.
 * Lines are told by their address in the arena and found by another one, the physical. */
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
    *c = (struct sim_cache){ .spec = *spec, .random = UINT64_C(88172645463325252) };
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

static uint32_t random_way(struct sim_cache *c)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return (uint32_t)(c->random >> 33) % c->spec.ways;
}

static uint32_t find(const uint32_t *tag, uint32_t ways, uint32_t wanted)
{
    uint32_t way = 0;
    while (way < ways && tag[way] != wanted)
        way++;
    return way;
}

/* The tags of a set stand in the order of use, the last used first. Returns the tag that had to go,
 * 0: none. */
static uint32_t put_lru(uint32_t *tag, uint32_t ways, uint32_t way, uint32_t wanted)
{
    uint32_t gone = way == ways ? tag[ways - 1] : 0;
    memmove(tag + 1, tag, (way == ways ? ways - 1 : way) * sizeof *tag);
    tag[0] = wanted;
    return gone;
}

static uint32_t put_elsewhere(struct sim_cache *c, uint32_t set, uint32_t *tag, uint32_t way,
                              uint32_t wanted)
{
    uint32_t ways = c->spec.ways, gone = 0;
    bool tree = c->spec.policy == SIM_PLRU;
    if (way == ways)
        way = find(tag, ways, 0);
    if (way == ways) {
        way = tree ? plru_victim(c->tree[set], ways) : random_way(c);
        gone = tag[way];
    }
    tag[way] = wanted;
    if (tree)
        plru_use(&c->tree[set], way, ways);
    return gone;
}

bool sim_cache_access(struct sim_cache *c, uint64_t index, uint64_t address, uint64_t *lost)
{
    uint32_t set = set_of(c, index >> c->shift), ways = c->spec.ways;
    uint32_t wanted = (uint32_t)(address >> c->shift) + 1;
    uint32_t *tag = c->tag + (size_t)set * ways;
    uint32_t way = tag[0] == wanted ? 0 : find(tag, ways, wanted);
    bool lru = c->spec.policy == SIM_LRU;
    uint32_t gone = lru ? put_lru(tag, ways, way, wanted) :
                    put_elsewhere(c, set, tag, way, wanted);
    if (lost != NULL)
        *lost = gone == 0 ? SIM_NOTHING : (uint64_t)(gone - 1) << c->shift;
    return way < ways;
}

bool sim_cache_drop(struct sim_cache *c, uint64_t index, uint64_t address)
{
    uint32_t ways = c->spec.ways;
    uint32_t *tag = c->tag + (size_t)set_of(c, index >> c->shift) * ways;
    uint32_t way = find(tag, ways, (uint32_t)(address >> c->shift) + 1);
    if (way == ways)
        return false;
    if (c->spec.policy == SIM_LRU) {
        memmove(tag + way, tag + way + 1, (ways - 1 - way) * sizeof *tag);
        way = ways - 1;
    }
    tag[way] = 0;
    return true;
}
