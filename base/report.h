/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_BASE_REPORT_H
#define DG_BASE_REPORT_H

#include "base/error.h"

/* On stderr: `PROGRAM: error: WHERE: RULE: VALUE` and a second line with what to do. Returns the
 * exit code for main(); an error without one counts as internal. */
int dg_error_print(const char *program, const struct dg_error *e);
/* The same for a remark: `PROGRAM: warning: TEXT`. */
void dg_warning_print(const char *program, const char *text);

#endif
