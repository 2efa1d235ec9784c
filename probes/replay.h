/* SPDX-License-Identifier: Apache-2.0
 *
 * A run of the probes as a samples file, and the same answers from it anywhere. */
#ifndef DG_PROBES_REPLAY_H
#define DG_PROBES_REPLAY_H

#include "profile/samples.h"
#include "probes/claims/claims.h"
#include "probes/record.h"
#include "probes/run.h"

/* What a run depends on beside the samples. */
struct dg_replay_header {
    const struct dg_bench_info *info;
    const struct dg_probe_options *options;
    const char *name;                        /* of the profile */
    const struct dg_fact *environment;       /* facts that no sample tells */
    size_t environment_count;
};
/* *out points into the arena and the recording. */
bool dg_replay_pack(const struct dg_replay_header *header, const struct dg_claims *claims,
                    const struct dg_recording *recording, struct dg_arena *arena,
                    struct dg_samples_file *out);
/* The profile's name and architecture; "" where the file has none. */
const char *dg_replay_name(const struct dg_samples_file *file);
const char *dg_replay_architecture(const struct dg_samples_file *file);
/* The options of the recorded run: everything but callbacks. */
struct dg_probe_options dg_replay_options(const struct dg_samples_file *file);
/* What the recorded run knew of its bench; texts and lists stay the file's. */
struct dg_bench_info dg_replay_info(const struct dg_samples_file *file);
void dg_replay_claims(const struct dg_samples_file *file, struct dg_claims *out);
/* Runs the probes on the file's samples; facts of the environment come from the file. */
bool dg_replay_run(const struct dg_samples_file *file, struct dg_arena *arena,
                   struct dg_probe_result *out, struct dg_error *e);

#endif
