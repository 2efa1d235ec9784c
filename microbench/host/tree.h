/* SPDX-License-Identifier: Apache-2.0
 *
 * A machine as a tree of files: proc and sys as far as they were asked, and a file `machine` with
 * the words that are no files (CPUID, the kernel's features, the CPUs of the process). */
#ifndef DG_MICROBENCH_HOST_TREE_H
#define DG_MICROBENCH_HOST_TREE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "microbench/host/host.h"

/* A host that passes every question on and keeps what was answered. Nothing that tells whose
 * machine it is: of files that hold more only the lines asked for, names of control groups by their
 * depth. */
struct dg_tree_writer {
    struct dg_host host;                         /* first: its readers know the rest by it */
    struct dg_host *inner;
    const char *folder;
    struct dg_str words;                         /* of the file `machine` */
    struct dg_error *error;
    unsigned files;
    bool failed;
};
/* False: the folder holds something already, or cannot be made. */
bool dg_tree_create(struct dg_tree_writer *writer, struct dg_host *inner, const char *folder,
                    struct dg_arena *arena, struct dg_error *e);
/* After the questions: writes `machine`. False: it or an earlier file could not be written. */
bool dg_tree_finish(struct dg_tree_writer *writer);

/* Takes the words of folder/machine into a host that reads below this folder: for questions, never
 * for measuring, since features are those of another machine. False with *e empty: there is no such
 * file, the host is as it was; with an error: it is none. */
bool dg_tree_words(struct dg_host *host, const char *folder, struct dg_arena *arena,
                   struct dg_error *e);

#endif
