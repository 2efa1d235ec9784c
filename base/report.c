/* SPDX-License-Identifier: Apache-2.0 */
#include "base/report.h"

#include <stdio.h>

int dg_error_print(const char *program, const struct dg_error *e)
{
    fprintf(stderr, "%s: error", program);
    if (e->where[0] != '\0')
        fprintf(stderr, ": %s", e->where);
    if (e->rule[0] != '\0')
        fprintf(stderr, ": %s", e->rule);
    if (e->value[0] != '\0')
        fprintf(stderr, ", found %s", e->value);
    fputc('\n', stderr);
    if (e->todo[0] != '\0')
        fprintf(stderr, "  %s\n", e->todo);
    return e->exit_code == DG_EXIT_OK ? DG_EXIT_INTERNAL : (int)e->exit_code;
}

void dg_warning_print(const char *program, const char *text)
{
    fprintf(stderr, "%s: warning: %s\n", program, text);
}
