/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of kernels become global symbols and names in a header that C and C++ programs include. */
#include "emit/problem/name.h"

#include <stddef.h>
#include <string.h>

static const struct { const char *rule, *endings, *names; } reserved[] = {
#define RESERVED(rule, endings, names) { rule, endings, names },
#include "emit/problem/reserved.def"
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the name is the word of `size` letters, one of which may be a `*`, or has an ending. */
static bool is_word(const char *name, const char *word, size_t size, const char *endings)
{
    size_t length = strlen(name), head = 0;
    while (head < size && word[head] != '*')
        head++;
    if (head < size) {
        size_t tail = size - head - 1;
        return length >= head + tail && memcmp(name, word, head) == 0 &&
               memcmp(name + length - tail, word + head + 1, tail) == 0;
    }
    return length >= size && memcmp(name, word, size) == 0 &&
           (length == size || (length == size + 1 && strchr(endings, name[size]) != NULL));
}

static bool is_one_of(const char *name, const char *names, const char *endings)
{
    while (*names != '\0') {
        size_t size = strcspn(names, " ");
        if (is_word(name, names, size, endings))
            return true;
        names += size + (names[size] == ' ');
    }
    return false;
}

bool dg_kernel_name_valid(const char *name, const char **rule)
{
    *rule = "is not a C identifier";
    if (!is_letter(name[0]))
        return false;
    for (size_t i = 0; name[i] != '\0'; i++)
        if (!is_letter(name[i]) && !is_digit(name[i]))
            return false;
    *rule = "is reserved: it starts with an underscore or holds two in a row";
    if (name[0] == '_' || strstr(name, "__") != NULL)
        return false;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        *rule = reserved[i].rule;
        if (is_one_of(name, reserved[i].names, reserved[i].endings))
            return false;
    }
    return true;
}
