/* SPDX-License-Identifier: Apache-2.0
 *
 * The first ruler: is it right, and does it keep the calling convention? Runs the checks of
 * verify/runner in a child, natively or under an emulator. */
#ifndef DG_VERIFY_NUMBERS_H
#define DG_VERIFY_NUMBERS_H

#include "emit/write/manifest.h"
#include "verify/report.h"
#include "verify/verify.h"
#include "base/workdir.h"

/* `folder` holds the files that the manifest lists. False: nothing could be run, *e says why.
 * `shared`: the linked kernel (native). */
bool dg_numbers_native(const struct dg_manifest *manifest, const char *shared,
                       const struct dg_verify_options *options, struct dg_arena *arena,
                       struct dg_kernel_report *report, struct dg_error *e);
bool dg_numbers_emulated(const struct dg_manifest *manifest, const char *object,
                         const struct dg_workdir *dir, const struct dg_verify_options *options,
                         struct dg_arena *arena, struct dg_kernel_report *report,
                         struct dg_error *e);

#endif
