/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/tools.h"

#include <string.h>
#include <unistd.h>

#include "base/run.h"

enum { TOOL_MS = 60 * 1000 };

static const char *first_found(const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (dg_run_finds(names[i]))
            return names[i];
    return NULL;
}

static bool run_tool(const char *const *argv, const char *rule, const char *todo,
                     struct dg_error *e)
{
    struct dg_run result;
    char words[sizeof e->value];
    if (!dg_run(argv, TOOL_MS, &result, e))
        return false;
    if (result.status == 0 && !result.late)
        return true;
    dg_run_words(&result, NULL, words, sizeof words);
    return dg_fail(e, DG_EXIT_UNAVAILABLE, argv[0], rule, words, todo);
}

bool dg_link_shared(const char *cc, const char *object, const char *shared, struct dg_error *e)
{
    static const char *const drivers[] = {"cc", "gcc", "clang", NULL};
    if (cc == NULL)
        cc = first_found(drivers);
    if (cc == NULL)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "verify", "needs a C compiler to link the kernel",
                       "no cc, gcc or clang in PATH", "install gcc, or give one with --cc");
    const char *const argv[] = {cc, "-shared", "-nostdlib", "-Wl,-z,text", "-Wl,-z,noexecstack",
                                "-o", shared, object, NULL};
    if (!run_tool(argv, "cannot link the kernel into a shared object",
                  "name another compiler with --cc", e))
        return false;
    /* else its absence would look like a fault of the kernel */
    if (access(shared, R_OK) != 0)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, cc, "must write a shared object",
                       "it ended well without one", "name another compiler with --cc");
    return true;
}

bool dg_assemble_timing(const char *as, const char *cc, const char *source, const char *object,
                        struct dg_error *e)
{
    static const char *const assemblers[] = {"as", NULL}, *const drivers[] = {"cc", "gcc", NULL};
    if (as == NULL && cc == NULL)
        as = first_found(assemblers);
    if (as == NULL && cc == NULL)
        cc = first_found(drivers);
    if (as == NULL && cc == NULL)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "verify", "needs an assembler for the timing build",
                       "no as, cc or gcc in PATH", "install binutils, or give one with --as");
    const char *const with_as[] = {as, "--defsym", "DG_TIMING=1", "-o", object, source, NULL};
    const char *const with_cc[] = {cc, "-c", "-Wa,--defsym,DG_TIMING=1", "-o", object, source,
                                   NULL};
    return run_tool(as != NULL ? with_as : with_cc, "cannot assemble the timing build",
                    "name another assembler with --as", e);
}
