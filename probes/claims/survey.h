/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks a machine all that a run on any of its CPUs would ask, for a host that keeps the answers. */
#ifndef DG_PROBES_CLAIMS_SURVEY_H
#define DG_PROBES_CLAIMS_SURVEY_H

#include "base/arena.h"
#include "microbench/host/host.h"

/* Returns how many CPUs were asked about: those of the host's affinity. */
unsigned dg_survey(struct dg_host *host, struct dg_arena *arena);

#endif
