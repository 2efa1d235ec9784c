/* SPDX-License-Identifier: Apache-2.0
 *
 * What the manifest says of a problem, its plan and the profile, before there are files. */
#ifndef DG_EMIT_WRITE_DESCRIBE_H
#define DG_EMIT_WRITE_DESCRIBE_H

#include "emit/write/manifest.h"
#include "emit/write/source.h"

/* All but `stamps` and `files`; what is read for the roofs is recorded in the view. False: no
 * memory. */
bool dg_describe(const struct dg_kernel *kernel, struct dg_view *view,
                 struct dg_arena *arena, struct dg_manifest *out);

#endif
