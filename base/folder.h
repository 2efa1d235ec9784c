/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder with several writers: one at a time, and cleaned of what killed ones left. */
#ifndef DG_BASE_FOLDER_H
#define DG_BASE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Waits at most so many seconds for all others that lock it. *lock is closed to unlock (the end of
 * the process does too); -1 where the folder or its file system knows no locks. Errors:
 * DG_EXIT_UNAVAILABLE. */
bool dg_folder_lock(const char *path, double seconds, int *lock, struct dg_error *e);

/* The name that a writer of `name` in this process gives a file of its own beside it: `number`
 * tells several apart, `end` (tmp or old) what it is for. */
void dg_folder_beside(const char *name, unsigned number, const char *end, char *out, size_t size);
/* Removes such files of writers of `name` that are no more. */
void dg_folder_sweep(const char *path, const char *name);

#endif
