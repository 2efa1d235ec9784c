/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops that the engine times, as tables. generate/ writes the functions and the tables when
 * the tool is built: operation loops from the rows of isa/, chases, streams and mixes from
 * templates. Every entry names the features it needs; nothing here may be called without them. */
#ifndef DG_MICROBENCH_LOOPS_LOOPS_H
#define DG_MICROBENCH_LOOPS_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "microbench/bench.h"

/* The block of memory that operation loops read and write; laid out by dg_loop_block_fill. */
enum {
    DG_BLOCK_F32 = 0,          /* f32, bf16 and integer rows load from here: all 1.0f */
    DG_BLOCK_F16 = 2048,       /* f16 rows: all 1.0 */
    DG_BLOCK_F64 = 4096,       /* f64 rows: all 1.0 */
    DG_BLOCK_ONE_F32 = 8192, DG_BLOCK_TINY_F32 = 8256,    /* 64 bytes of 1 and of 2^-40 */
    DG_BLOCK_ONE_F64 = 8320, DG_BLOCK_TINY_F64 = 8384,
    DG_BLOCK_ONE_F16 = 8448, DG_BLOCK_TINY_F16 = 8512,    /* of 1 and of 2^-14 */
    DG_BLOCK_STORE = 9728,     /* stores go here: no load shares its low 12 bits */
    DG_BLOCK_BYTES = 16384,
};
void dg_loop_block_fill(void *block);

struct dg_loop_entry {
    enum dg_loop_kind kind;
    const char *op, *other;    /* "fma.f32.256"; other NULL unless a pair */
    unsigned operand, chains, count_a, count_b;
    const char *features;      /* comma separated, all needed */
    unsigned per_trip;         /* operations of `op` a trip; pairs: groups a trip */
    void (*run)(uint64_t trips, void *block);
};

/* Where a mix stands; the assembly reads these by offset (generate/mixes.c). */
struct dg_mix_state {
    uint64_t s, r, c;                            /* current addresses */
    uint64_t turns, trips;                       /* trips of 4 steps each */
    uint64_t row_stride, c_row_stride;
    uint64_t s_turn, s_start, s_end;
    uint64_t repeat_left, s_repeat;
    uint64_t r_turn, r_start, r_end;
    uint64_t c_turn, c_start, c_end;
    uint64_t mode;                               /* 0 nothing stored, 1 written, 2 read too */
    uint64_t prefetch, next, panel;              /* prefetch pointer, next panel, its bytes */
};
enum { DG_MIX_STEPS = 4 };                       /* steps a trip: `steps` must be a multiple */

struct dg_mix_entry {
    const char *dtype;
    unsigned bits, vectors, rows;
    unsigned prefetch;                           /* lines a trip; 0: none */
    const char *features;
    void (*run)(struct dg_mix_state *state);
};

/* Passes over arrays of `bytes` each (a multiple of the entry's step); a is read first, c written.
 * A kind that only writes counts by a, which may be c. Several streams read a side by side at
 * places `part` bytes apart, `bytes` from each (a multiple of step / streams). */
struct dg_stream_state {
    uint64_t a, b, c, bytes, distance, passes, part;
};
struct dg_stream_entry {
    enum dg_traffic kind;
    unsigned bits, step;                         /* bytes of one array a loop pass */
    unsigned streams, place;                     /* place: which copy of the same code */
    bool prefetch;
    const char *features;
    void (*run)(const struct dg_stream_state *state);
};

enum { DG_CHASE_LOADS = 16 };                    /* loads a trip */
struct dg_chase_entry {
    unsigned bits;                               /* 64: scalar load; more: vector, lane moved */
    const char *features;
    void *(*run)(void *at, uint64_t trips);      /* returns where the chase stands */
};

enum { DG_PICK_LOADS = 64 };                     /* a trip, over four places in turn */
struct dg_pick_entry {
    unsigned bits;
    bool store;                                  /* the first place is stored to */
    const char *features;
    void (*run)(uint64_t trips, unsigned char *at[DG_PICKS]);
};

/* Instructions that do nothing, the last `bytes` (a multiple of 64) of `most`. */
struct dg_code_entry {
    unsigned length;
    uint64_t most;
    void (*run)(uint64_t trips, uint64_t bytes);
};

/* A row of isa/ without a latency loop, or without any, and why. */
struct dg_loop_absent {
    const char *op, *reason;
};

extern const struct dg_loop_entry dg_loops[];
extern const size_t dg_loop_count;
extern const struct dg_mix_entry dg_mixes[];
extern const size_t dg_mix_count;
extern const struct dg_stream_entry dg_streams[];
extern const size_t dg_stream_count;
extern const struct dg_chase_entry dg_chases[];
extern const size_t dg_chase_count;
extern const struct dg_pick_entry dg_picks[];
extern const size_t dg_pick_count;
extern const struct dg_code_entry dg_codes[];
extern const size_t dg_code_count;
extern const struct dg_loop_absent dg_loops_absent[];
extern const size_t dg_loops_absent_count;

/* The clock's reference chains and the wide loop stand in dg_loops under these names. */
#define DG_REF_ADD "ref.add"                     /* dependent additions */
#define DG_REF_XOR_ROTATE "ref.xor-rotate"       /* dependent pairs of xor and rotate */
#define DG_REF_MULTIPLY "ref.multiply"           /* dependent 64-bit multiplications */
#define DG_REF_WIDE "ref.wide"                   /* independent additions */
/* With bits behind it: dependent multiplications beside vector multiply-adds, two for each. */
#define DG_REF_PACE "ref.pace."
/* And what a vector chase does beside its load: dependent moves to a vector register and back. */
#define DG_REF_THROUGH_VECTOR "ref.through-vector"

/* Bits at the end of an operation's name, "fma.f32.256"; 0: none. */
unsigned dg_op_bits(const char *op);

/* Arrays of a kind of traffic. */
unsigned dg_traffic_arrays(enum dg_traffic kind);

/* First entry that fits and whose features are all usable; NULL: none. */
const struct dg_loop_entry *dg_loop_find(const struct dg_loop *want, const char *const *features,
                                         size_t feature_count);
const struct dg_mix_entry *dg_mix_find(const struct dg_mix *want, const char *const *features,
                                       size_t feature_count);
const struct dg_stream_entry *dg_stream_find(const struct dg_stream *want,
                                             const char *const *features, size_t feature_count);
const struct dg_pick_entry *dg_pick_find(const struct dg_pick *want, const char *const *features,
                                         size_t feature_count);
const struct dg_code_entry *dg_code_find(unsigned length);
const struct dg_chase_entry *dg_chase_find(bool vector, const char *const *features,
                                           size_t feature_count);

#endif
