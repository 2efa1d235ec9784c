/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers of probes and facts of the run to a profile. */
#ifndef DG_PROFILE_BUILDER_H
#define DG_PROFILE_BUILDER_H

#include "base/arena.h"
#include "base/error.h"
#include "profile/profile.h"

struct dg_build {
    const char *name, *architecture;
    const struct dg_answer *answers;     /* any order; a key at most once */
    size_t answer_count;
    const struct dg_fact *facts;
    size_t fact_count;
};

/* Every scalar without an answer becomes null with the reason "not probed". Scalars that say the
 * same as a cell are derived from it (fma_latency, memory_bandwidth_gbps, l1_to_l2_bandwidth_gbps,
 * l2_to_dram_bandwidth_gbps) unless they have an answer. A measured value that contradicts another
 * becomes unreliable. An answer that fields.def and families.def do not allow (unknown key, wrong
 * unit, type or range, twice) is an internal error. Texts are not copied: they must live as long as
 * the profile. */
bool dg_profile_build(const struct dg_build *build, struct dg_arena *arena,
                      struct dg_profile *out, struct dg_error *e);

#endif
