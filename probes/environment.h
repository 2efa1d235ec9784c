/* SPDX-License-Identifier: Apache-2.0
 *
 * What changes from run to run, for `environment`; what cannot be read there is null, and has its
 * reason in the list `unknown`. */
#ifndef DG_PROBES_ENVIRONMENT_H
#define DG_PROBES_ENVIRONMENT_H

#include "microbench/bench.h"
#include "microbench/host/conditions.h"
#include "probes/answers.h"
#include "microbench/host/identity.h"

void dg_environment(struct dg_facts *facts, struct dg_host *host, const struct dg_bench_info *info,
                    const struct dg_identity *identity, const struct dg_conditions *before,
                    const struct dg_conditions *after);

#endif
