/* SPDX-License-Identifier: Apache-2.0
 *
 * The second ruler: core cycles of a call, measured while the core is undisturbed; and with them
 * the third, the roofline. */
#ifndef DG_VERIFY_RULER_H
#define DG_VERIFY_RULER_H

#include "emit/write/manifest.h"
#include "verify/report.h"
#include "verify/verify.h"

struct dg_ruler_kernel {
    const struct dg_manifest *manifest;
    const char *shared;          /* the linked kernel */
    const char *timing;          /* the linked timing build, or NULL */
    struct dg_kernel_report *report;
};

/* Times all round robin in one child. Fills cycles and roofline of the reports; what cannot be
 * measured stays NaN with a reason. Never fails: speed is no check. */
void dg_ruler_run(const struct dg_ruler_kernel *kernels, size_t count,
                  const struct dg_verify_options *options, struct dg_arena *arena,
                  struct dg_verify_report *report);

#endif
