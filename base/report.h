/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_BASE_REPORT_H
#define DG_BASE_REPORT_H

#include <stdio.h>

#include "base/error.h"

/* What is printed may hold text of a file or of the command line, which must not steer the
 * terminal: control characters are written \xNN. */

/* On stderr: `PROGRAM: error: WHERE: RULE: VALUE` and a second line with what to do. Returns the
 * exit code for main(); an error without one counts as internal. */
int dg_error_print(const char *program, const struct dg_error *e);
/* The same for a remark: `PROGRAM: warning: TEXT`. */
void dg_warning_print(const char *program, const char *text);
/* A whole page; ends of lines and tabs stay. */
void dg_print_plain(FILE *out, const char *text);

#endif
