/* SPDX-License-Identifier: Apache-2.0
 * Loops in C. Integers pass through empty assembly so that the compiler cannot fold a chain;
 * floats cannot be reordered, and their results go to the block. */
#include "microbench/loops/portable.h"

#define HIDE(x) __asm__ volatile("" : "+r"(x))
#define TIMES_8(statement) \
    statement statement statement statement statement statement statement statement
#define TIMES_64(statement) TIMES_8(TIMES_8(statement))

static uint64_t *sink(void *block)
{
    return (uint64_t *)(void *)((char *)block + DG_BLOCK_STORE);
}

#define INTEGER_LOOP(name, step) \
    void name(uint64_t trips, void *block) \
    { \
        uint64_t x = trips, c = *(uint64_t *)block | 1; \
        for (; trips > 0; trips--) { \
            TIMES_64(step HIDE(x);) \
        } \
        *sink(block) = x + c; \
    }

INTEGER_LOOP(dg_portable_add_chain, x += c;)
INTEGER_LOOP(dg_portable_xor_rotate, x ^= c; HIDE(x); x = x << 13 | x >> 51;)
INTEGER_LOOP(dg_portable_multiply, x *= c;)

void dg_portable_wide(uint64_t trips, void *block)
{
    uint64_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, c = *(uint64_t *)block | 1;
    for (; trips > 0; trips--) {
        TIMES_8(x[0] += c; HIDE(x[0]); x[1] += c; HIDE(x[1]); x[2] += c; HIDE(x[2]);
                x[3] += c; HIDE(x[3]); x[4] += c; HIDE(x[4]); x[5] += c; HIDE(x[5]);
                x[6] += c; HIDE(x[6]); x[7] += c; HIDE(x[7]);)
    }
    for (int i = 0; i < 8; i++)
        *sink(block) += x[i];
}

/* 64 operations a trip, in one chain or in eight; sums add 2^-40 to 1, products multiply by 1. */
#define FLOAT_LOOPS(type, name, constant, operator) \
    void dg_portable_##name##_1(uint64_t trips, void *block) \
    { \
        type x = 1, c = *(type *)(void *)((char *)block + (constant)); \
        for (; trips > 0; trips--) { \
            TIMES_64(x = x operator c;) \
        } \
        *(type *)(void *)sink(block) = x; \
    } \
    void dg_portable_##name##_8(uint64_t trips, void *block) \
    { \
        type c = *(type *)(void *)((char *)block + (constant)); \
        type x0 = 1, x1 = 1, x2 = 1, x3 = 1, x4 = 1, x5 = 1, x6 = 1, x7 = 1; \
        for (; trips > 0; trips--) { \
            TIMES_8(x0 = x0 operator c; x1 = x1 operator c; x2 = x2 operator c; \
                    x3 = x3 operator c; x4 = x4 operator c; x5 = x5 operator c; \
                    x6 = x6 operator c; x7 = x7 operator c;) \
        } \
        *(type *)(void *)sink(block) = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7; \
    }

FLOAT_LOOPS(float, f32_add, DG_BLOCK_TINY_F32, +)
FLOAT_LOOPS(float, f32_mul, DG_BLOCK_ONE_F32, *)
FLOAT_LOOPS(double, f64_add, DG_BLOCK_TINY_F64, +)
FLOAT_LOOPS(double, f64_mul, DG_BLOCK_ONE_F64, *)

void *dg_portable_chase(void *at, uint64_t trips)
{
    _Static_assert(DG_CHASE_LOADS == 16, "loads a trip");
    for (; trips > 0; trips--) {
        TIMES_8(at = *(void *volatile *)at; at = *(void *volatile *)at;)
    }
    return at;
}

#define STREAM_LOOP(name, element) \
    void name(const struct dg_stream_state *state) \
    { \
        const float one = 1.0F; \
        for (uint64_t pass = 0; pass < state->passes; pass++) { \
            const volatile float *a = (const volatile float *)(uintptr_t)state->a; \
            const volatile float *b = (const volatile float *)(uintptr_t)state->b; \
            volatile float *c = (volatile float *)(uintptr_t)state->c; \
            (void)a, (void)b, (void)c, (void)one; \
            for (uint64_t i = 0; i < state->bytes / sizeof(float); i++) { \
                element \
            } \
        } \
    }

STREAM_LOOP(dg_portable_read, (void)a[i];)
STREAM_LOOP(dg_portable_write, c[i] = one;)
STREAM_LOOP(dg_portable_copy, c[i] = a[i];)
STREAM_LOOP(dg_portable_scale, c[i] = a[i] * one;)
STREAM_LOOP(dg_portable_add, c[i] = a[i] + b[i];)
STREAM_LOOP(dg_portable_triad, c[i] = a[i] * one + b[i];)
