/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/verify/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/run.h"
#include "base/sha256.h"

void fixture_path(const struct fixture *f, const char *name, char *out, unsigned long size)
{
    dg_format(out, size, "%s/%s", f->folder.text, name);
}

/* Runs a command that makes hand.o. */
static bool make(struct fixture *f, const char *const argv[])
{
    struct dg_run result;
    return dg_run(argv, 30000, &result, &f->error)
        && (result.status == 0
            || dg_fail(&f->error, DG_EXIT_INPUT, argv[0], "must make the object", result.output,
                       NULL));
}

static bool assemble(struct fixture *f, const char *as, const char *source, const char *fault)
{
    char object[300], path[512], symbol[128];
    fixture_path(f, "hand.o", object, sizeof object);
    dg_format(path, sizeof path, "%s/tests/verify/kernels/%s", DG_SOURCE_ROOT, source);
    dg_format(symbol, sizeof symbol, "BREAK_%s=1", fault == NULL ? "nothing" : fault);
    const char *const argv[] = {as, "--defsym", symbol, "-o", object, path, NULL};
    return make(f, argv);
}

static bool compile(struct fixture *f, const char *cc, const char *const options[])
{
    enum { FIXED = 8, MOST = 24 };
    char object[300], path[512], include[512];
    fixture_path(f, "hand.o", object, sizeof object);
    dg_format(path, sizeof path, "%s/tests/verify/kernels/plain.c", DG_SOURCE_ROOT);
    dg_format(include, sizeof include, "-I%s/include", DG_SOURCE_ROOT);
    /* nothing that calls into a library, or writes where a kernel does not */
    const char *argv[MOST + FIXED + 1] = {cc, "-O2", "-c", "-fPIC", "-ffreestanding",
        "-fno-tree-loop-distribute-patterns", "-fno-stack-protector", "-ffp-contract=off"};
    size_t count = FIXED;
    for (size_t i = 0; options[i] != NULL && count < MOST; i++)
        argv[count++] = options[i];
    argv[count++] = include;
    argv[count++] = "-o";
    argv[count++] = object;
    argv[count++] = path;
    return make(f, argv);
}

static void describe(struct fixture *f)
{
    f->manifest = (struct dg_manifest){
        .tool_version = "0", .name = "hand", .isa = "x86_64-avx2", .architecture = "x86_64",
        .features = "avx2,fma",
        .problem = {.m = 6, .n = 16, .k = 7, .dtype = "f32", .layout_a = "row_major",
                    .layout_b = "packed", .layout_c = "row_major", .lda = 9, .ldb = 18, .ldc = 19,
                    .packed_b_size = 448, .packed_b_alignment = 64, .a_bytes = 4,
                    .b_bytes = 4, .c_bytes = 4},
        .plan = {.mr = 1, .nr = 16, .vectors = 2, .kc = 7, .mc = 6, .nc = 16,
                 .inner = "panels_outer", .unroll = 1, .binding = "latency"},
        .predicted = {.cycles = 250, .bound = 100},
        .traffic = {.operations = 2 * 6 * 16 * 7},
        .roofs = {.peak_op = "fma.f32.256", .lanes = 8},
        .profile = {.name = "hand", .chip = "", .hash = ""},
        .stamps = {.loop = "call", .count = 2, .clock = "rdtsc"},
        .files = &f->file, .file_count = 1,
    };
}

static bool open_folder(struct fixture *f)
{
    *f = (struct fixture){.options = {.seed = 1, .timeout = 20, .cpu = -1}};
    dg_arena_init(&f->arena);
    const char *parent = getenv("TMPDIR");
    dg_format(f->folder.text, sizeof f->folder.text, "%s/dg-fixture-XXXXXX",
              parent == NULL ? "/tmp" : parent);
    return mkdtemp(f->folder.text) != NULL;
}

/* The manifest for hand.o. */
static bool adopt(struct fixture *f)
{
    char object[300];
    size_t size;
    describe(f);
    fixture_path(f, "hand.o", object, sizeof object);
    const char *bytes = dg_file_read(object, 1 << 20, &f->arena, &size, &f->error);
    if (bytes == NULL)
        return false;
    dg_sha256_hex(bytes, size, f->object_hash);
    f->file = (struct dg_manifest_file){"hand.o", f->object_hash};
    return true;
}

bool fixture_open(struct fixture *f, const char *as, const char *source, const char *fault)
{
    return open_folder(f) && assemble(f, as, source, fault) && adopt(f);
}

bool fixture_compile(struct fixture *f, const char *cc, const char *const options[])
{
    return open_folder(f) && compile(f, cc, options) && adopt(f);
}

bool fixture_write(struct fixture *f)
{
    char path[300];
    fixture_path(f, "hand.json", path, sizeof path);
    const char *text = dg_manifest_text(&f->manifest, &f->arena);
    return text != NULL && dg_file_write(path, text, strlen(text), &f->error);
}

enum dg_exit fixture_verify(struct fixture *f, const char *name)
{
    char path[300];
    fixture_path(f, name, path, sizeof path);
    return dg_verify(path, &f->options, &f->arena, &f->report, &f->error);
}

const struct dg_check *fixture_failed(const struct fixture *f)
{
    for (size_t i = 0; f->report.count == 1 && i < f->report.kernels[0].check_count; i++)
        if (f->report.kernels[0].checks[i].state == DG_CHECK_FAILED)
            return &f->report.kernels[0].checks[i];
    return NULL;
}

void fixture_close(struct fixture *f)
{
    static const char *const names[] = {"hand.o", "hand.json", "hand.s", "other.json"};
    char path[300];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fixture_path(f, names[i], path, sizeof path);
        unlink(path);
    }
    rmdir(f->folder.text);
    dg_arena_free(&f->arena);
}
