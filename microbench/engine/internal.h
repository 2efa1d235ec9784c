/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_MICROBENCH_ENGINE_INTERNAL_H
#define DG_MICROBENCH_ENGINE_INTERNAL_H

#include "microbench/engine/engine.h"
#include "microbench/loops/loops.h"
#include "microbench/walk.h"

/* The counter that times everything, found good before the first sample. */
struct clock {
    struct dg_host *host;
    bool counter;                /* host->ticks; else host->monotonic_ns */
    const char *name;
    double ns_per_tick;
    double step_ticks;           /* granularity: the smallest step seen */
    double overhead_ticks;       /* an empty pair of reads */
};

/* A check loop and how often it turns in one check. */
struct check {
    const struct dg_loop_entry *loop;
    uint64_t trips;
    double cycles_per_trip;      /* the chain: known; the others: on a quiet core */
    unsigned alike;              /* checks in a row that agree with each other, but not with that */
    double alike_sum;
};
enum check_kind { CHECK_WIDE, CHECK_PEAK, CHECK_DELAY, CHECKS };

struct counter {                 /* perf_event cycles */
    bool believed;
    int descriptor;
    double overhead;             /* cycles of an empty pair of reads */
};

/* The checks after a sample: ticks a cycle by the chain, cycles a trip by the others. */
struct checks { double ticks_per_cycle, trip[CHECKS]; uint64_t at_ns; };

/* What is read beside work with vectors of so many bits. A core may run wide instructions at
 * another clock, and go over from one to the other within microseconds: all that stands beside a
 * sample is of the sample's own width. The narrowest serves work without vectors too. */
struct width {
    unsigned bits;
    struct check chain, check[CHECKS];
    struct checks last;          /* after the sample before */
};
enum { WIDTHS_MOST = 4 };

struct engine {
    struct dg_bench_info info;
    struct dg_engine_state state;
    struct dg_host host;
    struct clock clock;
    struct counter counter;
    struct width width[WIDTHS_MOST];     /* ascending */
    size_t widths;
    void *block;                 /* memory of operation loops and of the check loops */
    unsigned char *arena;
    void *mapping;
    uint64_t arena_bytes, mapping_bytes;
    uint64_t small_at;           /* from this offset on the arena has small pages */
    uint64_t places;             /* that mixes have had so far */
    struct dg_walk walked;       /* of the last stream */
    bool walked_last;            /* nothing else ran since */
    bool long_work;              /* of milliseconds: the clock may wander a little meanwhile */
    unsigned clock_moves;        /* samples of this request that the clock moved in */
    double target_ns;            /* shortest sample */
    uint64_t opened_ns, deadline_ns, patience_ns;
    uint64_t request_ns, progress_ns, waited_ns;
    bool (*progress)(void *context, double seconds);
    void *progress_context;
    bool agree;                  /* the chains have integer ratios: cycles mean something */
    struct dg_cpus allowed;
    const char *features[DG_FEATURES_MAX];
    char chains_text[160], perf_text[128], cpu_list[1024];
};

/* Work of which `amount` units are timed. */
struct work {
    void (*run)(void *context, uint64_t amount);
    void *context;
    uint64_t amount;
    unsigned bits;               /* of the widest vectors in it; 0: none */
    void (*before)(void *context, const struct engine *e);   /* each sample; may be NULL */
    /* a good sample, where only a part of the run counts; may be NULL */
    void (*after)(void *context, const struct engine *e, struct dg_sample *total);
};

/* clock.c */
bool dg_clock_open(struct clock *clock, struct dg_host *host, struct dg_error *e);
uint64_t dg_clock_now(const struct clock *clock);
double dg_clock_elapsed(const struct clock *clock, uint64_t from, uint64_t to);  /* ticks, >= 0 */

/* chains.c: the reference chains */
enum { DG_CHAIN_CYCLES = 16000 };
bool dg_chains_open(struct engine *e, struct dg_error *error);
double dg_run_ticks(const struct engine *e, const struct dg_loop_entry *loop, uint64_t trips);
uint64_t dg_trips_for(const struct engine *e, const struct dg_loop_entry *loop, double cycles,
                      double ticks_per_cycle);
/* Ticks a cycle now, by the chain of that width. */
double dg_chain_of(const struct engine *e, const struct width *width);
double dg_chain_now(const struct engine *e);             /* by the scalar one */

/* width.c: the widths of this processor, and how units of one are woken */
bool dg_widths_open(struct engine *e, struct dg_error *error);
/* The widest that is not wider than `bits`, or the narrowest. */
struct width *dg_width_for(struct engine *e, unsigned bits);
/* Wide instructions that come one by one leave the units asleep and the clock up: where the clock
 * has moved in that many samples in a row, the scalar width takes its turn, and so on. */
enum { DG_CLOCK_MOVES = 4 };
struct width *dg_width_in_turn(struct engine *e, unsigned bits, unsigned clock_moves);
/* Ticks a cycle, with the units of that width awake. */
double dg_wake(struct engine *e, const struct width *width);

/* gate.c: the state of the core */
bool dg_gate_open(struct engine *e, struct width *width, struct dg_error *error);
struct checks dg_checks_now(const struct engine *e, const struct width *width,
                            double ticks_per_cycle);
/* Counts what it finds; learns when the core is quieter than thought. */
bool dg_chains_quiet(struct engine *e, struct width *width, const struct checks *before,
                     double first, double second, const struct checks *after);

/* sample.c */
/* One run: cycles and nanoseconds of all of it; false when it was disturbed. */
bool dg_sample_once(struct engine *e, const struct work *work, struct dg_sample *total);
enum go_on { GO_ON, GO_STOP, GO_FAIL };      /* stop: enough or no patience; fail: *error is set */
void dg_request_begin(struct engine *e, struct dg_samples *out, size_t count);
enum go_on dg_request_next(struct engine *e, unsigned attempts, unsigned failures, size_t capacity,
                        struct dg_error *error);
/* Collects samples of `work`: (total - overhead) / units. */
bool dg_sample_collect(struct engine *e, const struct work *work, double units,
                    const struct dg_sample *overhead, struct dg_samples *out,
                    struct dg_error *error);
/* Amounts of `work` that fill the shortest sample; at least 1, at most `most`. */
uint64_t dg_sample_amount(const struct engine *e, const struct work *work, uint64_t most);
double dg_work_ticks(const struct engine *e, const struct work *work);

/* timed.c: short stretches that are timed one by one, `repeats` of them for a sample, whose trimmed
 * mean it is. `run` adds `amount` times to `ticks`. */
struct timed {
    struct engine *e;
    void (*run)(void *context, uint64_t amount);
    void *context;
    double *ticks;               /* room for twice the repeats */
    size_t count;
};
bool dg_timed_collect(struct timed *t, unsigned repeats, struct dg_samples *out,
                      struct dg_error *error);

/* memory.c */
bool dg_arena_open(struct engine *e, const struct dg_engine_options *options,
                   struct dg_error *error);
void dg_arena_close(struct engine *e);
/* The non-zero pattern. */
void dg_arena_fill(const struct engine *e, uint64_t offset, uint64_t bytes);
/* The n-th place in a room that has `spare` bytes more than is put there: steps of the golden
 * section lie well apart however many there are. A multiple of 4 KiB. */
uint64_t dg_arena_place(uint64_t n, uint64_t spare);

/* perf.c */
void dg_counter_open(struct engine *e);
void dg_counter_close(struct engine *e);
bool dg_counter_read(struct engine *e, double *cycles);

/* crew.c: the next allowed CPU from *from on that is not the engine's own */
unsigned dg_next_cpu(const struct engine *e, unsigned *from);

/* chase.c: rings of pointers */
bool dg_order_bad(struct engine *e, const uint32_t *order, size_t count, const char *where,
                  struct dg_error *error);
void dg_ring_link(struct engine *e, const uint32_t *order, size_t count);
void dg_ring_unlink(struct engine *e, const uint32_t *order, size_t count);
const struct dg_chase_entry *dg_chase_loop(const struct engine *e, bool vector,
                                           struct dg_error *error);

/* requests, each in a file of its name (evict and resample with chase.c) and mix.c */
#define REQUEST(name) \
    bool dg_engine_##name(void *self, const struct dg_##name *, struct dg_samples *out, \
                          struct dg_error *);
#include "microbench/requests.def"
#undef REQUEST
bool dg_engine_mix(void *self, const struct dg_mix *, size_t count, struct dg_samples *out,
                struct dg_error *);

#endif
