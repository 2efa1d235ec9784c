/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/cross.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/run.h"
#include "verify/sources.h"
#include "verify/tools.h"

enum { MOST_ARGUMENTS = 64, COMPILE_MS = 120 * 1000 };

/* Which emulated CPU has what a kernel needs: the plainest first. Features as in /proc/cpuinfo. */
struct model { const char *architecture, *features, *cpu; };
static const struct model models[] = {
    {"aarch64", "fp,asimd", "cortex-a72"},
    {"aarch64", "fp,asimd,fphp,asimdhp,asimddp,atomics", "cortex-a76"},
    {"aarch64", NULL, "max"},
    {"x86_64", NULL, "max"},
    {"riscv64", NULL, "rv64"},
};

struct arch { const char *name, *triple, *qemu; };
static const struct arch arches[] = {
    {"aarch64", "aarch64-linux-gnu", "qemu-aarch64"},
    {"x86_64", "x86_64-linux-gnu", "qemu-x86_64"},
    {"riscv64", "riscv64-linux-gnu", "qemu-riscv64"},
};

/* True when every comma-separated word of `needed` is one of `had`. */
static bool words_within(const char *needed, const char *had)
{
    while (*needed != '\0') {
        size_t length = strcspn(needed, ",");
        bool found = false;
        for (const char *h = had; *h != '\0' && !found;) {
            size_t size = strcspn(h, ",");
            found = size == length && strncmp(h, needed, size) == 0;
            h += size + (h[size] == ',');
        }
        if (!found)
            return false;
        needed += length + (needed[length] == ',');
    }
    return true;
}

static const char *model_for(const struct dg_manifest *m)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].architecture, m->architecture) == 0
            && (models[i].features == NULL || words_within(m->features, models[i].features)))
            return models[i].cpu;
    return "max";
}

static const struct arch *arch_for(const struct dg_manifest *m)
{
    for (size_t i = 0; i < sizeof arches / sizeof *arches; i++)
        if (strcmp(arches[i].name, m->architecture) == 0)
            return &arches[i];
    return NULL;
}

static bool write_text(const char *path, const char *text, size_t size, struct dg_error *e)
{
    FILE *out = fopen(path, "wb");
    bool ok = out != NULL && fwrite(text, 1, size, out) == size;
    if (out != NULL && fclose(out) != 0)
        ok = false;
    return ok || dg_fail(e, DG_EXIT_UNAVAILABLE, path, "cannot be written", strerror(errno),
                         "set TMPDIR to a folder with room");
}

/* Makes the folders of a relative path below the work folder. */
static void make_folders(const struct dg_workdir *dir, const char *name)
{
    char path[512];
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        dg_format(path, sizeof path, "%s/", dir->path);
        size_t at = strlen(path);
        memcpy(path + at, name, (size_t)(slash - name));
        path[at + (size_t)(slash - name)] = '\0';
        mkdir(path, 0700);
    }
}

static bool unpack(const struct dg_workdir *dir, struct dg_error *e)
{
    for (const struct dg_source *s = dg_runner_sources; s->name != NULL; s++) {
        char path[512];
        make_folders(dir, s->name);
        dg_workdir_path(dir, s->name, path, sizeof path);
        if (!write_text(path, s->text, s->size, e))
            return false;
    }
    return true;
}

/* ---- argument vectors ---- */

struct vector { const char *item[MOST_ARGUMENTS + 1]; size_t count; struct dg_arena *arena; };

static void put(struct vector *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct vector *v, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    dg_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    if (v->count < MOST_ARGUMENTS)
        v->item[v->count++] = dg_strdup(v->arena, text);
}

static void put_words(struct vector *v, const char *words)
{
    while (*words != '\0') {
        char word[512];
        size_t length = strcspn(words, " ");
        if (length > 0 && length < sizeof word) {
            memcpy(word, words, length);
            word[length] = '\0';
            put(v, "%s", word);
        }
        words += length + (words[length] == ' ');
    }
}

static bool vector_whole(const struct vector *v, struct dg_error *e)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->item[i] == NULL)
            return dg_fail_memory(e, "verify");
    return v->count < MOST_ARGUMENTS
        || dg_fail(e, DG_EXIT_USAGE, "--qemu", "has too many words", NULL,
                   "put them into a script and name that");
}

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static bool compile(const struct dg_manifest *m, const struct arch *arch, const char *object,
                    const struct dg_workdir *dir, const char *program, struct dg_arena *arena,
                    struct dg_error *e)
{
    struct vector v = {.arena = arena};
    struct dg_run result;
    char driver[64];
    dg_format(driver, sizeof driver, "%s-gcc", arch->triple);
    if (!dg_run_finds(driver))
        return dg_fail(e, DG_EXIT_UNAVAILABLE, driver, "is needed to emulate this kernel", NULL,
                       "install it (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross)");
    put(&v, "%s", driver);
    put_words(&v, "-std=gnu17 -O2 -static -pthread -D_GNU_SOURCE -ffp-contract=off");
    put(&v, "-I%s", dir->path);
    put(&v, "-DDG_KERNEL=%s", m->name);
    put(&v, "-DDG_KERNEL_EX=%s_ex", m->name);
    put(&v, "-DDG_KERNEL_PACKED_B_SIZE=%s_packed_b_size", m->name);
    put(&v, "-DDG_KERNEL_PACK_B=%s_pack_b", m->name);
    for (const struct dg_source *s = dg_runner_sources; s->name != NULL; s++)
        if (ends_with(s->name, ".c") || ends_with(s->name, ".S"))
            put(&v, "%s/%s", dir->path, s->name);
    put(&v, "%s", object);
    put(&v, "-lm");
    put(&v, "-o");
    put(&v, "%s", program);
    if (!vector_whole(&v, e) || !dg_run(v.item, COMPILE_MS, &result, e))
        return false;
    if (result.status == 0 && !result.late)
        return true;
    char words[sizeof e->value];
    dg_run_words(&result, dir->path, words, sizeof words);
    return dg_fail(e, DG_EXIT_UNAVAILABLE, driver, "cannot link the kernel with the runner", words,
                   "is its C library installed (libc6-dev-arm64-cross)?");
}

static bool put_emulator(struct vector *v, const struct dg_manifest *m, const struct arch *arch,
                         const struct dg_verify_options *options, struct dg_error *e)
{
    char name[64];
    if (options->qemu != NULL) {
        put_words(v, options->qemu);
        if (v->count == 0 || v->item[0] == NULL || !dg_run_finds(v->item[0]))
            return dg_fail(e, DG_EXIT_UNAVAILABLE, "--qemu", "no such program", options->qemu,
                           "give a command that can be started");
        return true;
    }
    dg_format(name, sizeof name, "%s-static", arch->qemu);
    if (!dg_run_finds(name))
        dg_format(name, sizeof name, "%s", arch->qemu);
    if (!dg_run_finds(name))
        return dg_fail(e, DG_EXIT_UNAVAILABLE, arch->qemu, "is needed to emulate this kernel", NULL,
                       "install it (Debian: qemu-user-static)");
    put(v, "%s", name);
    put(v, "-cpu");
    put(v, "%s", model_for(m));
    return true;
}

static void put_numbers(struct vector *v, const struct dg_run_kernel *k,
                        const struct dg_run_options *run)
{
    uint64_t numbers[] = {k->m, k->n, k->k, k->lda, k->ldb, k->ldc, (uint64_t)k->beta,
                          (uint64_t)k->layout_b, k->packed_size, k->packed_alignment, run->seed,
                          run->work, (uint64_t)(k->dtype - dg_run_dtypes)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put(v, "%llu", (unsigned long long)numbers[i]);
}

const char *const *dg_cross_program(const struct dg_manifest *manifest, const char *object,
                                    const struct dg_workdir *dir,
                                    const struct dg_verify_options *options,
                                    const struct dg_run_kernel *kernel,
                                    const struct dg_run_options *run, struct dg_arena *arena,
                                    struct dg_error *e)
{
    const struct arch *arch = arch_for(manifest);
    struct vector *v = dg_alloc(arena, sizeof *v);
    char program[512];
    if (arch == NULL)
        dg_fail(e, DG_EXIT_UNAVAILABLE, manifest->name,
                "no emulator is known for this architecture", manifest->architecture,
                "verify it on a machine of that architecture");
    else if (v == NULL)
        dg_fail_memory(e, manifest->name);
    if (v == NULL || arch == NULL)
        return NULL;
    v->arena = arena;
    dg_workdir_path(dir, "runner", program, sizeof program);
    if (!put_emulator(v, manifest, arch, options, e) || !unpack(dir, e)
        || !compile(manifest, arch, object, dir, program, arena, e))
        return NULL;
    put(v, "%s", program);
    put_numbers(v, kernel, run);
    return vector_whole(v, e) ? v->item : NULL;
}
