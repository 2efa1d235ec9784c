/* SPDX-License-Identifier: Apache-2.0
 *
 * The second ruler: core cycles of a call, measured while the core is undisturbed. */
#ifndef DG_VERIFY_RULER_H
#define DG_VERIFY_RULER_H

#include "emit/write/manifest.h"
#include "verify/report.h"
#include "verify/verify.h"
#include "verify/workdir.h"

struct dg_ruler_job {
    const struct dg_manifest *manifest;
    const char *shared;          /* the linked kernel */
    const char *source;          /* NAME.s, for the timing build of long calls; "": none */
};

/* Fills cycles and roofline of the report; what cannot be measured stays NaN with a reason. */
void dg_ruler_run(const struct dg_ruler_job *job, const struct dg_workdir *dir,
                  const struct dg_verify_options *options, struct dg_arena *arena,
                  struct dg_kernel_report *report);

#endif
