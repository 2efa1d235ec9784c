/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "emit/write/archive.h"

static void header(struct dg_str *out, const char *name, size_t size)
{
    /* name 16, date 12, owner 6, group 6, mode 8, size 10: fixed, so that bytes repeat */
    dg_str_format(out, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "644", size);
}

static void big_endian(struct dg_str *out, size_t value)
{
    unsigned char bytes[4] = { (unsigned char)(value >> 24), (unsigned char)(value >> 16),
                               (unsigned char)(value >> 8), (unsigned char)value };
    dg_str_addn(out, bytes, sizeof bytes);
}

static void pad(struct dg_str *out, size_t size)
{
    if (size % 2 != 0)
        dg_str_addn(out, "\n", 1);
}

enum { HEADER = 60, MAGIC = 8, SHORT_NAME = 15 };

void dg_archive_put(struct dg_str *out, const char *member, const void *bytes, size_t size,
                    const char *const *symbols, size_t symbol_count)
{
    size_t index = 4 + 4 * symbol_count, length = strlen(member);
    for (size_t i = 0; i < symbol_count; i++)
        index += strlen(symbols[i]) + 1;
    bool is_long = length > SHORT_NAME;
    size_t names = is_long ? length + 2 : 0;             /* "member/\n" */
    size_t at = MAGIC + HEADER + index + index % 2;
    if (is_long)
        at += HEADER + names + names % 2;

    dg_str_addn(out, "!<arch>\n", MAGIC);
    header(out, "/", index);
    big_endian(out, symbol_count);
    for (size_t i = 0; i < symbol_count; i++)
        big_endian(out, at);
    for (size_t i = 0; i < symbol_count; i++)
        dg_str_addn(out, symbols[i], strlen(symbols[i]) + 1);
    if (index % 2 != 0)
        dg_str_addn(out, "", 1);
    char name[SHORT_NAME + 2] = "/0";
    if (is_long) {
        header(out, "//", names);
        dg_str_format(out, "%s/\n", member);
        pad(out, names);
    } else {
        memcpy(name, member, length);
        name[length] = '/', name[length + 1] = '\0';
    }
    header(out, name, size);
    dg_str_addn(out, bytes, size);
    pad(out, size);
}
