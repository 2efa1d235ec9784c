/* SPDX-License-Identifier: Apache-2.0
 *
 * What an assembler gave back: a relocatable ELF object of the right machine (EM_X86_64) that keeps
 * the promises of a kernel (no data, nothing undefined, no global outside the name). */
#ifndef DG_EMIT_WRITE_OBJECT_H
#define DG_EMIT_WRITE_OBJECT_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct dg_object {
    const char *const *symbols;  /* the globals defined, in symbol table order */
    size_t symbol_count;
};

/* `tool` names the assembler in errors, `prefix` is how every global must begin. */
bool dg_object_check(const void *bytes, size_t size, unsigned machine, const char *prefix,
                     const char *tool, struct dg_arena *arena, struct dg_object *out,
                     struct dg_error *e);

#endif
