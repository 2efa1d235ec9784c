/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a problem comes from: a YAML file, flags, or both (a flag wins over the file). */
#ifndef DG_EMIT_PROBLEM_READER_H
#define DG_EMIT_PROBLEM_READER_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "emit/problem/problem.h"

/* One value somebody gave: key as in keys.def ("layout.b"), the text, and the place for messages:
 * "--layout-b" for a flag, "FILE:LINE" for a file, "" for what a program
 * set (its key is the place). */
struct dg_setting {
    const char *key, *text, *where;
    bool quoted;                 /* a quoted YAML scalar: a text, whatever it looks like */
};

/* Reads and checks. path NULL: flags only. The settings of the file, where it has any, keep their
 * line numbers. Texts live in the arena. False: DG_EXIT_INPUT for what stands in the file,
 * DG_EXIT_USAGE for flags and for required keys that neither gave. */
bool dg_problem_load(const char *path, const struct dg_setting *flags, size_t flag_count,
                     struct dg_arena *arena, struct dg_problem *out, struct dg_error *e);

/* The YAML side alone: structure only (one document, mappings of scalars, no key twice). */
bool dg_settings_read(const char *path, struct dg_arena *arena, struct dg_setting **out,
                      size_t *count, struct dg_error *e);
/* The checking side alone, over settings of one source after the other. */
bool dg_problem_from(const struct dg_setting *settings, size_t count, struct dg_problem *out,
                     struct dg_error *e);

/* The keys of keys.def, for options and messages. */
enum dg_key_type { DG_KEY_TEXT, DG_KEY_INTEGER, DG_KEY_BOOLEAN, DG_KEY_CHOICE };
struct dg_key_row {
    const char *key;
    enum dg_key_type type;
    uint64_t low, high;
    const char *title;
};
extern const struct dg_key_row dg_problem_keys[];
extern const size_t dg_problem_key_count;

#endif
