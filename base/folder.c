/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/deadline.h"

enum { AGAIN_MS = 10 };

bool dg_folder_lock(const char *path, double seconds, int *lock, struct dg_error *e)
{
    int deadline = dg_deadline_open(seconds);
    struct pollfd end = { .fd = deadline, .events = POLLIN };
    bool busy;
    *lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    do
        busy = *lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    while (busy && deadline >= 0 && poll(&end, 1, AGAIN_MS) <= 0);
    if (deadline >= 0)
        close(deadline);
    if (!busy)
        return true;
    close(*lock);
    *lock = -1;
    return dg_fail(e, DG_EXIT_UNAVAILABLE, path, "is written by one program at a time",
                   "another one is still at it",
                   "run this again when that has ended, or choose another folder");
}

/* `.NAME.`, cut so that what follows stays within NAME_MAX. */
static size_t begin(const char *name, char out[208])
{
    char cut[200];
    dg_format(cut, sizeof cut, "%s", name);
    return dg_format(out, 208, ".%s.", cut);
}

void dg_folder_beside(const char *name, unsigned number, const char *end, char *out, size_t size)
{
    char start[208];
    begin(name, start);
    dg_format(out, size, "%s%ld.%u.%s", start, (long)getpid(), number, end);
}

/* The process that such a file belongs to; 0: the file is another. */
static pid_t writer_of(const char *file, const char *name)
{
    char start[208], end[4];
    int process = 0, whole = 0;
    unsigned number;
    size_t length = begin(name, start);
    if (strncmp(file, start, length) != 0 ||
        sscanf(file + length, "%9d.%9u.%3[a-z]%n", &process, &number, end, &whole) != 3 ||
        file[length + (size_t)whole] != '\0')
        return 0;
    return strcmp(end, "tmp") == 0 || strcmp(end, "old") == 0 ? process : 0;
}

void dg_folder_sweep(const char *path, const char *name)
{
    DIR *folder = opendir(path);
    for (struct dirent *d; folder != NULL && (d = readdir(folder)) != NULL;) {
        pid_t process = writer_of(d->d_name, name);
        if (process > 0 && kill(process, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(folder), d->d_name, 0);
    }
    if (folder != NULL)
        closedir(folder);
}
