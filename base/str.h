/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_BASE_STR_H
#define DG_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* A text that grows, over malloc (arena NULL) or in an arena. Running out of memory is remembered
 * in `failed`, further additions do nothing, so that one check at the end is enough. The text is
 * always terminated; it may hold zero bytes when they are added with dg_str_addn. */
struct dg_str {
    char *text;
    size_t length, capacity;
    struct dg_arena *arena;
    bool failed;
};

void dg_str_init(struct dg_str *s, struct dg_arena *arena);
void dg_str_free(struct dg_str *s);                 /* leaves an empty text */
void dg_str_clear(struct dg_str *s);                /* keeps the memory */
void dg_str_add(struct dg_str *s, const char *text);
void dg_str_addn(struct dg_str *s, const void *bytes, size_t count);
void dg_str_addc(struct dg_str *s, char c);
/* As dg_format: integers and texts. Numbers with a fraction go through dg_str_double. */
void dg_str_format(struct dg_str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dg_str_vformat(struct dg_str *s, const char *format, va_list arguments);
void dg_str_double(struct dg_str *s, double value);     /* shortest that reads back equal */
void dg_str_fixed(struct dg_str *s, double value, unsigned decimals);   /* as %.*f, with a point */
/* A JSON string with its quotes: what JSON must escape is escaped, other bytes stay. */
void dg_str_quoted(struct dg_str *s, const char *text);
/* Never NULL. */
const char *dg_str_text(const struct dg_str *s);

#endif
