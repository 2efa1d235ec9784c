/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of operands for tests that want exact results: small integers, sixteenths of them for
 * floating point, so that right sums are exact in any order and rounded once. C17, libc and
 * base/half only: it is also part of programs for other architectures. */
#ifndef DG_TESTS_ELEMENTS_H
#define DG_TESTS_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/half.h"

enum kind { F32, F64, F16, BF16, U8, S8, S32 };
/* What A, B and C of a dtype hold. */
struct type { const char *dtype; enum kind a, b, c; };

static inline const struct type *type_of(const char *dtype)
{
    static const struct type types[] = {
        { "f32", F32, F32, F32 }, { "f64", F64, F64, F64 }, { "bf16", BF16, BF16, F32 },
        { "f16", F16, F16, F16 }, { "u8s8", U8, S8, S32 }, { "s8s8", S8, S8, S32 },
    };
    const struct type *t = types;
    while (strcmp(t->dtype, dtype) != 0)
        t++;
    return t;
}

static inline size_t kind_size(enum kind kind)
{
    static const size_t sizes[] = { [F32] = 4, [F64] = 8, [F16] = 2, [BF16] = 2, [U8] = 1,
                                    [S8] = 1, [S32] = 4 };
    return sizes[kind];
}

static inline bool kind_is_integer(enum kind kind)
{
    return kind == U8 || kind == S8 || kind == S32;
}

/* The i-th value of a stream: -128 .. 127, or 0 .. 255 for u8. */
static inline int64_t whole(enum kind kind, int64_t i, int64_t seed)
{
    uint8_t byte = (uint8_t)((uint64_t)(i + seed) * 0x9E3779B97F4A7C15u >> 40);
    return kind == U8 ? byte : (int8_t)byte;
}

/* value / unit as an element of its kind; integers ignore the unit. */
static inline void put(enum kind kind, void *at, int64_t value, int unit)
{
    float f32 = (float)value / (float)unit;
    double f64 = (double)value / unit;
    int32_t s32 = (int32_t)value;
    uint8_t byte = (uint8_t)value;
    uint32_t bits;
    memcpy(&bits, &f32, sizeof bits);
    uint16_t bf16 = (uint16_t)(bits >> 16);            /* eight bits of value fit */
    uint16_t f16 = dg_f16_of_f32(bits);
    const void *from[] = { [F32] = &f32, [F64] = &f64, [F16] = &f16, [BF16] = &bf16, [U8] = &byte,
                           [S8] = &byte, [S32] = &s32 };
    memcpy(at, from[kind], kind_size(kind));
}

static inline void fill(enum kind kind, void *out, int64_t count, int64_t seed)
{
    for (int64_t i = 0; i < count; i++)
        put(kind, (char *)out + (size_t)i * kind_size(kind), whole(kind, i, seed), 16);
}

#endif
