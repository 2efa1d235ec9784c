/* SPDX-License-Identifier: Apache-2.0
 *
 * A private folder under TMPDIR (or /tmp) for what assembling and linking leave behind. */
#ifndef DG_BASE_WORKDIR_H
#define DG_BASE_WORKDIR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A small process waits beside it and removes the folder also when this one is interrupted or
 * killed. */
struct dg_workdir {
    char path[256];
    int alive;                   /* closed by our end, however it comes; -1: no such process */
    int janitor;                 /* its process id */
};

bool dg_workdir_open(struct dg_workdir *dir, struct dg_error *e);
/* Removes it with everything in it. */
void dg_workdir_close(struct dg_workdir *dir);
/* `name` in the folder; the name must be a plain one. */
void dg_workdir_path(const struct dg_workdir *dir, const char *name, char *out, size_t size);

#endif
