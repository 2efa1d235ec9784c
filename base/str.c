/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

void dg_str_init(struct dg_str *s, struct dg_arena *arena)
{
    *s = (struct dg_str){ .arena = arena };
}

void dg_str_free(struct dg_str *s)
{
    if (s->arena == NULL)
        free(s->text);
    dg_str_init(s, s->arena);
}

void dg_str_clear(struct dg_str *s)
{
    s->length = 0;
    s->failed = false;
    if (s->text != NULL)
        s->text[0] = '\0';
}

const char *dg_str_text(const struct dg_str *s)
{
    return s->text == NULL ? "" : s->text;
}

static char *resized(struct dg_str *s, size_t capacity)
{
    if (s->arena == NULL)
        return realloc(s->text, capacity);
    char *text = dg_alloc(s->arena, capacity);
    if (text != NULL && s->length > 0)
        memcpy(text, s->text, s->length + 1);
    return text;
}

/* Room for `more` bytes and the terminator. */
static bool reserve(struct dg_str *s, size_t more)
{
    if (s->failed)
        return false;
    if (more < s->capacity && s->length < s->capacity - more)
        return true;
    if (more > SIZE_MAX / 4 || s->length > SIZE_MAX / 4) {
        s->failed = true;
        return false;
    }
    size_t capacity = s->capacity < 64 ? 64 : s->capacity;
    while (capacity <= s->length + more)
        capacity *= 2;
    char *text = resized(s, capacity);
    if (text == NULL) {
        s->failed = true;
        return false;
    }
    s->text = text;
    s->capacity = capacity;
    s->text[s->length] = '\0';
    return true;
}

void dg_str_addn(struct dg_str *s, const void *bytes, size_t count)
{
    if (!reserve(s, count))
        return;
    if (count > 0)
        memcpy(s->text + s->length, bytes, count);
    s->length += count;
    s->text[s->length] = '\0';
}

void dg_str_add(struct dg_str *s, const char *text)
{
    dg_str_addn(s, text, strlen(text));
}

void dg_str_addc(struct dg_str *s, char c)
{
    dg_str_addn(s, &c, 1);
}

void dg_str_vformat(struct dg_str *s, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    size_t length = dg_vformat(NULL, 0, format, arguments);
    if (reserve(s, length)) {
        dg_vformat(s->text + s->length, length + 1, format, again);
        s->length += length;
    }
    va_end(again);
}

void dg_str_format(struct dg_str *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    dg_str_vformat(s, format, arguments);
    va_end(arguments);
}

void dg_str_double(struct dg_str *s, double value)
{
    char text[DG_NUMBER_SIZE];
    dg_write_double(text, value);
    dg_str_add(s, text);
}

void dg_str_fixed(struct dg_str *s, double value, unsigned decimals)
{
    char text[DG_FIXED_SIZE];
    dg_write_fixed(text, value, decimals);
    dg_str_add(s, text);
}

void dg_str_quoted(struct dg_str *s, const char *text)
{
    dg_str_addc(s, '"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            dg_str_format(s, "\\%c", c);
        else if (c < ' ')
            dg_str_format(s, "\\u%04x", c);
        else
            dg_str_addc(s, *text);
    }
    dg_str_addc(s, '"');
}
