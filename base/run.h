/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_BASE_RUN_H
#define DG_BASE_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What another program did. */
struct dg_run {
    int status;                  /* its exit code, or 128 + the signal that ended it */
    bool late;                   /* the time limit ended it */
    char output[8192];           /* the start of its stdout and stderr together, terminated */
};

/* Runs argv (NULL-terminated; no shell; argv[0] is looked up in PATH unless it holds a '/') with
 * an empty stdin and waits for its end, at most `limit_ms` milliseconds; a late one is killed with
 * its whole process group. False: it could not be started, *e says why (DG_EXIT_UNAVAILABLE). */
bool dg_run(const char *const *argv, unsigned limit_ms, struct dg_run *out, struct dg_error *e);
/* How it ended and the line of its output that says most, for an error's value: "exit status 1:
 * no such instruction". A line begins behind `folder`, of temporary files, which may be NULL. */
void dg_run_words(const struct dg_run *run, const char *folder, char *out, size_t size);
/* A program of that name that can be run: in PATH, or at that path when it holds a '/'. */
bool dg_run_finds(const char *name);

#endif
