/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME.s to NAME.o, through an assembler or a compiler driver. No shell. */
#ifndef DG_EMIT_WRITE_ASSEMBLE_H
#define DG_EMIT_WRITE_ASSEMBLE_H

#include "base/arena.h"
#include "base/error.h"
#include "emit/ir/ir.h"

/* What the user named; both NULL: look for one. Blanks separate arguments, unless the whole text
 * is the path of a program. */
struct dg_assembler { const char *as, *cc; };

/* The object's bytes in the arena. `codes` are the functions in the source: when the assembler
 * refuses it, their operations are tried one by one to name the one it does not know. */
bool dg_assemble(const struct dg_assembler *assembler, const char *name, const char *source,
                 const struct dg_ir_code *const *codes, size_t code_count,
                 struct dg_arena *arena, const char **bytes, size_t *size, const char **tool,
                 struct dg_error *e);

#endif
