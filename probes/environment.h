/* SPDX-License-Identifier: Apache-2.0
 *
 * What changes from run to run, for `environment`. */
#ifndef DG_PROBES_ENVIRONMENT_H
#define DG_PROBES_ENVIRONMENT_H

#include "microbench/bench.h"
#include "microbench/host/host.h"
#include "probes/answers.h"
#include "probes/claims/identity.h"

void dg_environment(struct dg_facts *facts, struct dg_host *host, const struct dg_bench_info *info,
                    const struct dg_identity *identity);

#endif
