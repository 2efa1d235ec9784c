/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include <string.h>

enum { LONGEST = 63 };

static char folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' ? '-' : c;
}

static unsigned bounded_length(const char *text)
{
    unsigned length = 0;
    while (length < LONGEST && text[length] != '\0')
        length++;
    return length;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned dg_name_distance(const char *a, const char *b)
{
    unsigned rows[3][LONGEST + 1];               /* the two rows before, and this one */
    unsigned m = bounded_length(a), n = bounded_length(b);
    for (unsigned j = 0; j <= n; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= m; i++) {
        unsigned *now = rows[i % 3];
        const unsigned *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= n; j++) {
            char x = folded(a[i - 1]), y = folded(b[j - 1]);
            now[j] = least(last[j - 1] + (x != y), least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && x == folded(b[j - 2]) && y == folded(a[i - 2]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

const char *dg_name_nearest(const char *text, const char *const *names, size_t count)
{
    const char *best = NULL;
    unsigned best_distance = bounded_length(text) / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        const char *dot = strrchr(names[i], '.');
        unsigned distance = dg_name_distance(text, names[i]);
        if (dot != NULL)                          /* a key at the wrong level */
            distance = least(distance, dg_name_distance(text, dot + 1) + 1);
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    return best;
}
