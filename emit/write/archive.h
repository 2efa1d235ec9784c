/* SPDX-License-Identifier: Apache-2.0
 *
 * libNAME.a: one member and its symbol index, in the System V form that every ELF linker reads.
 * Written here, so that a cross archive needs no cross `ar` and no date or owner gets in. */
#ifndef DG_EMIT_WRITE_ARCHIVE_H
#define DG_EMIT_WRITE_ARCHIVE_H

#include <stddef.h>

#include "base/str.h"

/* Appends the whole archive to `out`; `symbols` are the globals that the member defines. */
void dg_archive_put(struct dg_str *out, const char *member, const void *bytes, size_t size,
                    const char *const *symbols, size_t symbol_count);

#endif
