/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs of this machine: found in PATH, and the two ways the verifier uses them. */
#ifndef DG_VERIFY_TOOLS_H
#define DG_VERIFY_TOOLS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/workdir.h"

/* Links an object into a shared object with `cc` (NULL: cc, gcc or clang, the first in PATH). */
bool dg_link_shared(const char *cc, const char *object, const char *shared, struct dg_error *e);

/* Assembles with DG_TIMING defined: `as`, or `cc` as a driver, or the first found in PATH. */
bool dg_assemble_timing(const char *as, const char *cc, const char *source, const char *object,
                        struct dg_error *e);

#endif
