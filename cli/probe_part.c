/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a run that was interrupted, NAME.incomplete.json, and other names made from FILE. */
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/probe.h"

/* hardware.json gives hardware.MIDDLE.json. */
static const char *path_with(const char *path, const char *middle, struct dg_arena *arena)
{
    struct dg_str out;
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".json") == 0)
        length -= 5;
    dg_str_init(&out, arena);
    dg_str_addn(&out, path, length);
    dg_str_format(&out, ".%s.json", middle);
    return out.failed ? NULL : dg_str_text(&out);
}

const char *dg_probe_kind_path(const char *path, const char *kind, struct dg_arena *arena)
{
    return path_with(path, kind, arena);
}

const char *dg_probe_part_path(const char *path, struct dg_arena *arena)
{
    return path_with(path, "incomplete", arena);
}

void dg_probe_part_remove(const char *path, struct dg_arena *arena)
{
    const char *part = dg_probe_part_path(path, arena);
    const char *samples = part != NULL ? dg_samples_path(part, arena) : NULL;
    if (samples != NULL) {
        unlink(part);
        unlink(samples);
    }
}

bool dg_probe_part_load(const char *path, struct dg_arena *arena, struct dg_probe_part *out,
                        struct dg_probe_options *asked, struct dg_error *e)
{
    const char *part = dg_probe_part_path(path, arena);
    struct dg_samples_file *file = dg_alloc(arena, sizeof *file);
    out->path = part != NULL ? dg_samples_path(part, arena) : NULL;
    if (file == NULL || out->path == NULL)
        return dg_fail_memory(e, "");
    if (access(out->path, F_OK) != 0)
        return dg_fail(e, DG_EXIT_INPUT, out->path, "there is no interrupted run to go on from",
                       "no such file", "run without --resume");
    if (!dg_samples_read(out->path, arena, file, e))
        return false;
    out->file = file;
    out->info = dg_replay_info(file);
    out->cpu = (int)out->info.cpu;
    *asked = dg_replay_options(file);
    return true;
}

static bool same_features(const struct dg_bench_info *a, const struct dg_bench_info *b)
{
    bool same = a->feature_count == b->feature_count;
    for (size_t i = 0; same && i < a->feature_count; i++)
        same = strcmp(a->features[i], b->features[i]) == 0;
    return same;
}

bool dg_probe_part_fits(const struct dg_probe_part *part, const struct dg_bench_info *now,
                        const char *architecture, struct dg_error *e)
{
    const struct dg_bench_info *then = &part->info;
    const char *other =
        strcmp(dg_replay_architecture(part->file), architecture) != 0 ? "another architecture" :
        !same_features(then, now) ? "other instruction sets" :
        then->memory_limit != now->memory_limit ? "another limit of memory" :
        then->huge_pages != now->huge_pages ? "huge pages then or now, not both" :
        then->cpus != now->cpus ? "another number of CPUs" :
        then->emulated != now->emulated ? "emulated then or now, not both" : NULL;
    return other == NULL ||
           dg_fail(e, DG_EXIT_INPUT, part->path, "must be of this machine as it is now", other,
                   "run without --resume");
}
