/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan into NAME.s, NAME.h, NAME.o, libNAME.a and NAME.json. */
#ifndef DEEPGEMM_EMIT_H
#define DEEPGEMM_EMIT_H

#include <stdbool.h>

#include "deepgemm/error.h"
#include "deepgemm/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes all files into the folder (made where it is missing) or none. `as` names the assembler,
 * `cc` a compiler driver to assemble with; both NULL: one for the plan's ISA is looked for in PATH.
 * Same plan, same bytes. */
bool dg_emit(const struct dg_planned *planned, const char *folder, const char *as, const char *cc,
             struct dg_error *e);

#ifdef __cplusplus
}
#endif

#endif
