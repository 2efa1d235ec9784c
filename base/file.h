/* SPDX-License-Identifier: Apache-2.0
 *
 * Files whole: read with a limit, written so that on any failure the old one is still there. */
#ifndef DG_BASE_FILE_H
#define DG_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* The whole file with a zero byte behind it, in the arena (which must be able to grow). A file of
 * more than `limit` bytes is refused. size may be NULL when the bytes are a text: then a zero
 * byte inside is an error. Errors: DG_EXIT_INPUT. */
char *dg_file_read(const char *path, size_t limit, struct dg_arena *arena, size_t *size,
                   struct dg_error *e);

/* Replaces the file in one step: a temporary file beside it is written, flushed to the disk and
 * renamed over it; the old file stays whole on every failure (full disk, no permission, kill).
 * A symbolic link stays one: its target is replaced (a dangling one is replaced itself). Devices,
 * pipes and /dev/stdout are written straight. The folder must exist. Errors:
 * DG_EXIT_UNAVAILABLE. */
bool dg_file_write(const char *path, const void *bytes, size_t size, struct dg_error *e);

/* A set of files, all or none. The last one names the others: where it is missing there is no set.
 * Nothing is touched before every file is on the disk; then the old ones are removed, the last one
 * first, and the new ones take their places, the last one last, so that a kill at any moment
 * leaves files of one generation and never the last of an unfinished one. A failure puts the old
 * set back. Two writers in one folder come one after the other; a wait of ten seconds is an error.
 * What killed writers left of the same names is removed. */
struct dg_file_part {
    const char *path;
    const void *bytes;
    size_t size;
};
bool dg_file_write_all(const struct dg_file_part *parts, size_t count, struct dg_error *e);

/* Whether a file could be written there, as far as can be told without writing: asked before long
 * work. A full disk shows only at the end. */
bool dg_file_check(const char *path, struct dg_error *e);

/* Two paths of one file that exists. */
bool dg_file_same(const char *a, const char *b);

/* Makes a folder and those above it; an existing one is fine. */
bool dg_folder_make(const char *path, struct dg_error *e);

/* For the end of every command that prints: flushes stdout and says whether all of it arrived
 * (full disk, closed pipe, closed stdout). */
bool dg_stdout_done(struct dg_error *e);

#endif
