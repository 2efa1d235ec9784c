/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/str.h"
#include "emit/lower/lower.h"
#include "emit/write/archive.h"
#include "emit/write/describe.h"
#include "emit/write/emit.h"
#include "emit/write/object.h"
#include "emit/write/source.h"
#include "emit/write/target.h"

struct job {
    const struct dg_emit_options *options;
    struct dg_arena *arena;
    const char *name, *stem;
    struct dg_emitted *out;
    struct dg_error *e;
};

static bool no_memory(const struct job *job)
{
    dg_fail_memory(job->e, job->name);
    return false;
}

/* PREFIX STEM SUFFIX is the file's name. */
static bool add(struct job *job, const char *prefix, const char *suffix, const void *bytes,
                size_t size)
{
    struct dg_str name;
    dg_str_init(&name, job->arena);
    dg_str_format(&name, "%s%s%s", prefix, job->stem, suffix);
    if (name.failed || bytes == NULL)
        return no_memory(job);
    job->out->file[job->out->count++] = (struct dg_emit_file){ dg_str_text(&name), bytes, size };
    return true;
}

static bool add_text(struct job *job, const char *suffix, const char *text)
{
    return add(job, "", suffix, text, text != NULL ? strlen(text) : 0);
}

static bool add_object(struct job *job, const struct dg_kernel *kernel, const char *source)
{
    const struct dg_ir_code *codes[2] = { kernel->run, kernel->pack };
    struct dg_object object;
    struct dg_str archive;
    const char *bytes;
    size_t size;
    if (!dg_assemble(&job->options->assembler, job->name, source, codes,
                     kernel->pack != NULL ? 2 : 1, job->arena, &bytes, &size,
                     &job->out->assembler, job->e))
        return false;
    const struct dg_target *target = dg_target_for(kernel->run->isa);
    if (!dg_object_check(bytes, size, target->elf_machine, job->name, job->out->assembler,
                         job->arena, &object, job->e) ||
        !add(job, "", ".o", bytes, size))
        return false;
    dg_str_init(&archive, job->arena);
    dg_archive_put(&archive, job->out->file[job->out->count - 1].name, bytes, size,
                   object.symbols, object.symbol_count);
    return archive.failed ? no_memory(job)
                          : add(job, "lib", ".a", archive.text, archive.length);
}

static bool add_manifest(struct job *job, struct dg_manifest *manifest)
{
    struct dg_manifest_file files[DG_EMIT_FILES];
    char hash[DG_EMIT_FILES][DG_SHA256_HEX];
    for (size_t i = 0; i < job->out->count; i++) {
        const struct dg_emit_file *file = &job->out->file[i];
        dg_sha256_hex(file->bytes, file->size, hash[i]);
        files[i] = (struct dg_manifest_file){ file->name, hash[i] };
    }
    manifest->files = files;
    manifest->file_count = job->out->count;
    return add_text(job, ".json", dg_manifest_text(manifest, job->arena));
}

static bool set_debug_name(struct job *job, struct dg_kernel *kernel)
{
    struct dg_str name;
    if (!kernel->problem->enable_debug)
        return true;
    dg_str_init(&name, job->arena);
    dg_str_format(&name, "%s.s", job->stem);
    kernel->debug_name = dg_str_text(&name);
    return name.failed ? no_memory(job) : true;
}

/* A profile's name may hold anything; a comment must not end in the middle of it. */
static const char *plain_text(const char *text, struct dg_arena *arena)
{
    char *out = dg_strdup(arena, text);
    for (char *c = out; c != NULL && *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~' || *c == '*' || *c == '\\')
            *c = '?';
    return out;
}

/* The manifest before the texts, which quote it. */
static bool describe(struct job *job, struct dg_kernel *kernel, const struct dg_lowered *lowered,
                     struct dg_view *view, struct dg_manifest *manifest)
{
    if (!dg_describe(kernel, view, job->arena, manifest) || !set_debug_name(job, kernel))
        return no_memory(job);
    manifest->stamps.loop = lowered->stamp_loop != NULL ? lowered->stamp_loop : "call";
    manifest->stamps.count = lowered->stamps;
    manifest->stamps.clock = dg_target_for(kernel->run->isa)->stamp_clock;
    kernel->profile_name = plain_text(manifest->profile.name, job->arena);
    kernel->profile_hash = manifest->profile.hash;
    return kernel->profile_name != NULL || no_memory(job);
}

static bool add_all(struct job *job, const struct dg_kernel *kernel, struct dg_manifest *manifest)
{
    const char *source = dg_source_text(kernel, job->arena);
    return add_text(job, ".s", source) &&
           add_text(job, ".h", dg_header_text(kernel, job->arena)) &&
           (job->options->source_only || add_object(job, kernel, source)) &&
           add_manifest(job, manifest);
}

/* Lowering and the manifest record what they read on top; the plan's own list stays as it is. */
static bool copy_view(const struct dg_view *from, struct dg_arena *arena, struct dg_view *to)
{
    *to = *from;
    to->arena = arena;
    to->read_capacity = from->read_count;
    to->reads = dg_alloc_array(arena, from->read_count + 1, sizeof *to->reads);
    for (size_t i = 0; to->reads != NULL && i < from->read_count; i++)
        to->reads[i] = from->reads[i];
    return to->reads != NULL;
}

bool dg_emit_make(const struct dg_problem *problem, const struct dg_plan_result *plan,
                  const struct dg_emit_options *options, struct dg_arena *arena,
                  struct dg_emitted *out, struct dg_error *e)
{
    struct dg_error none;
    struct job job = {
        .options = options, .arena = arena, .name = problem->name,
        .stem = options->stem != NULL ? options->stem : problem->name, .out = out,
        .e = e != NULL ? e : &none,
    };
    struct dg_view view;
    struct dg_lowered lowered = { 0 };
    struct dg_manifest manifest;
    *out = (struct dg_emitted){ 0 };
    if (dg_target_for(plan->best.body.isa) == NULL)
        return dg_fail(job.e, DG_EXIT_UNAVAILABLE, problem->name,
                       "needs a target that kernels are written for", plan->best.body.isa->name,
                       "choose another with --isa");
    if (!copy_view(&plan->view, arena, &view))
        return no_memory(&job);
    if (!dg_lower(problem, &plan->best, &view, arena, &lowered, job.e))
        return false;
    struct dg_kernel kernel = {
        .tool_version = options->tool_version, .problem = problem, .plan = &plan->best,
        .run = &lowered.kernel, .pack = lowered.has_pack_b ? &lowered.pack_b : NULL,
        .packed_b_size = lowered.packed_b_size,
    };
    return describe(&job, &kernel, &lowered, &view, &manifest) &&
           add_all(&job, &kernel, &manifest);
}

bool dg_emit_write(const struct dg_emitted *emitted, const char *folder, struct dg_arena *arena,
                   struct dg_error *e)
{
    struct dg_file_part parts[DG_EMIT_FILES];
    bool there = access(folder, F_OK) == 0;
    if (!dg_folder_make(folder, e))
        return false;
    for (size_t i = 0; i < emitted->count; i++) {
        struct dg_str path;
        dg_str_init(&path, arena);
        dg_str_format(&path, "%s/%s", folder, emitted->file[i].name);
        if (path.failed)
            return dg_fail_memory(e, folder);
        parts[i] = (struct dg_file_part){ dg_str_text(&path), emitted->file[i].bytes,
                                          emitted->file[i].size };
    }
    if (dg_file_write_all(parts, emitted->count, e))
        return true;
    if (!there)
        rmdir(folder);
    return false;
}
