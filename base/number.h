/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in and out of texts, the same in every locale, also inside a host program that has set
 * one with a decimal comma. */
#ifndef DG_BASE_NUMBER_H
#define DG_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DG_NUMBER_SIZE = 32, DG_FIXED_SIZE = 352 };

/* Plain decimal digits only: no sign, blank, leading zero, underscore, exponent or text behind.
 * False: *rule (may be NULL) says in words what a right value looks like. */
bool dg_parse_u64(const char *text, uint64_t *out, const char **rule);
/* As above and low <= value <= high. */
bool dg_parse_u64_in(const char *text, uint64_t low, uint64_t high, uint64_t *out,
                     const char **rule);
/* A JSON number: -12, 0.5, 1.5e9. No blank, plus sign, leading zero, hex, nan or inf; a value
 * beyond the range of double is refused, one too small becomes 0 or a denormal. */
bool dg_parse_double(const char *text, double *out, const char **rule);

/* The shortest text that dg_parse_double reads back as the same double: "4", "17.6", "1.5e-9".
 * The value must be finite ("null" is written otherwise, so that JSON stays valid). */
size_t dg_write_double(char text[DG_NUMBER_SIZE], double value);
/* Fixed decimals (at most 17), with a point. */
size_t dg_write_fixed(char text[DG_FIXED_SIZE], double value, unsigned decimals);

/* True when the double holds a whole number in 0 .. 2^53 exactly. */
bool dg_double_to_u64(double value, uint64_t *out);

/* The value with the fewest significant digits that still lies in [low, high]: two measurements of
 * one thing come out equal when their intervals allow it. The value itself when it is outside. */
double dg_round_to_interval(double value, double low, double high);
/* The value rounded to `digits` significant decimal digits (1 to 17). */
double dg_round_digits(double value, unsigned digits);

#endif
