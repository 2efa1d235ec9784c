/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

static void copy(char *out, size_t size, const char *text)
{
    size_t i = 0;
    for (; text != NULL && text[i] != '\0' && i + 1 < size; i++)
        out[i] = text[i];
    out[i] = '\0';
}

bool dg_fail(struct dg_error *e, enum dg_exit code, const char *where, const char *rule,
             const char *value, const char *todo)
{
    if (e == NULL)
        return false;
    e->exit_code = code;
    copy(e->where, sizeof e->where, where);
    copy(e->rule, sizeof e->rule, rule);
    copy(e->value, sizeof e->value, value);
    copy(e->todo, sizeof e->todo, todo);
    return false;
}

bool dg_fail_memory(struct dg_error *e, const char *where)
{
    return dg_fail(e, DG_EXIT_UNAVAILABLE, where, "needs more memory", "none is left",
                   "free some memory, or raise the limit (ulimit -v)");
}
