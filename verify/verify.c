/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/verify.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "emit/write/manifest.h"
#include "verify/host.h"
#include "verify/locate.h"
#include "verify/numbers.h"
#include "verify/object.h"
#include "verify/ruler.h"
#include "verify/runner/elements.h"
#include "verify/tools.h"
#include "base/workdir.h"

enum { OBJECT_LIMIT = 256 << 20, MOST_ALIGNMENT = 4096 };

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a > b && strcmp(text + a - b, end) == 0;
}

/* The path of the manifest's file with this end; its name need not be the kernel's. Empty when the
 * manifest lists none. False: the buffer is too small. */
static bool listed_file(const char *manifest_path, const struct dg_manifest *m, const char *end,
                        char *out, size_t size)
{
    const char *slash = strrchr(manifest_path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - manifest_path) + 1;
    out[0] = '\0';
    for (size_t i = 0; i < m->file_count; i++) {
        const char *name = m->files[i].name;
        if (!ends_with(name, end) || strchr(name, '/') != NULL)
            continue;
        if (folder + strlen(name) + 1 > size)
            return false;
        memcpy(out, manifest_path, folder);
        dg_format(out + folder, size - folder, "%s", name);
        return true;
    }
    return true;
}

/* What the runner can check; the rest is refused by name. */
static bool supported(const struct dg_manifest *m, struct dg_error *e)
{
    static const char newer[] = "verify it with the version of DeepGEMM that generated it";
    char rule[160], names[80];
    dg_run_dtype_list(names, sizeof names);
    dg_format(rule, sizeof rule, "the verifier knows kernels of dtype %s", names);
    if (dg_run_dtype_named(m->problem.dtype) == NULL)
        return dg_fail(e, DG_EXIT_INPUT, m->name, rule, m->problem.dtype, newer);
    if (strcmp(m->problem.layout_a, "row_major") != 0
        || strcmp(m->problem.layout_c, "row_major") != 0)
        return dg_fail(e, DG_EXIT_INPUT, m->name, "the verifier knows row-major A and C", NULL,
                       newer);
    if (m->problem.workspace_size != 0)
        return dg_fail(e, DG_EXIT_INPUT, m->name, "the verifier knows no kernels with a workspace",
                       NULL, newer);
    return true;
}

/* A manifest that contradicts itself would make any kernel look wrong. */
static bool consistent(const struct dg_manifest *m, const char *path, struct dg_error *e)
{
    uint64_t alignment = m->problem.packed_b_alignment;
    bool packed = strcmp(m->problem.layout_b, "packed") == 0;
    const struct dg_run_dtype *dtype = dg_run_dtype_named(m->problem.dtype);
    static const char size_rule[] = "must be the size of an element of this dtype";
    uint64_t row = strcmp(m->problem.layout_b, "col_major") == 0 ? m->problem.k : m->problem.n;
    const struct { bool good; const char *place, *rule; uint64_t value; } rows[] = {
        {m->problem.m > 0, "m", "must be at least 1", m->problem.m},
        {m->problem.n > 0, "n", "must be at least 1", m->problem.n},
        {m->problem.k <= dg_run_dtype_most_k(dtype), "k",
         "must be so small that sums of its products fit C", m->problem.k},
        {m->problem.a_bytes == dtype->a->bytes, "a_bytes", size_rule, m->problem.a_bytes},
        {m->problem.b_bytes == dtype->b->bytes, "b_bytes", size_rule, m->problem.b_bytes},
        {m->problem.c_bytes == dtype->c->bytes, "c_bytes", size_rule, m->problem.c_bytes},
        {m->problem.lda >= m->problem.k, "lda", "must be at least k", m->problem.lda},
        {packed || m->problem.ldb >= row, "ldb", "must be at least a row of B", m->problem.ldb},
        {m->problem.ldc >= m->problem.n, "ldc", "must be at least n", m->problem.ldc},
        {m->problem.beta <= 1, "beta", "must be 0 or 1", (uint64_t)m->problem.beta},
        {alignment <= MOST_ALIGNMENT && (alignment & (alignment - 1)) == 0, "packed_b_alignment",
         "must be a power of two, at most a page", alignment},
    };
    char where[sizeof e->where], value[24];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].good)
            continue;
        dg_format(where, sizeof where, "%s: /problem/%s", path, rows[i].place);
        dg_format(value, sizeof value, "%llu", (unsigned long long)rows[i].value);
        return dg_fail(e, DG_EXIT_INPUT, where, rows[i].rule, value, "generate the kernel again");
    }
    return true;
}

/* The first check, of the file itself. */
static bool check_object(const struct dg_manifest *m, const char *object, struct dg_arena *arena,
                         struct dg_kernel_report *report, struct dg_error *e)
{
    char fault[200];
    size_t size;
    const char *bytes = dg_file_read(object, OBJECT_LIMIT, arena, &size, e);
    if (bytes == NULL)
        return false;
    bool fits = dg_object_fits(bytes, size, m->name, fault, sizeof fault);
    return dg_report_check(report, arena, "object", fits ? DG_CHECK_OK : DG_CHECK_FAILED,
                           fits ? "no writable data, nothing undefined, no foreign global" : fault)
        || dg_fail_memory(e, object);
}

/* One kernel on its way through the rulers. */
struct entry {
    struct dg_manifest manifest;
    struct dg_kernel_report *report;
    const char *path;
    char object[4096], source[4096], shared[512], timing[512];
    bool native;                 /* passed its checks here: to be timed */
};

static bool check_native(struct entry *entry, size_t index, const struct dg_workdir *dir,
                         const struct dg_verify_options *options, struct dg_arena *arena,
                         struct dg_error *e)
{
    char name[32];
    dg_format(name, sizeof name, "%zu.so", index);
    dg_workdir_path(dir, name, entry->shared, sizeof entry->shared);
    if (!dg_link_shared(options->cc, entry->object, entry->shared, e))
        return false;
    if (options->timing_only) {
        entry->native = entry->report->ran = entry->report->unchecked = true;
        return true;
    }
    if (!dg_numbers_native(&entry->manifest, entry->shared, options, arena, entry->report, e))
        return false;
    entry->native = entry->report->pass && options->timing;
    if (!entry->native)
        entry->report->cycles.reason = entry->report->pass
            ? "not asked for" : "a kernel that fails its checks is not timed";
    return true;
}

static bool check_here(struct entry *entry, size_t index, const struct dg_workdir *dir,
                       const struct dg_verify_options *options, struct dg_arena *arena,
                       struct dg_error *e)
{
    const struct dg_manifest *m = &entry->manifest;
    struct dg_error unfit;
    if (!supported(m, e) || !consistent(m, entry->path, e)
        || !dg_manifest_check_files(entry->path, m, e))
        return false;
    if (!listed_file(entry->path, m, ".o", entry->object, sizeof entry->object)
        || !listed_file(entry->path, m, ".s", entry->source, sizeof entry->source))
        return dg_fail(e, DG_EXIT_INPUT, entry->path, "is too long a path", NULL,
                       "go to its folder and give a relative path");
    if (entry->object[0] == '\0')
        return dg_fail(e, DG_EXIT_INPUT, entry->path, "lists no object to verify", NULL,
                       "generate the kernel without --source-only");
    enum dg_host_fit fit = dg_host_fit(m, &unfit);
    if (fit != DG_HOST_FITS && !options->emulate) {
        *e = unfit;
        return false;
    }
    if (!check_object(m, entry->object, arena, entry->report, e))
        return false;
    if (!options->emulate)
        return check_native(entry, index, dir, options, arena, e);
    entry->report->cycles.reason = "emulated: times mean nothing";
    return dg_numbers_emulated(m, entry->object, dir, options, arena, entry->report, e);
}

static void check_one(struct entry *entry, size_t index, const struct dg_workdir *dir,
                      const struct dg_verify_options *options, struct dg_arena *arena)
{
    struct dg_kernel_report *report = entry->report;
    struct dg_manifest *m = &entry->manifest;
    dg_kernel_report_init(report);
    report->name = entry->path;
    if (!dg_manifest_read(entry->path, arena, m, &report->problem))
        return;
    report->name = m->name;
    report->isa = m->isa;
    report->m = m->problem.m;
    report->n = m->problem.n;
    report->k = m->problem.k;
    report->planned_for = m->profile.chip;
    report->host = options->emulate ? NULL : dg_host_chip(arena);
    report->tile_m = m->plan.mr;
    report->tile_n = m->plan.nr;
    report->cycles.predicted = m->predicted.cycles;
    report->roofline.peak_claimed = m->roofs.peak > 0 ? m->roofs.peak : NAN;
    if (!check_here(entry, index, dir, options, arena, &report->problem))
        report->ran = report->pass = false;
}

/* The timing build of a kernel; without one long calls are timed whole. */
static const char *make_timing(struct entry *entry, size_t index, const struct dg_workdir *dir,
                               const struct dg_verify_options *options,
                               struct dg_arena *arena)
{
    char object[512], name[48];
    struct dg_error e;
    if (entry->manifest.stamps.count <= 2 || entry->source[0] == '\0')
        return NULL;
    dg_format(name, sizeof name, "%zu-timing.o", index);
    dg_workdir_path(dir, name, object, sizeof object);
    dg_format(name, sizeof name, "%zu-timing.so", index);
    dg_workdir_path(dir, name, entry->timing, sizeof entry->timing);
    if (dg_assemble_timing(options->as, options->cc, entry->source, object, &e)
        && dg_link_shared(options->cc, object, entry->timing, &e))
        return entry->timing;
    char note[sizeof e + 32];
    dg_format(note, sizeof note, "whole calls were timed, since %s %s: %s; %s", e.where, e.rule,
              e.value, e.todo);
    entry->report->cycles.note = dg_strdup(arena, note);
    return NULL;
}

static void time_all(struct entry *entries, size_t count, const struct dg_workdir *dir,
                     const struct dg_verify_options *options, struct dg_arena *arena,
                     struct dg_verify_report *report)
{
    struct dg_ruler_kernel *list = dg_alloc_array(arena, count, sizeof *list);
    size_t native = 0;
    for (size_t i = 0; list != NULL && i < count; i++)
        if (entries[i].native)
            list[native++] = (struct dg_ruler_kernel){
                &entries[i].manifest, entries[i].shared,
                make_timing(&entries[i], i, dir, options, arena), entries[i].report};
    dg_ruler_run(list, native, options, arena, report);
}

/* A failed check weighs most, then a broken input, then what this machine lacks. */
static enum dg_exit conclude(const struct dg_verify_report *report, struct dg_error *e)
{
    const struct dg_kernel_report *worst = NULL;
    for (size_t i = 0; i < report->count; i++) {
        const struct dg_kernel_report *k = &report->kernels[i];
        if (k->pass || k->unchecked)
            continue;
        bool heavier = worst == NULL || (k->ran && !worst->ran)
            || (!k->ran && !worst->ran && k->problem.exit_code < worst->problem.exit_code);
        worst = heavier ? k : worst;
    }
    if (worst == NULL)
        return DG_EXIT_OK;
    if (!worst->ran) {
        *e = worst->problem;
        return worst->problem.exit_code;
    }
    dg_fail(e, DG_EXIT_CHECK, worst->name, "does not pass its checks", NULL,
            "see the report above; do not use this kernel");
    return DG_EXIT_CHECK;
}

enum dg_exit dg_verify(const char *path, const struct dg_verify_options *options,
                       struct dg_arena *arena, struct dg_verify_report *out, struct dg_error *e)
{
    struct dg_manifest_list list;
    struct dg_workdir dir;
    *out = (struct dg_verify_report){0};
    if (!dg_locate_manifests(path, arena, &list, e))
        return e->exit_code;
    out->kernels = dg_alloc_array(arena, list.count, sizeof *out->kernels);
    struct entry *entries = dg_alloc_array(arena, list.count, sizeof *entries);
    if (out->kernels == NULL || entries == NULL) {
        dg_fail_memory(e, path);
        return e->exit_code;
    }
    if (!dg_workdir_open(&dir, e))
        return e->exit_code;
    out->pass = true;
    for (size_t i = 0; i < list.count; i++) {
        entries[i].path = list.paths[i];
        entries[i].report = &out->kernels[i];
        check_one(&entries[i], i, &dir, options, arena);
        out->count++;
        out->pass &= out->kernels[i].pass || out->kernels[i].unchecked;
        out->unchecked |= out->kernels[i].unchecked;
    }
    time_all(entries, out->count, &dir, options, arena, out);
    dg_workdir_close(&dir);
    return conclude(out, e);
}
