/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/numbers.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/child.h"
#include "verify/confine.h"
#include "verify/cross.h"
#include "verify/runner/runner.h"

enum { NATIVE_WORK = 400 * 1000 * 1000, EMULATED_WORK = 2 * 1000 * 1000 };

/* ---- reading the runner's lines ---- */

struct reading {
    struct dg_kernel_report *report;
    struct dg_arena *arena;
    char at[64];                 /* the check that has begun and not ended */
    bool spoke, ended, no_memory;
    char noise[200];             /* the last line that is none of the runner's */
};

/* The next field of the line, NULL when there is none; fields are apart by tabs. */
static char *field(char **rest)
{
    char *start = *rest;
    if (start == NULL)
        return NULL;
    char *tab = strchr(start, '\t');
    if (tab != NULL)
        *tab = '\0';
    *rest = tab == NULL ? NULL : tab + 1;
    return start;
}

static void add_check(struct reading *r, enum dg_check_state state, const char *name,
                      const char *detail)
{
    r->no_memory |= !dg_report_check(r->report, r->arena, name, state, detail);
    r->at[0] = '\0';
}

static void read_numbers(struct reading *r, char *rest)
{
    const char *worst = field(&rest), *bound = field(&rest), *checked = field(&rest);
    if (checked == NULL)
        return;
    r->report->numbers.max_error = strtod(worst, NULL);
    r->report->numbers.bound = strtod(bound, NULL);
    r->report->numbers.checked = strtoull(checked, NULL, 10);
}

static void read_line(void *context, char *line)
{
    struct reading *r = context;
    char whole[sizeof r->noise];
    dg_format(whole, sizeof whole, "%s", line);
    char *rest = line, *word = field(&rest), *name;
    if (strcmp(word, "numbers") == 0 && rest != NULL) {
        read_numbers(r, rest);
    } else if (strcmp(word, "end") == 0 && rest != NULL) {
        r->ended = true;
    } else if (strcmp(word, "at") == 0 && rest != NULL) {
        dg_format(r->at, sizeof r->at, "%s", rest);
    } else if ((name = field(&rest)) != NULL && rest != NULL && strcmp(word, "ok") == 0) {
        add_check(r, DG_CHECK_OK, name, rest);
    } else if (name != NULL && rest != NULL && strcmp(word, "fail") == 0) {
        add_check(r, DG_CHECK_FAILED, name, rest);
    } else if (name != NULL && rest != NULL && strcmp(word, "skip") == 0) {
        add_check(r, DG_CHECK_SKIPPED, name, rest);
    } else {
        memcpy(r->noise, whole, sizeof whole);
        return;
    }
    r->spoke = true;
}

/* False: the runner came to its end. */
static bool cut_short(const struct reading *r, const struct dg_child_end *end, double limit,
                      char *out, size_t size)
{
    if (end->late)
        dg_format(out, size, "no end within the time limit of %llu s",
                  (unsigned long long)ceil(limit));
    else if (end->signal != 0)
        dg_format(out, size, "%s ended the process", dg_signal_name(end->signal));
    else
        dg_format(out, size, "the process ended with code %d%s%s", end->status,
                  r->noise[0] != '\0' ? ": " : "", r->noise);
    return end->late || end->signal != 0 || !r->ended;
}

static bool is_call_check(const char *name)
{
    static const char *const names[] = {"object", "call", "pack-call", "ex", "parts"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool judge(struct reading *r, struct dg_error *e)
{
    struct dg_kernel_report *report = r->report;
    report->ran = report->pass = report->numbers.pass = true;
    for (size_t i = 0; i < report->check_count; i++) {
        if (report->checks[i].state != DG_CHECK_FAILED)
            continue;
        /* nothing was called yet: this says nothing about the kernel */
        if (strcmp(report->checks[i].detail, DG_NO_MEMORY) == 0)
            return dg_fail(e, DG_EXIT_UNAVAILABLE, report->name,
                           "needs more memory than this machine gives", DG_NO_MEMORY,
                           "verify a smaller product, or on a larger machine");
        report->pass = false;
        report->numbers.pass &= is_call_check(report->checks[i].name);
    }
    /* no elements compared is no pass: the error must have been seen to be within its bound */
    if (report->numbers.checked == 0 && report->pass)
        report->pass = report->numbers.pass = false;
    if (r->no_memory)
        return dg_fail_memory(e, report->name);
    return true;
}

/* emulator: NULL natively. */
static bool run_child(dg_child_start *start, void *argument, double limit, const char *emulator,
                      struct dg_arena *arena, struct dg_kernel_report *report, struct dg_error *e)
{
    struct reading reading = {.report = report, .arena = arena};
    struct dg_child_end end;
    char detail[320];
    if (!dg_child_run(start, argument, limit, read_line, &reading, &end, e))
        return false;
    bool cut = cut_short(&reading, &end, limit, detail, sizeof detail);
    if (cut && emulator != NULL && !reading.spoke)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, emulator,
                       "must run programs of the kernel's architecture, but not a word came",
                       detail, "name another emulator with --qemu=CMD");
    /* a runner that did not come to its end failed in the check it was at */
    if (cut)
        add_check(&reading, DG_CHECK_FAILED, reading.at[0] != '\0' ? reading.at : "end", detail);
    return judge(&reading, e);
}

/* About sixty calls and four references, a hundred million multiply-adds a second at the least. */
static double time_limit(const struct dg_manifest *m, const struct dg_verify_options *options,
                         double slower)
{
    if (options->timeout > 0)
        return options->timeout;
    double work = (double)m->problem.m * (double)m->problem.n * (double)(m->problem.k + 1);
    return 20 + slower * 64 * work / 1e8;
}

static enum dg_run_layout layout_of(const struct dg_manifest *m)
{
    return strcmp(m->problem.layout_b, "packed") == 0 ? DG_RUN_PACKED
         : strcmp(m->problem.layout_b, "col_major") == 0 ? DG_RUN_COL_MAJOR : DG_RUN_ROW_MAJOR;
}

static struct dg_run_kernel kernel_of(const struct dg_manifest *m)
{
    uint64_t alignment = m->problem.packed_b_alignment;
    return (struct dg_run_kernel){
        .dtype = dg_run_dtype_named(m->problem.dtype),
        .m = m->problem.m, .n = m->problem.n, .k = m->problem.k,
        .lda = m->problem.lda, .ldb = m->problem.ldb, .ldc = m->problem.ldc,
        .beta = m->problem.beta, .layout_b = layout_of(m),
        .packed_size = m->problem.packed_b_size,
        .packed_alignment = alignment > 0 ? alignment : 64,
        .vector_state = strstr(m->features, "avx512f") != NULL ? 2
                      : strstr(m->features, "avx") != NULL ? 1 : 0,
    };
}

/* ---- natively ---- */

struct native {
    struct dg_run_kernel kernel;
    struct dg_run_options options;
    const char *shared, *name;
};

/* A function's address from dlsym; ISO C has no conversion between the two kinds of pointer. */
static void take_symbol(void *library, const char *name, const char *behind, void *out)
{
    char symbol[256];
    dg_format(symbol, sizeof symbol, "%s%s", name, behind);
    void *address = dlsym(library, symbol);
    memcpy(out, &address, sizeof address);
}

static int start_native(void *argument, int out)
{
    struct native *job = argument;
    void *library = dlopen(job->shared, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        dprintf(out, "at\tload\nfail\tload\t%s\nend\t1\n", dlerror());
        return 1;
    }
    take_symbol(library, job->name, "", &job->kernel.call);
    take_symbol(library, job->name, "_ex", &job->kernel.ex);
    take_symbol(library, job->name, "_packed_b_size", &job->kernel.packed_b_size);
    take_symbol(library, job->name, "_pack_b", &job->kernel.pack_b);
    bool packed = job->kernel.layout_b == DG_RUN_PACKED;
    if (job->kernel.call == NULL
        || (packed && (job->kernel.packed_b_size == NULL || job->kernel.pack_b == NULL))) {
        dprintf(out, "at\tload\nfail\tload\tthe object lacks %s or a function to pack B\nend\t1\n",
                job->name);
        return 1;
    }
    job->options.out = out;
    bool confined = dg_confine((const void *)(uintptr_t)job->kernel.call);
    dprintf(out, confined ? "ok\tsystem-calls\twatched: one in the kernel is a fault\n"
                          : "skip\tsystem-calls\tcannot be watched here: %s\n", strerror(errno));
    return dg_run_checks(&job->kernel, &job->options) == 0 ? 0 : 1;
}

bool dg_numbers_native(const struct dg_manifest *manifest, const char *shared,
                       const struct dg_verify_options *options, struct dg_arena *arena,
                       struct dg_kernel_report *report, struct dg_error *e)
{
    struct native job = {.kernel = kernel_of(manifest), .shared = shared, .name = manifest->name,
                         .options = {.seed = options->seed, .work = NATIVE_WORK}};
    return run_child(start_native, &job, time_limit(manifest, options, 1), NULL, arena, report, e);
}

/* ---- under an emulator ---- */

static int start_emulated(void *argument, int out)
{
    const char *const *argv = argument;
    dup2(out, 1);
    dup2(out, 2);
    execvp(argv[0], (char *const *)argv);
    dprintf(out, "cannot start %s\n", argv[0]);
    return 127;
}

bool dg_numbers_emulated(const struct dg_manifest *manifest, const char *object,
                         const struct dg_workdir *dir, const struct dg_verify_options *options,
                         struct dg_arena *arena, struct dg_kernel_report *report,
                         struct dg_error *e)
{
    struct dg_run_kernel kernel = kernel_of(manifest);
    struct dg_run_options run = {.seed = options->seed, .work = EMULATED_WORK};
    const char *const *argv = dg_cross_program(manifest, object, dir, options, &kernel, &run,
                                               arena, e);
    return argv != NULL
        && run_child(start_emulated, (void *)(uintptr_t)argv, time_limit(manifest, options, 20),
                     argv[0], arena, report, e);
}
