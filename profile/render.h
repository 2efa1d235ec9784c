/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of JSON text, shared by the writers of this folder. */
#ifndef DG_PROFILE_RENDER_H
#define DG_PROFILE_RENDER_H

#include "base/str.h"
#include "profile/profile.h"

void dg_render_value(struct dg_str *out, const struct dg_value *value);
/* {...}, as a member of the outermost object */
void dg_render_facts(struct dg_str *out, const struct dg_fact *facts, size_t count);

#endif
