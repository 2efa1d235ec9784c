/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of deepgemm-probe. */
#ifndef DG_CLI_PROBE_H
#define DG_CLI_PROBE_H

#include "base/str.h"
#include "cli/options.h"
#include "microbench/bench.h"
#include "probes/replay.h"
#include "probes/run.h"
#include "profile/profile.h"

/* cli/probe_run.c: measures; the command `run`. */
bool dg_probe_command_run(const struct dg_options *options, struct dg_error *e);

/* cli/probe_record.c: the command `record`, a tree for --sysroot. */
bool dg_probe_command_record(const struct dg_options *options, struct dg_error *e);

/* cli/probe_part.c: FILE.incomplete.json, what an interrupted run leaves, and other names made
 * from FILE; NULL: no memory. */
struct dg_probe_part {
    const char *path;                            /* of the samples */
    const struct dg_samples_file *file;          /* NULL: there is none */
    struct dg_bench_info info;                   /* as the interrupted run saw it */
    int cpu;
};
const char *dg_probe_kind_path(const char *path, const char *kind, struct dg_arena *arena);
const char *dg_probe_part_path(const char *path, struct dg_arena *arena);
void dg_probe_part_remove(const char *path, struct dg_arena *arena);
/* The options of the interrupted run take the place of *asked. */
bool dg_probe_part_load(const char *path, struct dg_arena *arena, struct dg_probe_part *out,
                        struct dg_probe_options *asked, struct dg_error *e);
/* False, with an error: it was measured where other requests are possible. */
bool dg_probe_part_fits(const struct dg_probe_part *part, const struct dg_bench_info *now,
                        const char *architecture, struct dg_error *e);

/* cli/probe_infer.c: the command `infer`, the same answers from a samples file. */
bool dg_probe_command_infer(const struct dg_options *options, struct dg_error *e);
/* The profile of what the probes answered. */
bool dg_probe_profile(const struct dg_probe_result *result, const char *name,
                      const char *architecture, struct dg_arena *arena, struct dg_profile *out,
                      struct dg_error *e);
/* To stdout: the profile with --json, else a summary. */
bool dg_probe_print(const struct dg_profile *profile, const struct dg_options *options,
                    struct dg_error *e);

/* cli/probe_compare.c */
bool dg_probe_command_compare(const struct dg_options *options, struct dg_error *e);
bool dg_probe_command_merge(const struct dg_options *options, struct dg_error *e);

/* cli/probe_report.c */
bool dg_probe_command_report(const struct dg_options *options, struct dg_error *e);

/* cli/probe_map.c: its cores and caches, drawn. */
void dg_probe_map(const struct dg_profile *profile, struct dg_str *out);

/* cli/probe_summary.c: one screen about a profile. 32 KiB, 4.01 cycles, 2.0 GHz */
void dg_probe_number(char out[64], double value, const char *unit);
void dg_probe_summary(const struct dg_profile *profile, struct dg_str *out);

#endif
