/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulated chips behind struct dg_bench. The accesses that a probe asks for are really made, on
 * caches with sets, ways and replacement, on translations, on pages scattered in physical memory;
 * operations share the units of a resource model. What comes out is disturbed by noise. */
#ifndef DG_TESTS_SIM_H
#define DG_TESTS_SIM_H

#include "base/arena.h"
#include "microbench/bench.h"

enum sim_policy { SIM_LRU, SIM_PLRU, SIM_RANDOM };
/* What a level keeps of the level before it: what happens to be there, all of it (what it loses is
 * lost before as well), or only what the level before has pushed out. */
enum sim_inclusion { SIM_EITHER, SIM_INCLUSIVE, SIM_VICTIM };

struct sim_cache_spec {
    uint32_t size, ways, line;           /* size 0: there is none */
    enum sim_policy policy;
    bool hashed;                         /* upper address bits are folded into the index */
    enum sim_inclusion keeps;            /* L2: SIM_EITHER or SIM_INCLUSIVE */
    double latency;                      /* L1, L2: cycles; L3: ns */
};

struct sim_tlb_spec {
    uint32_t entries, ways;              /* ways 0: any entry takes any page */
    double cost;                         /* cycles that a hit here adds */
};

/* Prefetchers. `stride`: the last loads stood so far apart, twice; up to so many bytes it is
 * followed, and so many lines further on come to L1. `streams`: lines one behind the other in a
 * page of 4 KiB, of so many pages at once; so many lines further on come to L2. 0: none. */
struct sim_prefetch_spec {
    uint32_t stride, stride_lines;
    uint32_t streams, stream_lines;
    bool crosses_page;
};

/* Loads of the same bank of different lines take turns. hashed: the line counts as well. */
struct sim_banks { uint32_t count, bytes; bool hashed; };

/* Code: instructions that are kept decoded and run as fast as there are slots; others are decoded
 * at so many a cycle, fetched at so many bytes a cycle from L1I, L2, L3 and memory. */
struct sim_front {
    struct sim_cache_spec l1i;
    uint32_t kept;
    double decode, fetch[4];
};

/* The clock over time, as parts of clock_hz: after idle, beside vector work of more and more bits,
 * of all CPUs at once. 0: 1. */
struct sim_pace { double idle, ramp_ms, wide[3], all; };

/* Units a cycle of one resource, and how many bits one unit handles (wider operations take
 * several units); 0 bits: any width takes one. */
struct sim_unit { double capacity; unsigned bits; };
enum sim_resource { SIM_MULTIPLY, SIM_LOAD, SIM_STORE, SIM_INTEGER, SIM_ISSUE, SIM_RESOURCES };

struct sim_chip {
    const char *name, *architecture;
    const char *const *features;
    size_t feature_count;
    struct sim_cache_spec l1, l2, l3;
    struct sim_tlb_spec tlb1, tlb2;
    double walk;                         /* cycles of a page walk */
    double dram_latency;                 /* ns */
    double clock_hz;
    double vector_load_extra;            /* cycles that a vector load takes longer */
    double moves[2];                     /* cycles from a scalar to a vector register, and back */
    double fma_latency, fma_acc_latency, add_latency;
    struct sim_unit unit[SIM_RESOURCES];
    double l2_bytes, l3_gbps, dram_gbps, all_factor;   /* all_factor: all CPUs over one */
    unsigned cpus, vector_registers;
    /* CPUs among each other; 0: they are all near, of one kind, on one node */
    unsigned cluster;                    /* so many next to each other share a cache */
    double near_ns, far_ns;              /* a hand-over within and across; 0: 40 */
    unsigned other_kind_from;            /* from this CPU on latencies are twice as long */
    unsigned node_cpus;                  /* so many are on one node */
    double remote_ns;                    /* added to memory of another node */
    struct sim_prefetch_spec prefetch;
    struct sim_banks banks;
    double bank_cost, alias_cost;        /* cycles: of a pair that collides; of a load that has the
                                            low 12 bits of a store before it */
    unsigned misses;                     /* lines that are on their way to L1 at once; 0: 10 */
    struct sim_front front;
    struct sim_pace pace;
    double first_touch[2];               /* ns of a small and of a huge page */
    uint32_t page_bytes;                 /* of the smallest page */
    bool huge_pages, adjacent_line;      /* adjacent: an L2 miss brings its neighbour line too */
    bool huge_as_small;                  /* huge pages bring no more than small translations */
    uint64_t memory;                     /* bytes that may be mapped */
};

/* What is not as it should be. */
struct sim_trouble {
    double jitter;                       /* relative, of every sample */
    double outliers;                     /* share of samples that take up to twice as long */
    double steal;                        /* share of samples that the engine throws away */
    double sibling;                      /* share of samples beside a busy sibling ... */
    double leak;                         /* ... of which this share is not noticed */
    double clock_step;                   /* the clock falls to this part and comes back; 0: never */
    double tick_ns;                      /* granularity of the time source */
    double neighbour;                    /* lines of others in L3 for each of ours */
    double budget;                       /* requests before the time is over; 0: no limit */
};

struct sim;

/* Everything lives in the arena, which must be able to grow. NULL: no memory. */
struct sim *sim_new(const struct sim_chip *chip, const struct sim_trouble *trouble, uint64_t seed,
                    struct dg_arena *arena);
/* The simulation as a bench; it lives as long as the sim. */
struct dg_bench sim_bench(struct sim *sim);

/* ---- parts, for the tests of the simulation itself ---- */

#define SIM_NOTHING UINT64_MAX
struct sim_cache {
    struct sim_cache_spec spec;
    uint32_t sets, shift, set_bits;
    uint32_t *tag;                       /* line number + 1, cut to 32 bits; 0: empty */
    uint64_t *tree;                      /* PLRU: bits of the tree, by set */
    uint64_t random;
};
bool sim_cache_init(struct sim_cache *cache, const struct sim_cache_spec *spec,
                    struct dg_arena *arena);
/* True: the line of `address` was there. Otherwise it is put in, and *lost gets the address of the
 * line that had to go, or SIM_NOTHING. The set is found by another address, `index`. */
bool sim_cache_access(struct sim_cache *cache, uint64_t index, uint64_t address, uint64_t *lost);
/* Takes the line out; true: it was there. */
bool sim_cache_drop(struct sim_cache *cache, uint64_t index, uint64_t address);

/* What prefetchers have seen. */
enum { SIM_STREAMS = 64 };
struct sim_prefetch {
    struct sim_prefetch_spec spec;
    uint64_t last;                               /* line of the last load */
    int64_t delta;
    unsigned seen;                               /* steps of it in a row */
    struct { uint64_t page, line, used; unsigned seen; } stream[SIM_STREAMS];
    uint64_t time;
};
/* After a load of a line: fills `to_l1` and `to_l2` with lines that are brought, their numbers. */
struct sim_brought { uint64_t to_l1[SIM_STREAMS], to_l2[SIM_STREAMS]; unsigned l1, l2; };
void sim_prefetch(struct sim_prefetch *p, uint64_t offset, uint32_t line, struct sim_brought *out);

/* Caches, translations and pages: what a load at an offset of the arena costs. */
struct sim_memory {
    const struct sim_chip *chip;
    struct sim_cache l1, l2, l3, l1i, tlb1, tlb2;
    struct sim_prefetch prefetch;
    uint64_t page_seed;
    uint32_t page_shift, small_shift;
    uint64_t random;
    double neighbour;
    uint64_t from[4];                    /* lines served by L1, L2, L3, memory */
};
bool sim_memory_init(struct sim_memory *memory, const struct sim_chip *chip, double neighbour,
                     uint64_t seed, struct dg_arena *arena);
/* Where the small pages of the arena begin. */
uint64_t sim_small_from(const struct sim_chip *chip);
/* Level 0..3 that served the line; *translation gets the cycles of the TLBs. */
unsigned sim_access(struct sim_memory *memory, uint64_t offset, double *translation);
/* The same for code, which lies outside the arena, from its first byte. */
unsigned sim_access_code(struct sim_memory *memory, uint64_t offset);
/* The line of an offset is in no cache. */
void sim_flush(struct sim_memory *memory, uint64_t offset);
/* Core cycles, and ns of what has a clock of its own. */
struct sim_cost { double cycles, ns; };
struct sim_cost sim_level_cost(const struct sim_chip *chip, unsigned level);

/* Units that one operation ("fma.f32.256") takes of each resource; false: the chip has no such. */
bool sim_units(const struct sim_chip *chip, const char *op, double units[SIM_RESOURCES],
               double *latency, double *acc_latency);
/* Cycles of count_a of a and count_b of b, independent; b may be NULL. */
double sim_group_cycles(const struct sim_chip *chip, const char *a, unsigned count_a,
                        const char *b, unsigned count_b);

#endif
