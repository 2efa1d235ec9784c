/* SPDX-License-Identifier: Apache-2.0
 *
 * hardware.json to struct dg_profile, checked. Needs libc and cJSON. */
#ifndef DG_PROFILE_READER_H
#define DG_PROFILE_READER_H

#include "base/arena.h"
#include "base/error.h"
#include "profile/profile.h"

/* Reads and checks a file. Everything in *out lives in the arena, which must be able to grow
 * (dg_arena_init). On false *e names file, line, JSON pointer, rule, value and what to do.
 *
 * Accepted other names are renamed. A flat value that differs from its evidence wins over it: its
 * measurement becomes `asserted`, with a warning. A flat value without evidence gets a measurement
 * of status `asserted`. Contradictions between measured values are errors, those with an asserted
 * value are warnings (out->warnings). */
bool dg_profile_load(const char *path, struct dg_arena *arena, struct dg_profile *out,
                     struct dg_error *e);
/* The same from memory; `where` stands for the file's name in errors. */
bool dg_profile_read_text(const char *text, size_t size, const char *where,
                          struct dg_arena *arena, struct dg_profile *out, struct dg_error *e);

#endif
