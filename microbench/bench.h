/* SPDX-License-Identifier: Apache-2.0
 *
 * All that a probe sees of a machine: map memory, run a loop or an access pattern, get samples in
 * core cycles. microbench/engine implements it on hardware, tests/sim on simulated chips; patterns
 * are data, so that a simulated chip executes the accesses that the probe really makes. */
#ifndef DG_MICROBENCH_BENCH_H
#define DG_MICROBENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Memory: one arena of at most dg_bench.memory_limit bytes, mapped and touched once by the engine;
 * offsets of patterns count from its start, which is aligned to 2 MiB. Mixes place their streams
 * themselves, in memory of small pages. */

/* Pointer chases. `order` lists byte offsets visited in turn, cyclically: each load gives the next
 * address. `steps` loads are timed after `warm` passes over the whole order. */
struct dg_chase {
    const uint32_t *order;       /* offsets, multiples of 8 */
    size_t count;
    uint64_t steps;              /* timed loads; 0: one pass */
    unsigned warm;               /* whole passes before the clock starts */
    bool vector;                 /* vector load, lane moved to the address register */
};

/* Evict-and-time: touch `target`, then the `order` set `passes` times, then time the one load of
 * `target`; repeated, the trimmed mean is the sample. */
struct dg_evict {
    uint32_t target;
    const uint32_t *order;
    size_t count;
    unsigned passes, repeats;
};

/* Cold refill: stream `window` bytes with vector reads, then time dependent loads of `order`
 * whose pages were warmed in the TLB ahead (last-level capacity under noise). */
struct dg_resample {
    uint64_t window;
    const uint32_t *order;
    size_t count;
};

/* A block in use while other memory passes: before each of `walks` walks over `order` (a chase)
 * `beside` bytes of the panel [from, from + bytes) are read, which goes around. The sample is a
 * load of the block, the mean over all walks. With `push` so many bytes from `push_from` on are
 * read once after that, and only the walk behind it is timed. */
struct dg_hold {
    const uint32_t *order;
    size_t count;                /* a multiple of 16 */
    uint64_t from, bytes, beside;
    uint64_t push_from, push;
    unsigned walks;
};

enum dg_traffic {
    DG_READ, DG_WRITE, DG_COPY, DG_SCALE, DG_ADD, DG_TRIAD,
    DG_NT_COPY, DG_NT_WRITE, DG_NT_TRIAD,            /* stores that go past the caches */
    DG_READ_FMA,                                     /* a multiply-add on every vector read */
};
enum { DG_TRAFFIC_COUNT = DG_READ_FMA + 1 };

/* Bandwidth: `bytes` is the footprint of all arrays together, `passes` over it are timed. */
struct dg_stream {
    enum dg_traffic kind;
    uint64_t bytes;
    unsigned passes, threads;    /* on so many CPUs, private arrays each; 0: all allowed ones */
    unsigned step;               /* bytes read per loop pass (mix.stream); 0: the widest unroll */
    unsigned prefetch;           /* software prefetch distance in bytes; 0: none */
    unsigned streams;            /* reads: places that one array is read from side by side; 0: 1 */
    unsigned width;              /* bytes of one load; 0: the widest */
    unsigned place;              /* which copy of the loop's code, from 0; wraps */
};

/* Operation loops, made from isa/ tables by a build-time program. Latency loops exist for each
 * register operand that is read; rate loops for the counts of loops/chains.h as far as registers
 * allow; pairs of loops/pairs.def in 1:1, 2:1 and 1:2, from either side. A combination that does
 * not exist is refused with an error: ask for the next. */
enum dg_loop_kind {
    DG_LOOP_LATENCY,             /* one chain through operand `operand` (0: the accumulator) */
    DG_LOOP_RATE,                /* `chains` independent chains */
    DG_LOOP_PAIR,                /* `count_a` of `op` beside `count_b` of `other`, independent */
};
struct dg_loop {
    enum dg_loop_kind kind;
    const char *op, *other;      /* "fma.f32.256" */
    unsigned operand, chains, count_a, count_b;
};

/* Mixes: nested loops that compute while streams pass (reference form: `vectors` loads of stream
 * S and `rows` broadcasts a step, fma (i, j), then all accumulators stored). Nothing knows a GEMM.
 *
 * One turn: `steps` steps of S (sequential) and of the rows (each row its own pointer, row_stride
 * apart), accumulators = vectors x rows, then `stores` of them stored to C. After a turn: S moves
 * on by s_turn bytes (0: rewinds to the same place) and wraps at s_region; the rows likewise by
 * r_turn and r_region; C by c_turn and c_region. A pass over S may be repeated before S moves:
 * s_repeat turns read the same S. */
struct dg_mix {
    const char *dtype;           /* "f32" */
    unsigned bits, vectors, rows;
    unsigned stores;             /* none (0) or all of the accumulators */
    uint64_t steps;              /* a multiple of 4 */
    uint64_t turns;              /* turns per timed sample, after as many to warm up */
    uint64_t s_turn, s_region, s_repeat;
    uint64_t row_stride, r_turn, r_region;
    uint64_t c_turn, c_region, c_row_stride;
    bool c_read;                 /* C is read, added and written */
    bool prefetch;               /* the next S panel is prefetched to L2, spread over the steps */
    bool call;                   /* time a call per turn (mix.call) */
    bool anew;                   /* every sample at another place of memory, written before: which
                                    physical pages meet in a cache is luck that lasts a process */
};

/* The clock as it goes: after idle_ns without work and warm_ns of it, a reference chain runs beside
 * vector multiply-adds of `bits` (0: the chain alone) on so many CPUs (0: all). The samples are
 * slices of slice_ns one after the other, none left out: cycles of the chain in the slice (mean
 * over the CPUs) and its time. */
struct dg_pace {
    unsigned bits, threads;
    uint64_t idle_ns, warm_ns, slice_ns;
};

/* Cold lines: those of [from, to) are in no cache; `order` is loaded in turn, each load `gap`
 * cycles after the one before has come; then, after `rest` cycles, the loads of `timed` are timed,
 * independent of each other. Repeated, each time at another place of the arena (all offsets move
 * alike); the trimmed mean of the whole time of `timed` is the sample. Without an order the last
 * lines of the pages of `timed` are loaded first, for their translations. */
struct dg_fetch {
    uint32_t from, to, step;     /* step: of the lines that are flushed there; 0: all of them */
    const uint32_t *order;
    size_t count;
    unsigned gap, rest, repeats;
    const uint32_t *timed;
    size_t timed_count;
};

/* Loads of `count` places in turn, independent of each other, all in L1; with `store` the first
 * place is stored to instead. A unit is one round over the places. */
enum { DG_PICKS = 4 };
struct dg_pick {
    uint32_t offset[DG_PICKS];
    unsigned count;              /* 2 or 4 */
    unsigned bits;               /* 64, or of a vector */
    bool store;
};

/* Straight code: instructions of `length` bytes that do nothing, `bytes` of them again and again.
 * A unit is one instruction. */
struct dg_code {
    uint64_t bytes;
    unsigned length;
};

/* Fresh memory: `bytes` are mapped, one word of every page is written, and all is given back; with
 * `huge` the mapping asks for huge pages (refused when they are not given). A unit is a page. */
struct dg_fresh {
    uint64_t bytes;
    bool huge;
};

/* One line of memory goes back and forth between a thread on CPU `a` and one on CPU `b`; a unit is
 * one hand-over, half of a round trip. Cycles are those of `a`. */
struct dg_handoff { unsigned a, b; };

/* A latency loop on another CPU, in cycles of that CPU: its own chain of additions beside it, and
 * no more checks, since what they read on a quiet core differs from kind to kind. */
struct dg_visit {
    unsigned cpu;
    struct dg_loop loop;
};

/* Dependent loads over `bytes` of new memory that a thread on CPU `home` has written first, which
 * places it on that CPU's node, from the measured CPU. A unit is a load. */
struct dg_remote {
    unsigned home;
    uint64_t bytes;
};

/* One sample each: core cycles (calibrated by the chains around it) and nanoseconds, per unit of
 * the request: a load for chases, a byte for streams, an operation of `op` for loops (pairs: one
 * group of count_a + count_b), a turn for mixes. */
struct dg_sample { double cycles, ns; };

enum dg_core_state { DG_QUIET, DG_DISTURBED, DG_UNKNOWN_STATE };

struct dg_samples {
    struct dg_sample *sample;    /* accepted (quiet) samples only; the caller's array */
    size_t count, capacity;
    size_t rejected;             /* thrown away: clock step, switch, fault, migration, disturbed */
    /* filled by dg_samples_summary */
    double median, low, high;    /* cycles: median, lower and upper quartile */
    double median_ns, low_ns, high_ns;
    bool reliable;               /* at least 5 samples, median and lower quartile within 0.5 % */
};
void dg_samples_summary(struct dg_samples *samples);

/* What the engine found out before the first probe. */
struct dg_bench_info {
    const char *time_source;     /* "tsc", "cntvct", "clock_monotonic_raw", "sim" */
    double tick_ns;              /* granularity of it, measured */
    double clock_hz;             /* sustained one-core clock while probing, measured */
    double clock_low_hz, clock_high_hz;
    const char *chains;          /* "add 1, xor-rotate 2, multiply 3: agree within 0.3 %" */
    const char *cycle_source;    /* "chains" or "perf_event" */
    const char *perf;            /* "open", or errno by name with the event: "cycles: ENOENT" */
    unsigned page_bytes;
    bool huge_pages;             /* the arena really got them */
    bool memory_short;           /* memory_limit is under 4 x the last level claimed or found */
    uint64_t memory_limit;
    uint64_t small_from;         /* from this offset on the arena has small pages only */
    unsigned cpu, cpus;          /* the pinned CPU and how many are allowed */
    const char *cpu_list;        /* those, as "0-3,8"; NULL or "": only the pinned one is known */
    bool pinned, emulated;
    const char *const *features; /* usable here, /proc/cpuinfo names */
    size_t feature_count;
};

/* The rules by which the end of a run refuses requests. */
#define DG_RULE_INTERRUPTED "interrupted"
#define DG_RULE_OVER "the time budget is over"

struct dg_bench {
    void *self;
    const struct dg_bench_info *info;
    /* Each fills `out` with up to out->capacity accepted samples, spread in time, waiting (bounded)
     * for a quiet core. False: the request cannot be run here (*e says why: no such loop, no
     * feature, offset outside the arena), or the budget is over. */
#define REQUEST(name) \
    bool (*name)(void *self, const struct dg_##name *, struct dg_samples *out, struct dg_error *e);
#include "microbench/requests.def"
#undef REQUEST
    /* Runs `count` mixes round robin, so that neighbours share the state of the machine. */
    bool (*mix)(void *self, const struct dg_mix *, size_t count, struct dg_samples *out,
                struct dg_error *e);
    /* Seconds of budget left; negative: none. */
    double (*time_left)(void *self);
};

#endif
