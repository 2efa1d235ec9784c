/* SPDX-License-Identifier: Apache-2.0
 *
 * A profile of a chip that is not there: some values of another one changed. */
#ifndef DG_PROFILE_CHANGE_H
#define DG_PROFILE_CHANGE_H

#include "profile/reader.h"

struct dg_change { const char *key; const struct dg_value *before, *after; };   /* NULL: none */

/* *out is `base` with the values of `settings`, "KEY=NUMBER" apart by commas or blanks; KEY=null
 * takes one away. Types and ranges are those of the key. Entries and *changes live in the arena;
 * evidence and rules that join several values are not asked. False: *e names the setting and the
 * rule. */
bool dg_profile_change(const struct dg_profile *base, const char *settings,
                       struct dg_arena *arena, struct dg_profile *out,
                       const struct dg_change **changes, size_t *count, struct dg_error *e);

#endif
