/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of kernels become global symbols and names in a header that C and C++ programs include. */
#include "emit/problem/name.h"

#include <stddef.h>
#include <string.h>

/* C17, C23 and C++23, and main and std, which a program has already. */
static const char *const keywords[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
    "int", "long", "main", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert",
    "static_cast", "std", "struct", "switch", "template", "this", "thread_local", "throw",
    "true", "try", "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
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
    *rule = "is a keyword of C or C++";
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(name, keywords[i]) == 0)
            return false;
    return true;
}
