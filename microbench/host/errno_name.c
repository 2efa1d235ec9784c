/* SPDX-License-Identifier: Apache-2.0
 * Errors of the system by name: a reader can look up EACCES, not 13. */
#include "microbench/host/host.h"

#include <errno.h>
#include <stdio.h>

const char *dg_errno_name(int number)
{
    static const struct { int number; const char *name; } names[] = {
#define NAME(name) {name, #name}
        NAME(EPERM), NAME(ENOENT), NAME(ESRCH), NAME(EINTR), NAME(EIO), NAME(ENXIO), NAME(E2BIG),
        NAME(EBADF), NAME(EAGAIN), NAME(ENOMEM), NAME(EACCES), NAME(EFAULT), NAME(EBUSY),
        NAME(EEXIST), NAME(ENODEV), NAME(ENOTDIR), NAME(EISDIR), NAME(EINVAL), NAME(ENFILE),
        NAME(EMFILE), NAME(ENOSPC), NAME(EROFS), NAME(ERANGE), NAME(ENAMETOOLONG), NAME(ENOSYS),
        NAME(ELOOP), NAME(EOVERFLOW), NAME(EOPNOTSUPP), NAME(ETIMEDOUT), NAME(EDQUOT),
#undef NAME
    };
    static _Thread_local char other[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    snprintf(other, sizeof other, "errno %d", number);
    return other;
}
