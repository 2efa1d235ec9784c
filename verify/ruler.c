/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/ruler.h"

void dg_ruler_run(const struct dg_ruler_job *job, const struct dg_workdir *dir,
                  const struct dg_verify_options *options, struct dg_arena *arena,
                  struct dg_kernel_report *report)
{
    report->cycles.reason = "no time source";
}
