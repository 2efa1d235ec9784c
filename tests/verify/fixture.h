/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder with one hand-written kernel and its manifest, for tests of the verifier. */
#ifndef DG_TESTS_VERIFY_FIXTURE_H
#define DG_TESTS_VERIFY_FIXTURE_H

#include <stdbool.h>

#include "emit/write/manifest.h"
#include "verify/verify.h"

struct fixture {
    struct dg_arena arena;
    struct { char text[256]; } folder;
    struct dg_manifest manifest;       /* what write() writes; tests may change it first */
    struct dg_manifest_file file;
    char object_hash[65];
    struct dg_verify_options options;
    struct dg_verify_report report;
    struct dg_error error;
};

/* Assembles tests/verify/kernels/SOURCE with --defsym BREAK_FAULT=1 (fault NULL: as it is) into
 * hand.o and fills the manifest for it. */
bool fixture_open(struct fixture *f, const char *as, const char *source, const char *fault);
/* The same from kernels/plain.c with these options of the compiler; the list ends with NULL. */
bool fixture_compile(struct fixture *f, const char *cc, const char *const options[]);
bool fixture_write(struct fixture *f);          /* hand.json */
enum dg_exit fixture_verify(struct fixture *f, const char *name);   /* name: in the folder, or "" */
void fixture_close(struct fixture *f);
/* The first failed check of the only kernel, or NULL. */
const struct dg_check *fixture_failed(const struct fixture *f);
void fixture_path(const struct fixture *f, const char *name, char *out, unsigned long size);

#endif
