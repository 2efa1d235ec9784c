/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan into all that the user gets: NAME.s, NAME.h, NAME.o, libNAME.a, NAME.json. */
#ifndef DG_EMIT_WRITE_EMIT_H
#define DG_EMIT_WRITE_EMIT_H

#include "base/arena.h"
#include "base/error.h"
#include "emit/plan/plan.h"
#include "emit/problem/problem.h"
#include "emit/write/assemble.h"

struct dg_emit_options {
    const char *tool_version;
    struct dg_assembler assembler;
    bool source_only;            /* no assembler is run: NAME.s, NAME.h and NAME.json */
    const char *stem;            /* of the files' names; NULL: the kernel's name */
};

struct dg_emit_file { const char *name; const void *bytes; size_t size; };
enum { DG_EMIT_FILES = 5 };
struct dg_emitted {
    struct dg_emit_file file[DG_EMIT_FILES];   /* the manifest last */
    size_t count;
    const char *assembler;       /* the program that was run; NULL: none */
};

/* Everything in the arena; nothing is written. The plan's view is read for the manifest. */
bool dg_emit_make(const struct dg_problem *problem, const struct dg_plan_result *plan,
                  const struct dg_emit_options *options, struct dg_arena *arena,
                  struct dg_emitted *out, struct dg_error *e);
/* All files or none; the folder is made where it is missing. */
bool dg_emit_write(const struct dg_emitted *emitted, const char *folder, struct dg_arena *arena,
                   struct dg_error *e);

#endif
