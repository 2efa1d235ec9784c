/* SPDX-License-Identifier: Apache-2.0
 *
 * A runner for a kernel of another architecture: a static program and the emulator to start it. */
#ifndef DG_VERIFY_CROSS_H
#define DG_VERIFY_CROSS_H

#include "emit/write/manifest.h"
#include "verify/runner/runner.h"
#include "verify/verify.h"
#include "base/workdir.h"

/* The argument vector that runs all checks on `object`; NULL: a tool is missing or failed, *e. */
const char *const *dg_cross_program(const struct dg_manifest *manifest, const char *object,
                                    const struct dg_workdir *dir,
                                    const struct dg_verify_options *options,
                                    const struct dg_run_kernel *kernel,
                                    const struct dg_run_options *run, struct dg_arena *arena,
                                    struct dg_error *e);

#endif
