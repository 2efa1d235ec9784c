/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs something that may crash or hang in a process of its own and reads its lines. */
#ifndef DG_VERIFY_CHILD_H
#define DG_VERIFY_CHILD_H

#include <stdbool.h>

#include "base/error.h"

/* In the child: does the work, writes lines to `out`; the result is its exit code. */
typedef int dg_child_start(void *argument, int out);
/* In the parent, for each line (without its end). */
typedef void dg_child_line(void *context, char *line);

struct dg_child_end {
    bool late;                   /* the time limit ended it */
    int signal;                  /* that ended it, or 0 */
    int status;                  /* its exit code */
};

/* False: it could not be started. The child dies with its parent. */
bool dg_child_run(dg_child_start *start, void *argument, double limit_seconds, dg_child_line *line,
                  void *context, struct dg_child_end *end, struct dg_error *e);

/* "SIGSEGV" and so on, "signal" for those without a name here. */
const char *dg_signal_name(int number);

#endif
