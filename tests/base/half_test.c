/* SPDX-License-Identifier: Apache-2.0 */
#include "base/half.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double value_of(uint16_t half)
{
    uint32_t bits = dg_f32_of_f16(half);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

Test(half, known_answers)
{
    static const struct { float single; uint16_t half; } rows[] = {
        { 0, 0 }, { -0.0f, 0x8000 }, { 1, 0x3c00 }, { -2, 0xc000 }, { 65504, 0x7bff },
        { 65519, 0x7bff }, { 65520, 0x7c00 }, { -1e30f, 0xfc00 }, { INFINITY, 0x7c00 },
        { 0x1p-14f, 0x0400 }, { 0x1p-24f, 0x0001 }, { 0x1p-25f, 0x0000 },
        { 0x1.000002p-25f, 0x0001 }, { 0x1.8p-24f, 0x0002 }, { 0x1p-40f, 0 },
        { 0x1.ffcp-15f, 0x0400 },              /* rounds up into the normal numbers */
        { 1 + 0x1p-11f, 0x3c00 },              /* ties go to the even one */
        { 1 + 0x1.8p-10f, 0x3c02 }, { 1 + 0x1.008p-11f, 0x3c01 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(dg_f16_of_f32(bits_of(rows[i].single)), rows[i].half, "%a: %04x",
                     (double)rows[i].single, dg_f16_of_f32(bits_of(rows[i].single)));
    cr_expect_eq(dg_f32_of_f16(0x7c01), 0x7fc02000, "a signalling NaN becomes quiet");
    cr_expect_eq(dg_f16_of_f32(0x7f800001) & 0x7e00, 0x7e00, "and stays one");
}

/* Every half is its own nearest; between two neighbours the nearer one is taken, of a tie the even
 * one. */
Test(half, every_one_and_its_neighbours)
{
    for (uint32_t half = 0; half < 0x7c00; half++) {
        double low = value_of((uint16_t)half), high = value_of((uint16_t)(half + 1));
        double middle = half + 1 < 0x7c00 ? (low + high) / 2 : 65520;
        uint32_t at = bits_of((float)middle);          /* exact */
        cr_assert_eq(dg_f16_of_f32(bits_of((float)low)), half);
        cr_assert_eq(dg_f16_of_f32(at), half + (half & 1), "%04" PRIx32, half);
        cr_assert_eq(dg_f16_of_f32(at - 1), half, "%04" PRIx32, half);
        cr_assert_eq(dg_f16_of_f32(at + 1), half + 1, "%04" PRIx32, half);
        cr_assert_eq(dg_f16_of_f32(at | 0x80000000), 0x8000 | (half + (half & 1)));
    }
}
