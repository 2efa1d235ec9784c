/* SPDX-License-Identifier: Apache-2.0 */
#include "base/report.h"

#include <stdio.h>

/* Text from a file or the command line must not steer the terminal. */
static void put_plain(const char *before, const char *text)
{
    if (text[0] != '\0')
        fputs(before, stderr);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
            fprintf(stderr, "\\x%02x", c);
        else
            fputc(c, stderr);
    }
}

int dg_error_print(const char *program, const struct dg_error *e)
{
    fprintf(stderr, "%s: error", program);
    put_plain(": ", e->where);
    put_plain(": ", e->rule);
    put_plain(", found ", e->value);
    fputc('\n', stderr);
    if (e->todo[0] != '\0')
        fprintf(stderr, "  %s\n", e->todo);
    return e->exit_code == DG_EXIT_OK ? DG_EXIT_INTERNAL : (int)e->exit_code;
}

void dg_warning_print(const char *program, const char *text)
{
    fprintf(stderr, "%s: warning: %s\n", program, text);
}
