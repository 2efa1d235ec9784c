/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_PROFILE_SCHEMA_H
#define DG_PROFILE_SCHEMA_H

#include "base/str.h"

/* The JSON Schema (draft 7) of hardware.json, made from fields.def and families.def. The copy in
 * profile/hardware.schema.json is its output. Contradictions between values and two names of one
 * value are beyond a schema; the reader checks them. */
void dg_schema_render(struct dg_str *out);

#endif
