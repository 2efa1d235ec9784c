/* SPDX-License-Identifier: Apache-2.0
 *
 * struct dg_profile to hardware.json. The same profile gives the same bytes, in every locale. */
#ifndef DG_PROFILE_WRITER_H
#define DG_PROFILE_WRITER_H

#include "base/error.h"
#include "base/str.h"
#include "profile/profile.h"

/* Replaces the file in one step; on any failure (full disk, no permission, kill) the old one is
 * whole. Every scalar is written, null where it is not known; flat values stand rounded to the
 * interval of their evidence. */
bool dg_profile_save(const char *path, const struct dg_profile *profile, struct dg_error *e);
/* The text of the file; out->failed when memory ran out. */
void dg_profile_render(const struct dg_profile *profile, struct dg_str *out);

/* What the claims say against the value. */
enum dg_agreement { DG_AGREES, DG_CONTRADICTED, DG_NOT_COMPARED };
enum dg_agreement dg_claim_agrees(const struct dg_answer *answer, const struct dg_claim *claim);
/* All claims together: contradicted when one is, not compared when none can be. */
enum dg_agreement dg_answer_agrees(const struct dg_answer *answer);

#endif
