/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON as the profile's readers want it: cJSON builds the tree, after a check of what cJSON lets
 * pass (repeated keys, text behind the end, leading zeros, integers that a double cannot hold)
 * and without its dependence on the locale. */
#ifndef DG_PROFILE_JSON_H
#define DG_PROFILE_JSON_H

#include <cjson/cJSON.h>

#include "base/arena.h"
#include "base/error.h"

enum { DG_JSON_DEPTH = 16, DG_POINTER_SIZE = 256 };

/* A text under reading: errors are placed as `file:line: pointer`. */
struct dg_json {
    const char *where;           /* the file's name */
    const char *text;
    size_t size;
    struct dg_arena *arena;
    struct dg_error *e;
};

/* The tree (to be freed with cJSON_Delete), or NULL with *e filled. */
cJSON *dg_json_parse(const struct dg_json *json);
/* Fills *e with the line of `pointer`, returns false. */
bool dg_json_fail(const struct dg_json *json, const char *pointer, const char *rule,
                  const char *value, const char *todo);
/* As dg_json_fail, the value printed from the tree. */
bool dg_json_fail_item(const struct dg_json *json, const char *pointer, const char *rule,
                       const cJSON *item, const char *todo);
/* The line of a member or element, 0 when there is none. */
unsigned dg_json_line(const struct dg_json *json, const char *pointer);
/* out = pointer/key, escaped as RFC 6901 asks; cut at DG_POINTER_SIZE. */
void dg_pointer_add(char out[DG_POINTER_SIZE], const char *pointer, const char *key);

#endif
