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
#include "verify/tools.h"
#include "verify/workdir.h"

enum { OBJECT_LIMIT = 256 << 20 };

/* "FOLDER/NAME.o" beside "FOLDER/NAME.json"; false when the buffer is too small. */
static bool beside(const char *manifest_path, const char *name, const char *end, char *out,
                   size_t size)
{
    const char *slash = strrchr(manifest_path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - manifest_path) + 1;
    if (folder + strlen(name) + strlen(end) + 1 > size)
        return false;
    memcpy(out, manifest_path, folder);
    dg_format(out + folder, size - folder, "%s%s", name, end);
    return true;
}

/* What the runner can check; the rest is refused by name. */
static bool supported(const struct dg_manifest *m, struct dg_error *e)
{
    if (strcmp(m->problem.dtype, "f32") != 0)
        return dg_fail(e, DG_EXIT_INPUT, m->name, "the verifier knows kernels of dtype f32",
                       m->problem.dtype, NULL);
    if (strcmp(m->problem.layout_a, "row_major") != 0
        || strcmp(m->problem.layout_c, "row_major") != 0)
        return dg_fail(e, DG_EXIT_INPUT, m->name, "the verifier knows row-major A and C", NULL,
                       NULL);
    if (m->problem.workspace_size != 0)
        return dg_fail(e, DG_EXIT_INPUT, m->name, "the verifier knows no kernels with a workspace",
                       NULL, NULL);
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
        || dg_fail(e, DG_EXIT_INTERNAL, object, "out of memory", NULL, NULL);
}

static bool verify_native(const struct dg_manifest *m, const char *path, const char *object,
                          const struct dg_workdir *dir, const struct dg_verify_options *options,
                          struct dg_arena *arena, struct dg_kernel_report *report,
                          struct dg_error *e)
{
    char shared[512], source[4096];
    dg_workdir_path(dir, "kernel.so", shared, sizeof shared);
    if (!dg_link_shared(options->cc, object, shared, e)
        || !dg_numbers_native(m, shared, options, arena, report, e))
        return false;
    if (!report->pass) {
        report->cycles.reason = "a kernel that fails its checks is not timed";
        return true;
    }
    if (!options->timing) {
        report->cycles.reason = "not asked for";
        return true;
    }
    if (!beside(path, m->name, ".s", source, sizeof source))
        source[0] = '\0';
    struct dg_ruler_job job = {.manifest = m, .shared = shared, .source = source};
    dg_ruler_run(&job, dir, options, arena, report);
    return true;
}

static bool verify_here(const struct dg_manifest *m, const char *path,
                        const struct dg_verify_options *options, struct dg_arena *arena,
                        struct dg_kernel_report *report, struct dg_error *e)
{
    char object[4096];
    struct dg_workdir dir;
    struct dg_error unfit;
    if (!supported(m, e) || !dg_manifest_check_files(path, m, e))
        return false;
    if (!beside(path, m->name, ".o", object, sizeof object))
        return dg_fail(e, DG_EXIT_INPUT, path, "is too long a path", NULL, NULL);
    if (!check_object(m, object, arena, report, e))
        return false;
    enum dg_host_fit fit = dg_host_fit(m, &unfit);
    if (fit != DG_HOST_FITS && !options->emulate) {
        *e = unfit;
        return false;
    }
    if (!dg_workdir_open(&dir, e))
        return false;
    bool ok;
    if (fit == DG_HOST_FITS && !options->emulate) {
        ok = verify_native(m, path, object, &dir, options, arena, report, e);
    } else {
        ok = dg_numbers_emulated(m, object, &dir, options, arena, report, e);
        report->cycles.reason = "emulated: times mean nothing";
    }
    dg_workdir_close(&dir);
    return ok;
}

static void verify_one(const char *path, const struct dg_verify_options *options,
                       struct dg_arena *arena, struct dg_kernel_report *report)
{
    struct dg_manifest manifest;
    dg_kernel_report_init(report);
    report->name = path;
    if (!dg_manifest_read(path, arena, &manifest, &report->problem))
        return;
    report->name = manifest.name;
    report->isa = manifest.isa;
    report->cycles.predicted = manifest.predicted.cycles;
    report->roofline.peak_claimed = manifest.roofs.peak > 0 ? manifest.roofs.peak : NAN;
    if (!verify_here(&manifest, path, options, arena, report, &report->problem))
        report->ran = report->pass = false;
}

/* A failed check weighs most, then a broken input, then what this machine lacks. */
static enum dg_exit conclude(const struct dg_verify_report *report, struct dg_error *e)
{
    const struct dg_kernel_report *worst = NULL;
    for (size_t i = 0; i < report->count; i++) {
        const struct dg_kernel_report *k = &report->kernels[i];
        if (k->pass)
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
    *out = (struct dg_verify_report){0};
    if (!dg_locate_manifests(path, arena, &list, e))
        return e->exit_code;
    out->kernels = dg_alloc_array(arena, list.count, sizeof *out->kernels);
    if (out->kernels == NULL) {
        dg_fail(e, DG_EXIT_INTERNAL, path, "out of memory", NULL, NULL);
        return e->exit_code;
    }
    out->pass = true;
    for (size_t i = 0; i < list.count; i++) {
        verify_one(list.paths[i], options, arena, &out->kernels[i]);
        out->count++;
        out->pass &= out->kernels[i].pass;
    }
    return conclude(out, e);
}
