/* SPDX-License-Identifier: Apache-2.0
 *
 * Which manifests a path means: a folder has every NAME.json that is a manifest, NAME.json is one
 * itself, NAME.o has it beside. */
#ifndef DG_VERIFY_LOCATE_H
#define DG_VERIFY_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct dg_manifest_list {
    const char **paths;          /* sorted */
    size_t count;
};

/* False also when a folder has none. */
bool dg_locate_manifests(const char *path, struct dg_arena *arena, struct dg_manifest_list *out,
                         struct dg_error *e);

#endif
