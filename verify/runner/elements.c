/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/runner/elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum kind {
#define KIND(id, bytes, precision, low, high) KIND_##id,
#define DTYPE(name, a, b, c, sum, flushes)
#include "verify/runner/elements.def"
};

static const struct dg_kind kinds[] = {
#define KIND(id, bytes, precision, low, high) {bytes, precision, low, high},
#define DTYPE(name, a, b, c, sum, flushes)
#include "verify/runner/elements.def"
};

const struct dg_run_dtype dg_run_dtypes[] = {
#define KIND(id, bytes, precision, low, high)
#define DTYPE(name, a, b, c, sum, flushes) \
    {name, &kinds[KIND_##a], &kinds[KIND_##b], &kinds[KIND_##c], &kinds[KIND_##sum], flushes},
#include "verify/runner/elements.def"
};
const size_t dg_run_dtype_count = sizeof dg_run_dtypes / sizeof *dg_run_dtypes;

const struct dg_run_dtype *dg_run_dtype_named(const char *name)
{
    for (size_t i = 0; i < dg_run_dtype_count; i++)
        if (strcmp(dg_run_dtypes[i].name, name) == 0)
            return &dg_run_dtypes[i];
    return NULL;
}

void dg_run_dtype_list(char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < dg_run_dtype_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 dg_run_dtypes[i].name);
}

/* The product that is farthest from zero, against the side of C that it grows to. */
uint64_t dg_run_dtype_most_k(const struct dg_run_dtype *dtype)
{
    const struct dg_kind *a = dtype->a, *b = dtype->b, *c = dtype->c;
    if (c->precision > 0)
        return UINT64_MAX;
    int64_t up = (int64_t)a->high * b->high, down = (int64_t)a->high * b->low;
    up = (int64_t)a->low * b->low > up ? (int64_t)a->low * b->low : up;
    down = (int64_t)a->low * b->high < down ? (int64_t)a->low * b->high : down;
    int64_t most_up = c->high / up, most_down = c->low / down;
    return (uint64_t)(most_up < most_down ? most_up : most_down);
}

/* ---- floats of 16 bits: sign, exponent, significand without its hidden bit ---- */

static double small_value(const struct dg_kind *kind, unsigned bits)
{
    int stored = kind->precision - 1;
    unsigned sign = bits >> 15, field = (bits & 0x7FFF) >> stored;
    unsigned significand = bits & ((1u << stored) - 1);
    double value;
    if (field == 0x7FFFu >> stored)
        value = significand != 0 ? (double)NAN : (double)INFINITY;
    else if (field == 0)
        value = ldexp(significand, kind->low - stored);
    else
        value = ldexp(significand + (1u << stored), (int)field - 1 + kind->low - stored);
    return sign ? -value : value;
}

/* The exponent of the last bit that a value's significand has: denormals share the lowest. */
static int last_bit(const struct dg_kind *kind, double value)
{
    int exponent;
    frexp(value, &exponent);              /* value is 0.5 to 1 times 2^exponent */
    if (value == 0 || exponent < kind->low + 1)
        exponent = kind->low + 1;
    return exponent - kind->precision;
}

/* A significand that rounds up to the next power of two carries into the exponent by itself, and
 * out of the largest number into infinity. */
static unsigned small_bits(const struct dg_kind *kind, double value)
{
    int stored = kind->precision - 1;
    unsigned sign = signbit(value) ? 0x8000u : 0, infinite = (0x7FFFu >> stored) << stored;
    if (isnan(value))
        return sign | infinite | 1u << (stored - 1);
    if (isinf(value))
        return sign | infinite;
    int unit = last_bit(kind, value);
    double whole = nearbyint(ldexp(fabs(value), -unit));
    double bits = whole + ldexp(unit + stored - kind->low, stored);
    return sign | (bits < infinite ? (unsigned)bits : infinite);
}

double dg_element_half_step(const struct dg_kind *kind, double value)
{
    return ldexp(1, last_bit(kind, value) - 1);
}

/* ---- all kinds ---- */

/* GET(id, type) reads a `type`, whose value it is. */
double dg_element_get(const struct dg_kind *kind, const void *array, uint64_t at)
{
    const unsigned char *from = (const unsigned char *)array + at * kind->bytes;
    switch (kind - kinds) {
#define GET(id, type) case KIND_##id: { type value; memcpy(&value, from, sizeof value); \
                                        return (double)value; }
    GET(F64, double)
    GET(F32, float)
    GET(U8, uint8_t)
    GET(S8, int8_t)
    GET(S32, int32_t)
#undef GET
    default: {
        uint16_t bits;
        memcpy(&bits, from, sizeof bits);
        return small_value(kind, bits);
    }
    }
}

void dg_element_put(const struct dg_kind *kind, void *array, uint64_t at, double value)
{
    unsigned char *to = (unsigned char *)array + at * kind->bytes;
    switch (kind - kinds) {
#define PUT(id, type) case KIND_##id: { type held = (type)value; memcpy(to, &held, sizeof held); \
                                        return; }
    PUT(F64, double)
    PUT(F32, float)
    PUT(U8, uint8_t)
    PUT(S8, int8_t)
    PUT(S32, int32_t)
#undef PUT
    default: {
        uint16_t bits = (uint16_t)small_bits(kind, value);
        memcpy(to, &bits, sizeof bits);
    }
    }
}

double dg_element_round(const struct dg_kind *kind, double value)
{
    double held;
    dg_element_put(kind, &held, 0, value);
    return dg_element_get(kind, &held, 0);
}
