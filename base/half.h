/* SPDX-License-Identifier: Apache-2.0
 *
 * IEEE 754 binary16 and binary32 as bits, where a compiler has no type for the former. */
#ifndef DG_BASE_HALF_H
#define DG_BASE_HALF_H

#include <stdint.h>

/* Exact; a signalling NaN becomes a quiet one, as conversion instructions do. */
uint32_t dg_f32_of_f16(uint16_t half);
/* To the nearest, ties to even; too large: infinity; too small: a denormal or 0. */
uint16_t dg_f16_of_f32(uint32_t single);

#endif
