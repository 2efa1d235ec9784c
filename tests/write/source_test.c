/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME.s and NAME.h of a kernel by hand: against golden files (DG_UPDATE_GOLDEN=1 in the
 * environment writes them anew), assembled, looked into with binutils, linked, run. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/run.h"
#include "emit/write/archive.h"
#include "emit/write/assemble.h"
#include "emit/write/object.h"
#include "emit/write/target.h"
#include "toy.h"

static const struct { const char *isa, *as, *nm, *readelf, *cc; } targets[] = {
    { "x86_64-avx2", "as", "nm", "readelf", "cc" },
    { "x86_64-avx512", "as", "nm", "readelf", "cc" },
    { "aarch64-neon", "aarch64-linux-gnu-as", "aarch64-linux-gnu-nm", "aarch64-linux-gnu-readelf",
      "aarch64-linux-gnu-gcc" },
};
enum { TARGETS = sizeof targets / sizeof *targets };

static struct dg_arena arena;
static char folder[64];

static void set_up(void)
{
    dg_arena_init(&arena);
    strcpy(folder, "/tmp/dg-write-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    struct dg_run result;
    const char *const argv[] = { "rm", "-rf", folder, NULL };
    dg_run(argv, 10000, &result, NULL);
    dg_arena_free(&arena);
}

/* A test that is skipped is not torn down by Criterion. */
static void skip(const char *why)
{
    tear_down();
    cr_skip_test("%s", why);
}

static bool have(const char *program)
{
    const char *const argv[] = { program, "--version", NULL };
    struct dg_run result;
    return dg_run(argv, 10000, &result, NULL) && result.status == 0;
}

/* Runs a command line without quotes; its output, NULL when it failed. */
static const char *command(struct dg_run *result, const char *format, ...)
{
    struct dg_str line;
    va_list arguments;
    const char *argv[32] = { NULL };
    char *next;
    size_t count = 0;
    dg_str_init(&line, &arena);
    va_start(arguments, format);
    dg_str_vformat(&line, format, arguments);
    va_end(arguments);
    char *words = dg_strdup(&arena, dg_str_text(&line));
    for (char *word = strtok_r(words, " ", &next); word != NULL; word = strtok_r(NULL, " ", &next))
        argv[count++] = word;
    bool ok = dg_run(argv, 60000, result, NULL) && result->status == 0 && !result->late;
    if (!ok)
        cr_log_warn("%s: %d: %s", dg_str_text(&line), result->status, result->output);
    return ok ? result->output : NULL;
}

static void write_text(const char *path, const char *text)
{
    struct dg_error e = { 0 };
    cr_assert(dg_file_write(path, text, strlen(text), &e), "%s: %s", path, e.value);
}

static void same_as_golden(const char *name, const char *text)
{
    struct dg_error e = { 0 };
    struct dg_str path;
    dg_str_init(&path, &arena);
    dg_str_format(&path, "%s/%s", GOLDEN, name);
    if (getenv("DG_UPDATE_GOLDEN") != NULL)
        write_text(dg_str_text(&path), text);
    const char *golden = dg_file_read(dg_str_text(&path), 1 << 20, &arena, NULL, &e);
    cr_assert_not_null(golden, "%s", dg_str_text(&path));
    cr_expect(strcmp(golden, text) == 0, "%s differs; DG_UPDATE_GOLDEN=1 writes it anew", name);
}

Test(source, golden_texts, .init = set_up, .fini = tear_down)
{
    for (size_t i = 0; i < TARGETS; i++) {
        static struct toy toy;
        char name[64];
        toy_make(&toy, targets[i].isa, "toy");
        const char *source = dg_source_text(&toy.kernel, &arena);
        cr_assert_not_null(source);
        dg_format(name, sizeof name, "toy.%s.s", targets[i].isa);
        same_as_golden(name, source);
    }
    static struct toy toy;
    toy_make(&toy, "x86_64-avx2", "toy");
    same_as_golden("toy.h", dg_header_text(&toy.kernel, &arena));
}

static const char *assemble(const struct toy *toy, const char *tool, const char *source,
                            size_t *size)
{
    const struct dg_ir_code *codes[] = { &toy->run, &toy->pack };
    const struct dg_assembler with = { tool, NULL };
    const char *bytes, *used;
    struct dg_error e = { 0 };
    cr_assert(dg_assemble(&with, "toy", source, codes, 2, &arena, &bytes, size, &used, &e),
              "%s: %s: %s", e.where, e.rule, e.value);
    return bytes;
}

/* Timing text left out by hand instead of by the assembler. */
static char *without_timing(const char *source)
{
    char *text = dg_alloc(&arena, strlen(source) + 1), *out = text;
    bool skip = false;
    for (const char *line = source; *line != '\0';) {
        size_t length = strcspn(line, "\n") + 1;
        if (strncmp(line, ".ifdef DG_TIMING", 16) == 0)
            skip = true;
        else if (strncmp(line, ".else", 5) == 0 || strncmp(line, ".endif", 6) == 0)
            skip = false;
        else if (!skip)
            memcpy(out, line, length), out += length;
        line += length;
    }
    *out = '\0';
    return text;
}

/* What binutils says of the object, the archive and a shared library made of it. */
static void check_with_tools(size_t i)
{
    struct dg_run out;
    const char *readelf = targets[i].readelf;
    const char *said = command(&out, "%s -s libtoy.a", targets[i].nm);
    cr_expect(said != NULL && strstr(said, "toy_ex in a_name_longer_than_fifteen.o") != NULL);
    said = command(&out, "%s -wf toy.o", readelf);
    cr_assert_not_null(said);
    size_t covered = 0;
    for (const char *at = said; (at = strstr(at, " FDE ")) != NULL; at++)
        covered++;
    cr_expect_eq(covered, 4, "unwind data for %zu functions", covered);
    said = command(&out, "%s -nW toy.o", readelf);
    cr_expect(said != NULL && strstr(said, i == 2 ? "BTI, PAC" : "IBT, SHSTK") != NULL);
    cr_expect_not_null(command(&out, "%s --defsym DG_TIMING=1 -o timed.o toy.s", targets[i].as));
    cr_expect_not_null(command(&out, "%s -shared -nostdlib -Wl,-z,text -Wl,--fatal-warnings "
                                     "-o toy.so -Wl,--whole-archive libtoy.a", targets[i].cc));
    said = command(&out, "%s -lW toy.so", readelf);
    const char *stack = said != NULL ? strstr(said, "GNU_STACK") : NULL;
    cr_assert_not_null(stack);
    cr_expect(strncmp(strchr(stack, 'R'), "RW ", 3) == 0, "%.70s", stack);
}

static void check_objects(size_t i)
{
    static struct toy toy;
    toy_make(&toy, targets[i].isa, "toy");
    const char *source = dg_source_text(&toy.kernel, &arena);
    size_t size, plain_size;
    const char *bytes = assemble(&toy, targets[i].as, source, &size);
    const char *plain = assemble(&toy, targets[i].as, without_timing(source), &plain_size);
    cr_expect(size == plain_size && memcmp(bytes, plain, size) == 0,
              "%s: the time stamps leave a trace", targets[i].isa);
    struct dg_object object;
    struct dg_error e = { 0 };
    cr_expect(dg_object_check(bytes, size, dg_target_for(toy.run.isa)->elf_machine, "toy",
                              "as", &arena, &object, &e), "%s %s", e.rule, e.value);
    cr_expect_eq(object.symbol_count, 4);
    struct dg_str archive;
    dg_str_init(&archive, &arena);
    dg_archive_put(&archive, "a_name_longer_than_fifteen.o", bytes, size, object.symbols,
                   object.symbol_count);
    cr_assert(dg_file_write("toy.o", bytes, size, &e));
    cr_assert(dg_file_write("libtoy.a", archive.text, archive.length, &e));
    write_text("toy.s", source);
    check_with_tools(i);
}

Test(source, objects, .init = set_up, .fini = tear_down)
{
#if defined __x86_64__
    check_objects(0);
    check_objects(1);
#endif
}

Test(source, objects_aarch64, .init = set_up, .fini = tear_down)
{
    if (!have(targets[2].as) || !have(targets[2].cc))
        skip("no cross tools for aarch64");
    check_objects(2);
}

static const char driver_text[] =
    "#include \"toy.h\"\n#include \"toy.h\"\n#include <stdio.h>\n#include <string.h>\n"
    "int main(void)\n{\n"
    "    float a[5], b[5 * N], c[N + 1]; uint64_t stamps[4] = { 0 };\n"
    "    struct dg_kernel_args x; memset(&x, 0, sizeof x);\n"
    "    static unsigned char room[sizeof b + 64];\n"
    "    float *packed = (float *)(((uintptr_t)room + 63) & ~(uintptr_t)63);\n"
    "    int refused = 0, wrong = 0;\n"
    "    for (int i = 0; i < 5; i++) a[i] = (float)(i + 1);\n"
    "    for (int i = 0; i < 5 * N; i++) b[i] = (float)(i % 7);\n"
    "    memcpy(packed, b, sizeof b);\n"
    "    for (int i = 0; i <= N; i++) c[i] = -1;\n"
    "    toy(a, packed, c);\n"
    "    for (int j = 0; j < N; j++) { float s = 0;\n"
    "        for (int k = 0; k < 5; k++) s += a[k] * b[k * N + j];\n"
    "        wrong += s != c[j]; }\n"
    "    wrong += c[N] != -1;\n"
    "    wrong += toy_packed_b_size() != sizeof b;\n"
    "    x.size = sizeof x; x.a = a; x.b = packed; x.c = c; x.parts = 1; x.m = 1;\n"
    "    x.stamps = stamps; x.stamp_capacity = CAPACITY;\n"
    "    wrong += toy_ex(&x) != 0;\n"
    "    for (int i = 0; i < 4; i++) wrong += (stamps[i] != 0) != (i < EXPECTED);\n"
    "    x.stamps = 0; wrong += toy_ex(&x) != 0;\n"
    "    refused += toy_ex(0) == 2;\n"
    "    x.size -= 8; refused += toy_ex(&x) == 2; x.size += 8;\n"
    "    x.m = 2; refused += toy_ex(&x) == 2; x.m = 0;\n"
    "    x.parts = 2; refused += toy_ex(&x) == 2; x.parts = 0;\n"
    "    x.part = 1; refused += toy_ex(&x) == 2; x.part = 0;\n"
    "    x.a = 0; refused += toy_ex(&x) == 2; x.a = a;\n"
    "    x.b = 0; refused += toy_ex(&x) == 2; x.b = packed;\n"
    "    x.b = (const char *)packed + 4; refused += toy_ex(&x) == 2; x.b = packed;\n"
    "    x.c = 0; refused += toy_ex(&x) == 2; x.c = c;\n"
    "    wrong += toy_ex(&x) != 0;\n"
    "    printf(\"%d wrong, %d refused\\n\", wrong, refused);\n"
    "    return 0;\n}\n";

/* Builds the driver with extra arguments, runs it, compares what it prints. */
static void run_driver(const char *compiler, const char *define, const char *object,
                       const char *emulator)
{
    struct dg_run out;
    cr_assert_not_null(command(&out, "%s -Wall -Wextra -pedantic -Werror %s -o driver %s",
                               compiler, define, object));
    const char *said = command(&out, "%s./driver", emulator);
    cr_expect(said != NULL && strcmp(said, "0 wrong, 9 refused\n") == 0, "%s %s %s: %s", compiler,
              define, object, out.output);
}

/* Position independent, static and not; C and C++; with and without stamps. */
static void run_all(size_t target, const char *cc, const char *cxx, const char *emulator)
{
    static struct toy toy;
    struct dg_error e = { 0 };
    struct dg_run out;
    size_t size;
    toy_make(&toy, targets[target].isa, "toy");
    const char *source = dg_source_text(&toy.kernel, &arena);
    const char *bytes = assemble(&toy, targets[target].as, source, &size);
    cr_assert(dg_file_write("toy.o", bytes, size, &e));
    write_text("toy.s", source);
    write_text("toy.h", dg_header_text(&toy.kernel, &arena));
    write_text("driver.c", driver_text);
    write_text("driver.cc", driver_text);
    cr_assert_not_null(command(&out, "%s --defsym DG_TIMING=1 -o timed.o toy.s",
                               targets[target].as));
    char plain[80], timed[80], full[80];
    unsigned n = (unsigned)toy.problem.n;
    dg_format(plain, sizeof plain, "-DN=%u -DCAPACITY=4 -DEXPECTED=0", n);
    dg_format(timed, sizeof timed, "-DN=%u -DCAPACITY=4 -DEXPECTED=3", n);
    dg_format(full, sizeof full, "-DN=%u -DCAPACITY=2 -DEXPECTED=2", n);
    run_driver(cc, plain, "-static driver.c toy.o", emulator);
    run_driver(cc, timed, "-static driver.c timed.o", emulator);
    run_driver(cc, full, "-static driver.c timed.o", emulator);
    if (cxx == NULL)
        return;
    run_driver(cc, plain, "-pie driver.c toy.o", emulator);
    run_driver(cc, plain, "-no-pie driver.c toy.o", emulator);
    run_driver(cxx, plain, "-std=c++17 driver.cc toy.o", emulator);
}

Test(source, runs_here, .init = set_up, .fini = tear_down)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        run_all(0, "cc", have("c++") ? "c++" : NULL, "");
#endif
}

Test(source, runs_avx512, .init = set_up, .fini = tear_down)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        run_all(1, "cc", NULL, "");
    else
        skip("no AVX-512 here");
#endif
}

Test(source, runs_emulated, .init = set_up, .fini = tear_down)
{
    if (!have("aarch64-linux-gnu-gcc") || !have("qemu-aarch64-static"))
        skip("no cross tools for aarch64");
    run_all(2, "aarch64-linux-gnu-gcc", NULL, "qemu-aarch64-static -cpu cortex-a72 ");
}

/* An assembler that refuses one instruction, one that is silent, one that writes nothing. */
Test(source, assemblers_that_fail, .init = set_up, .fini = tear_down)
{
    static struct toy toy;
    toy_make(&toy, "x86_64-avx2", "toy");
    const struct dg_ir_code *codes[] = { &toy.run, &toy.pack };
    const char *source = dg_source_text(&toy.kernel, &arena), *bytes, *tool;
    static const struct { const char *script, *rule, *value; } cases[] = {
        { "#!/bin/sh\nfor f; do :; done\nif grep -q vfmadd231ps \"$f\"; then\n"
          "echo \"$f:3: Error: no such instruction: \\`vfmadd231ps'\" >&2; exit 1; fi\n"
          "exec as \"$@\"\n", "refuses `vfmadd231ps", "exit status 1: kernel.s:3: Error: no" },
        { "#!/bin/sh\nexit 1\n", "refuses even a file without instructions",
          "exit status 1 and it printed nothing" },
        { "#!/bin/sh\necho no disk; exit 5\n", "even a file without", "exit status 5: no disk" },
        { "#!/bin/sh\nkill -9 $$\n", "even a file without", "ended by signal 9" },
        { "#!/bin/sh\nexit 0\n", "must write an object", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_error e = { 0 };
        struct dg_run out;
        size_t size;
        write_text("wrapper", cases[i].script);
        cr_assert_not_null(command(&out, "chmod +x wrapper"));
        const struct dg_assembler with = { "./wrapper", NULL };
        cr_expect_not(dg_assemble(&with, "toy", source, codes, 2, &arena, &bytes, &size, &tool,
                                  &e));
        cr_expect_not_null(strstr(e.rule, cases[i].rule), "%zu: %s", i, e.rule);
        cr_expect_not_null(strstr(e.value, cases[i].value), "%zu: %s", i, e.value);
        cr_expect_eq(e.exit_code, DG_EXIT_UNAVAILABLE);
    }
    static const struct dg_assembler wrong[] = { { "no-such-assembler", NULL }, { " ", NULL },
                                                 { NULL, "/" }, { NULL, "no-such-cc -x" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dg_error e = { 0 };
        size_t size;
        cr_expect_not(dg_assemble(&wrong[i], "toy", source, codes, 2, &arena, &bytes, &size,
                                  &tool, &e), "%zu", i);
        cr_expect(e.rule[0] != '\0' && e.todo[0] != '\0', "%zu", i);
    }
}

Test(source, objects_that_lie, .init = set_up, .fini = tear_down)
{
    static const struct { const char *source, *rule; } cases[] = {
        { "\t.globl toy\ntoy: ret\n\t.data\n\t.long 1\n", "without data" },
        { "\t.globl toy\ntoy: ret\n\t.bss\n\t.zero 8\n", "without data" },
        { "\t.globl toy, other\ntoy: ret\nother: ret\n", "outside the kernel's name" },
        { "\t.globl toy\ntoy: call printf@PLT\n", "undefined" },
    };
    struct dg_object object;
    struct dg_error e = { 0 };
    struct dg_run out;
    if (!have("as"))
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size;
        write_text("lie.s", cases[i].source);
        cr_assert_not_null(command(&out, "as -o lie.o lie.s"));
        const char *bytes = dg_file_read("lie.o", 1 << 20, &arena, &size, &e);
        unsigned machine = dg_target_x86_64.elf_machine;
#if !defined __x86_64__
        machine = dg_target_aarch64.elf_machine;
#endif
        cr_expect_not(dg_object_check(bytes, size, machine, "toy", "as", &arena, &object, &e));
        cr_expect_not_null(strstr(e.rule, cases[i].rule), "%zu: %s", i, e.rule);
        cr_expect_not(dg_object_check(bytes, size, machine + 1, "toy", "as", &arena, &object, &e));
        for (size_t cut = 0; cut < size; cut += 7) {
            char *part = malloc(cut + 1);
            memcpy(part, bytes, cut);
            cr_expect_not(dg_object_check(part, cut, machine, "toy", "as", &arena, &object, &e));
            free(part);
        }
    }
}
