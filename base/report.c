/* SPDX-License-Identifier: Apache-2.0 */
#include "base/report.h"

#include <string.h>

/* Bytes of the control character at c, 0 when it is none: ASCII, or the second set of Unicode. */
static size_t control_length(const unsigned char *c)
{
    if (*c < ' ' || *c == 0x7f)
        return 1;
    return *c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f ? 2 : 0;
}

static void put_plain(FILE *out, const char *text, const char *kept)
{
    const unsigned char *c = (const unsigned char *)text;
    while (*c != '\0') {
        size_t length = strchr(kept, *c) != NULL ? 0 : control_length(c);
        if (length == 0)
            fputc(*c++, out);
        for (; length > 0; length--)
            fprintf(out, "\\x%02x", *c++);
    }
}

void dg_print_plain(FILE *out, const char *text)
{
    put_plain(out, text, "\n\t");
}

static void put_part(const char *before, const char *text)
{
    if (text[0] != '\0')
        fputs(before, stderr);
    put_plain(stderr, text, "\t");
}

int dg_error_print(const char *program, const struct dg_error *e)
{
    fprintf(stderr, "%s: error", program);
    put_part(": ", e->where);
    put_part(": ", e->rule);
    put_part(", found ", e->value);
    fputc('\n', stderr);
    put_part("  ", e->todo);
    if (e->todo[0] != '\0')
        fputc('\n', stderr);
    return e->exit_code == DG_EXIT_OK ? DG_EXIT_INTERNAL : (int)e->exit_code;
}

void dg_warning_print(const char *program, const char *text)
{
    fprintf(stderr, "%s: warning", program);
    put_part(": ", text);
    fputc('\n', stderr);
}
