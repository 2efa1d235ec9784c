/* SPDX-License-Identifier: Apache-2.0 */
#include "base/half.h"

uint32_t dg_f32_of_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31;
    uint32_t fraction = half & 0x3ff;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13 | (fraction != 0 ? 0x400000 : 0);
    if (exponent == 0) {
        if (fraction == 0)
            return sign;
        for (exponent = 1; (fraction & 0x400) == 0; exponent--)
            fraction <<= 1;
        fraction &= 0x3ff;
    }
    return sign | (exponent + 112) << 23 | fraction << 13;     /* biases: 127 - 15 */
}

/* value >> bits to the nearest, ties to even */
static uint32_t rounded(uint32_t value, unsigned bits)
{
    uint32_t half = UINT32_C(1) << (bits - 1), kept = value >> bits;
    uint32_t rest = value & (2 * half - 1);
    return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

uint16_t dg_f16_of_f32(uint32_t single)
{
    uint16_t sign = (uint16_t)(single >> 16 & 0x8000);
    uint32_t exponent = single >> 23 & 0xff, fraction = single & 0x7fffff;
    if (exponent == 255)
        return (uint16_t)(sign | 0x7c00 | (fraction != 0 ? 0x200 | fraction >> 13 : 0));
    if (exponent > 142)
        return sign | 0x7c00;
    if (exponent < 102)                    /* below half of the smallest denormal */
        return sign;
    if (exponent < 113)
        return (uint16_t)(sign | rounded(fraction | 0x800000, 126 - exponent));
    return (uint16_t)(sign | (((exponent - 112) << 10) + rounded(fraction, 13)));
}
