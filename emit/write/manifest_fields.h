/* SPDX-License-Identifier: Apache-2.0
 *
 * manifest.def as a table, for the writer and the reader of NAME.json. */
#ifndef DG_EMIT_WRITE_MANIFEST_FIELDS_H
#define DG_EMIT_WRITE_MANIFEST_FIELDS_H

#include <stddef.h>

#include "emit/write/manifest.h"

enum dg_manifest_kind {
    DG_MANIFEST_TEXT, DG_MANIFEST_U64, DG_MANIFEST_U32, DG_MANIFEST_BOOL, DG_MANIFEST_NUMBER,
    DG_MANIFEST_KNOWN,
};

struct dg_manifest_field {
    const char *object, *name;   /* object "": top level */
    enum dg_manifest_kind kind;
    size_t offset;               /* in struct dg_manifest */
};

extern const struct dg_manifest_field dg_manifest_fields[];
extern const size_t dg_manifest_field_count;

#endif
