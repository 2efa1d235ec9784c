/* SPDX-License-Identifier: Apache-2.0 */
#include "base/workdir.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    remove(path);    /* what cannot be removed stays; there is nothing better to do about it */
    return 0;
}

static void remove_all(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Waits for the other end of the pipe to be closed, then cleans up. In a process group of its own,
 * so that Ctrl-C does not end it first. */
static _Noreturn void be_janitor(const char *path, int input)
{
    char byte;
    setpgid(0, 0);
    int held = fcntl(input, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);   /* it may be one of the three */
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    while (read(held, &byte, 1) < 0 && errno == EINTR)
        ;
    remove_all(path);
    _exit(0);
}

/* Without one the folder is only removed by a normal end. */
static void start_janitor(struct dg_workdir *dir)
{
    int ends[2];
    dir->alive = dir->janitor = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        be_janitor(dir->path, ends[0]);
    }
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return;
    }
    dir->alive = ends[1];
    dir->janitor = pid;
}

bool dg_workdir_open(struct dg_workdir *dir, struct dg_error *e)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] != '/')
        parent = "/tmp";
    if (strlen(parent) + 32 > sizeof dir->path)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "TMPDIR", "is too long", parent,
                       "set it to a shorter path");
    dg_format(dir->path, sizeof dir->path, "%s/deepgemm-XXXXXX", parent);
    if (mkdtemp(dir->path) == NULL)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, parent, "needs a temporary folder there",
                       strerror(errno), "set TMPDIR to a folder that can be written");
    start_janitor(dir);
    return true;
}

void dg_workdir_close(struct dg_workdir *dir)
{
    if (dir->alive < 0) {
        remove_all(dir->path);
        return;
    }
    close(dir->alive);
    while (waitpid(dir->janitor, NULL, 0) < 0 && errno == EINTR)
        ;
}

void dg_workdir_path(const struct dg_workdir *dir, const char *name, char *out, size_t size)
{
    dg_format(out, size, "%s/%s", dir->path, name);
}
