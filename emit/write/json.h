/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON read into a flat list of places, which is all that a manifest needs: "/plan/mr" -> 6. Each
 * place is used once by its reader; what is left over is unknown and can be named. */
#ifndef DG_EMIT_WRITE_JSON_H
#define DG_EMIT_WRITE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum dg_json_kind {
    DG_JSON_NULL, DG_JSON_FALSE, DG_JSON_TRUE, DG_JSON_NUMBER, DG_JSON_TEXT, DG_JSON_ARRAY,
    DG_JSON_OBJECT,
};

struct dg_json_item {
    const char *place;           /* JSON pointer without escapes: "/profile/keys/0/key" */
    enum dg_json_kind kind;
    const char *text;            /* DG_JSON_TEXT: decoded */
    double number;
    size_t count;                /* members of an array or object */
    const char *raw;             /* as it stands in the file, raw_size bytes */
    size_t raw_size;
    bool used;
};

struct dg_json {
    struct dg_json_item *items;  /* in file order, containers before their members */
    size_t count;
    const char *where;           /* the file's name, for errors */
};

/* Refuses what JSON refuses, and duplicate names, and nesting deeper than 16. */
bool dg_json_flatten(const char *text, size_t size, const char *where, struct dg_arena *arena,
                     struct dg_json *out, struct dg_error *e);
struct dg_json_item *dg_json_find(struct dg_json *json, const char *place);

#endif
