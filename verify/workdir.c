/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/workdir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool dg_workdir_open(struct dg_workdir *dir, struct dg_error *e)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] == '\0')
        parent = "/tmp";
    if (strlen(parent) + 32 > sizeof dir->path)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "TMPDIR", "is too long", parent, NULL);
    dg_format(dir->path, sizeof dir->path, "%s/deepgemm-verify-XXXXXX", parent);
    if (mkdtemp(dir->path) == NULL) {
        dir->path[0] = '\0';
        return dg_fail(e, DG_EXIT_UNAVAILABLE, parent, "cannot make a folder for linking here",
                       strerror(errno), "set TMPDIR to a folder that can be written");
    }
    return true;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    remove(path);    /* what cannot be removed stays; there is nothing better to do about it */
    return 0;
}

void dg_workdir_close(struct dg_workdir *dir)
{
    if (dir->path[0] != '\0')
        nftw(dir->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    dir->path[0] = '\0';
}

void dg_workdir_path(const struct dg_workdir *dir, const char *name, char *out, size_t size)
{
    dg_format(out, size, "%s/%s", dir->path, name);
}
