/* SPDX-License-Identifier: Apache-2.0
 *
 * A printf for integers and texts that needs no libc, so that the planner can be embedded. */
#include <stdint.h>

#include "base/error.h"

struct sink {
    char *out;
    size_t size, length;
};

static void put(struct sink *s, char c)
{
    if (s->length + 1 < s->size)
        s->out[s->length] = c;
    s->length++;
}

struct spec {
    bool left, zero;
    unsigned width;
};

static void put_padded(struct sink *s, struct spec spec, const char *text, size_t length)
{
    size_t fill = spec.width > length ? spec.width - length : 0;
    if (!spec.left)
        for (size_t i = 0; i < fill; i++)
            put(s, spec.zero ? '0' : ' ');
    for (size_t i = 0; i < length; i++)
        put(s, text[i]);
    if (spec.left)
        for (size_t i = 0; i < fill; i++)
            put(s, ' ');
}

static void put_number(struct sink *s, struct spec spec, uint64_t value, bool negative,
                       unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    if (negative) {
        if (spec.zero) {        /* the sign stands before the zeros */
            put(s, '-');
            spec.width -= spec.width > 0;
        } else {
            digits[--at] = '-';
        }
    }
    put_padded(s, spec, digits + at, sizeof digits - at);
}

/* %z and %l are 64 bits on every target of this project but the 32-bit ones. */
static uint64_t take_unsigned(va_list *a, int longs)
{
    if (longs == 0)
        return va_arg(*a, unsigned);
    return longs == 1 ? va_arg(*a, unsigned long) : va_arg(*a, unsigned long long);
}

static int64_t take_signed(va_list *a, int longs)
{
    if (longs == 0)
        return va_arg(*a, int);
    return longs == 1 ? va_arg(*a, long) : va_arg(*a, long long);
}

static const char *put_directive(struct sink *s, const char *f, va_list *a)
{
    struct spec spec = { 0 };
    int longs = 0;
    for (; *f == '-' || *f == '0'; f++) {
        spec.left |= *f == '-';
        spec.zero |= *f == '0';
    }
    for (; *f >= '0' && *f <= '9'; f++)
        spec.width = spec.width * 10 + (unsigned)(*f - '0');
    for (; *f == 'l' || *f == 'z'; f++)
        longs += *f == 'z' ? (sizeof(size_t) > sizeof(unsigned)) : 1;

    if (*f == 's') {
        const char *text = va_arg(*a, const char *);
        size_t length = 0;
        text = text == NULL ? "(none)" : text;
        while (text[length] != '\0')
            length++;
        put_padded(s, spec, text, length);
    } else if (*f == 'c') {
        char c = (char)va_arg(*a, int);
        put_padded(s, spec, &c, 1);
    } else if (*f == 'd') {
        int64_t value = take_signed(a, longs);
        put_number(s, spec, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, 10);
    } else if (*f == 'u' || *f == 'x') {
        put_number(s, spec, take_unsigned(a, longs), false, *f == 'u' ? 10 : 16);
    } else if (*f != '\0') {
        put(s, *f);
    }
    return *f == '\0' ? f : f + 1;
}

size_t dg_vformat(char *out, size_t size, const char *format, va_list arguments)
{
    struct sink s = { out, size, 0 };
    va_list a;
    va_copy(a, arguments);
    while (*format != '\0') {
        if (*format == '%')
            format = put_directive(&s, format + 1, &a);
        else
            put(&s, *format++);
    }
    va_end(a);
    if (size > 0)
        out[s.length < size ? s.length : size - 1] = '\0';
    return s.length;
}

size_t dg_format(char *out, size_t size, const char *format, ...)
{
    va_list a;
    va_start(a, format);
    size_t length = dg_vformat(out, size, format, a);
    va_end(a);
    return length;
}
