/* SPDX-License-Identifier: Apache-2.0
 *
 * The C library's conversions round correctly but follow the locale in one thing, the decimal
 * separator. Nothing here lets it matter: texts are handed to strtod as whole digits with an
 * exponent, and from printf's %e only digits and exponent are taken. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 17 };

static bool broken(const char **rule, const char *text)
{
    if (rule != NULL)
        *rule = text;
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool dg_parse_u64(const char *text, uint64_t *out, const char **rule)
{
    static const char plain[] =
        "must be a plain decimal integer (digits only: no sign, leading zero, exponent or unit)";
    if (!is_digit(text[0]) || (text[0] == '0' && text[1] != '\0'))
        return broken(rule, plain);
    uint64_t value = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (!is_digit(*c))
            return broken(rule, plain);
        uint64_t digit = (uint64_t)(*c - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return broken(rule, "must be below 2^64");
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool dg_parse_u64_in(const char *text, uint64_t low, uint64_t high, uint64_t *out,
                     const char **rule)
{
    uint64_t value;
    if (!dg_parse_u64(text, &value, rule))
        return false;
    if (value < low || value > high)
        return broken(rule, "is out of range");
    *out = value;
    return true;
}

/* digits of the mantissa without the point, and the power of ten that belongs to them */
struct decimal {
    const char *whole, *fraction;
    size_t whole_length, fraction_length;
    long exponent;
    bool negative;
};

static const char *take_digits(const char *c, const char **start, size_t *length)
{
    *start = c;
    while (is_digit(*c))
        c++;
    *length = (size_t)(c - *start);
    return c;
}

/* False unless an exponent's digits follow; beyond 99999 it no longer matters how far. */
static bool take_exponent(const char **at, long *out)
{
    const char *c = *at + 1;
    bool negative = *c == '-';
    if (*c == '-' || *c == '+')
        c++;
    if (!is_digit(*c))
        return false;
    long value = 0;
    for (; is_digit(*c); c++)
        value = value > 99999 ? value : value * 10 + (*c - '0');
    *out = negative ? -value : value;
    *at = c;
    return true;
}

static bool take_decimal(const char *text, struct decimal *out)
{
    const char *c = text;
    *out = (struct decimal){ .negative = *c == '-' };
    c = take_digits(c + out->negative, &out->whole, &out->whole_length);
    if (out->whole_length == 0 || (out->whole_length > 1 && out->whole[0] == '0'))
        return false;
    if (*c == '.') {
        c = take_digits(c + 1, &out->fraction, &out->fraction_length);
        if (out->fraction_length == 0)
            return false;
    }
    if ((*c == 'e' || *c == 'E') && !take_exponent(&c, &out->exponent))
        return false;
    return *c == '\0';
}

bool dg_parse_double(const char *text, double *out, const char **rule)
{
    struct decimal d;
    if (!take_decimal(text, &d))
        return broken(rule, "must be a decimal number like 12, 0.5 or 1.5e9");
    if (d.whole_length + d.fraction_length > 400)
        return broken(rule, "must have at most 400 digits");
    char buffer[440];
    size_t at = 0;
    if (d.negative)
        buffer[at++] = '-';
    memcpy(buffer + at, d.whole, d.whole_length);
    at += d.whole_length;
    if (d.fraction_length > 0)
        memcpy(buffer + at, d.fraction, d.fraction_length);
    at += d.fraction_length;
    snprintf(buffer + at, sizeof buffer - at, "e%ld", d.exponent - (long)d.fraction_length);
    double value = strtod(buffer, NULL);
    if (!isfinite(value))
        return broken(rule, "must be within the range of a double");
    *out = value;
    return true;
}

/* value = 0.d1d2d3... x 10^point, digits without trailing zeros */
struct digits {
    char digit[MAX_DIGITS + 1];
    unsigned count;
    int point;
};

static struct digits digits_of(double magnitude, unsigned count)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", (int)count - 1, magnitude);
    struct digits out = { .count = 0 };
    const char *c = text;
    for (; *c != 'e'; c++)
        if (is_digit(*c))
            out.digit[out.count++] = *c;
    out.point = atoi(c + 1) + 1;
    while (out.count > 1 && out.digit[out.count - 1] == '0')
        out.count--;
    return out;
}

static double value_of(const struct digits *d, bool negative)
{
    char text[64];
    snprintf(text, sizeof text, "%s%.*se%d", negative ? "-" : "", (int)d->count, d->digit,
             d->point - (int)d->count);
    return strtod(text, NULL);
}

static size_t put_digits(char *out, const struct digits *d, bool negative)
{
    size_t at = 0;
    if (negative)
        out[at++] = '-';
    int count = (int)d->count;
    if (d->point > MAX_DIGITS || d->point < -4) {
        out[at++] = d->digit[0];
        if (count > 1) {
            out[at++] = '.';
            memcpy(out + at, d->digit + 1, (size_t)count - 1);
            at += (size_t)count - 1;
        }
        return at + (size_t)snprintf(out + at, 8, "e%d", d->point - 1);
    }
    if (d->point <= 0)
        out[at++] = '0';
    for (int i = d->point < 0 ? d->point : 0; i < count || i < d->point; i++) {
        if (i == d->point)
            out[at++] = '.';
        out[at++] = i >= 0 && i < count ? d->digit[i] : '0';
    }
    out[at] = '\0';
    return at;
}

size_t dg_write_double(char text[DG_NUMBER_SIZE], double value)
{
    if (!isfinite(value)) {
        memcpy(text, "null", 5);
        return 4;
    }
    if (value == 0.0) {
        memcpy(text, "0", 2);
        return 1;
    }
    bool negative = value < 0.0;
    struct digits d = { .count = 0 };
    for (unsigned count = 1; count <= MAX_DIGITS; count++) {
        d = digits_of(fabs(value), count);
        if (value_of(&d, negative) == value)
            break;
    }
    return put_digits(text, &d, negative);
}

size_t dg_write_fixed(char text[DG_FIXED_SIZE], double value, unsigned decimals)
{
    if (!isfinite(value)) {
        memcpy(text, "null", 5);
        return 4;
    }
    if (decimals > MAX_DIGITS)
        decimals = MAX_DIGITS;
    char raw[DG_FIXED_SIZE];
    int length = snprintf(raw, sizeof raw, "%.*f", (int)decimals, value);
    if (length < 0 || (size_t)length >= sizeof raw || decimals == 0) {
        raw[sizeof raw - 1] = '\0';
        memcpy(text, raw, strlen(raw) + 1);
        return strlen(raw);
    }
    /* sign and digits, the separator in whatever bytes the locale has, then the decimals */
    size_t head = raw[0] == '-';
    while (is_digit(raw[head]))
        head++;
    memcpy(text, raw, head);
    text[head] = '.';
    memcpy(text + head + 1, raw + (size_t)length - decimals, decimals);
    text[head + 1 + decimals] = '\0';
    return head + 1 + decimals;
}

bool dg_double_to_u64(double value, uint64_t *out)
{
    if (!(value >= 0.0 && value <= 9007199254740992.0) || floor(value) != value)
        return false;
    *out = (uint64_t)value;
    return true;
}

double dg_round_digits(double value, unsigned digits)
{
    if (!isfinite(value) || value == 0.0)
        return value;
    digits = digits < 1 ? 1 : digits > MAX_DIGITS ? MAX_DIGITS : digits;
    struct digits d = digits_of(fabs(value), digits);
    return value_of(&d, value < 0.0);
}

double dg_round_to_interval(double value, double low, double high)
{
    if (!(low <= value && value <= high))
        return value;
    for (unsigned digits = 1; digits < MAX_DIGITS; digits++) {
        double rounded = dg_round_digits(value, digits);
        if (low <= rounded && rounded <= high)
            return rounded;
    }
    return value;
}
