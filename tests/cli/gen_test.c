/* SPDX-License-Identifier: Apache-2.0
 *
 * deepgemm-gen as a user runs it: options, places of files, failures that leave nothing behind. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/run.h"
#include "base/str.h"
#include "cli/options.h"
#include "emit/problem/reader.h"

#define PROFILES SOURCE_ROOT "/tests/profiles/"
#define AVX2 "--hardware " PROFILES "test-avx2.json "

static struct dg_arena arena;
static char folder[64];
static struct dg_run out;

static void set_up(void)
{
    dg_arena_init(&arena);
    strcpy(folder, "/tmp/dg-gen-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    const char *const argv[] = { "rm", "-rf", folder, NULL };
    dg_run(argv, 10000, &out, NULL);
    dg_arena_free(&arena);
}

/* A command line without quotes; an argument `''` is empty. Returns the exit code. */
static int command(const char *format, ...)
{
    struct dg_str line;
    va_list arguments;
    const char *argv[64] = { NULL };
    char *next;
    size_t count = 0;
    dg_str_init(&line, &arena);
    va_start(arguments, format);
    dg_str_vformat(&line, format, arguments);
    va_end(arguments);
    char *words = dg_strdup(&arena, dg_str_text(&line));
    for (char *word = strtok_r(words, " ", &next); word != NULL; word = strtok_r(NULL, " ", &next))
        argv[count++] = strcmp(word, "''") == 0 ? "" : word;
    cr_assert(dg_run(argv, 60000, &out, NULL) && !out.late);
    return out.status;
}

/* A test that is skipped is not torn down by Criterion. */
static void skip(const char *why)
{
    tear_down();
    cr_skip_test("%s", why);
}

static int gen(const char *arguments)
{
    return command("%s %s", GEN, arguments);
}

static void write_text(const char *path, const char *text)
{
    struct dg_error e = { 0 };
    cr_assert(dg_file_write(path, text, strlen(text), &e), "%s: %s", path, e.value);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static const char *read_text(const char *path)
{
    struct dg_error e = { 0 };
    const char *text = dg_file_read(path, 1 << 20, &arena, NULL, &e);
    cr_assert_not_null(text, "%s: %s", e.where, e.rule);
    return text;
}

Test(gen, refused_command_lines, .init = set_up, .fini = tear_down)
{
    static const struct { const char *arguments, *said; int code; } cases[] = {
        { "--m 4 --n 4 --k 4 --dtype f32", "--hardware", 2 },
        { AVX2 "--m 6x4 --n 4 --k 4 --dtype f32", "--m", 2 },
        { AVX2 "--m 0x20 --n 4 --k 4 --dtype f32", "--m", 2 },
        { AVX2 "--m -1 --n 4 --k 4 --dtype f32", "--m", 2 },
        { AVX2 "--m 0 --n 4 --k 4 --dtype f32", "--m", 2 },
        { AVX2 "--m 4 --n 99999999999999999999 --k 4 --dtype f32", "--n", 2 },
        { AVX2 "--m 4 --n 4 --k 1e3 --dtype f32", "--k", 2 },
        { AVX2 "--m '' --n 4 --k 4 --dtype f32", "--m", 2 },
        { AVX2 "--n 4 --k 4 --dtype f32", "m", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f33", "f32", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype int4", "int4", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --layout-b col_major", "col_major", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --layuot-b packed", "--layout-b", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --layout-lda 3", "--layout-lda", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --name 4ever", "--name", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --name int", "--name", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --output kernel.o", "--output", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --output k.s -o d", "--output", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 -o k.s", "--output FILE.s", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --codegen-tile-m 3",
          "--codegen-tile-m: must split", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --codegen-tile-n 16", "choose 8,", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --codegen-tile-m 3", "choose 2 or 4", 2 },
        { AVX2 "--m 40 --n 80 --k 4 --dtype f32 --codegen-tile-m 20 --codegen-tile-n 80",
          "--codegen-tile-m: no tile fits", 2 },
        { AVX2 "--m 2147483647 --n 2147483647 --k 2147483647 --dtype f32", "m, n, k", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --as false", "exit status 1 and it printed nothing",
          4 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --as true", "without one", 4 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 -o " PROFILES "test-avx2.json", "found a file", 4 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --name stdio", "header", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --unknown", "--unknown", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 operand", "operand", 2 },
        { "--hardware none.json --m 4 --n 4 --k 4 --dtype f32", "none.json", 3 },
        { AVX2 "--config none.yaml", "none.yaml", 3 },
        { AVX2 "--config " PROFILES "test-avx2.json", "--hardware", 3 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --as no-such-assembler", "--as", 4 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --isa aarch64-neon", "--isa: is not of", 2 },
        { AVX2 "--m 4 --n 4 --k 4 --dtype f32 --isa x86_64-avx512", "--isa: needs features", 2 },
        { AVX2 "--m 7 --n 5 --k 3 --dtype f32 --objective intensity-dividing",
          "--objective: no block", 2 },
        { "--strict --hardware " PROFILES "cortex-a76-prod.json --m 4 --n 4 --k 4 --dtype f32",
          "cortex-a76-prod.json: /", 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = gen(cases[i].arguments);
        cr_expect_eq(code, cases[i].code, "%s: %d: %s", cases[i].arguments, code, out.output);
        cr_expect_not_null(strstr(out.output, cases[i].said), "%s: %s", cases[i].arguments,
                           out.output);
        cr_expect_eq(command("ls -A"), 0);
        cr_expect_str_empty(out.output, "%s leaves %s", cases[i].arguments, out.output);
    }
}

Test(gen, refused_configurations, .init = set_up, .fini = tear_down)
{
    static const struct { const char *text, *said; } cases[] = {
        { "m: 4\nn: 4\nk: 4\ndtype: f32\nm: 8\n", "c.yaml:5" },
        { "m: 4\nn: 4\nk: 4\ndtpye: f32\n", "dtype" },
        { "m: 4\nn: 4\nk: 4\ndtype: f32\ntarget: another\n", "c.yaml:5: target: must be the name" },
        { "m: 4\nn: 4\nk: 4\ndtype: f32\ncodegen:\n  tile_m: 0\n", "c.yaml:6" },
        { "m: 4\nn: 4\nk: 4\ndtype: f32\ncodegen:\n  tile_m: 3\n",
          "c.yaml:6: codegen.tile_m: must split the 4 rows, or a block of them, into tiles of 3 "
          "and of 2 rows, found 3\n" },
        { "m: 4\nn: 4\nk: 4\ndtype: f32\nisa: aarch64-neon\n", "c.yaml:5: isa: is not of" },
        { "m: null\nn: 4\nk: 4\ndtype: f32\n", "c.yaml:1" },
        { "- m\n", "c.yaml:1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text("c.yaml", cases[i].text);
        int code = gen(AVX2 "--config c.yaml -o d");
        cr_expect_eq(code, 3, "%zu: %d: %s", i, code, out.output);
        cr_expect_not_null(strstr(out.output, cases[i].said), "%zu: %s", i, out.output);
        cr_expect_not(exists("d"));
    }
}

Test(gen, places_of_files, .init = set_up, .fini = tear_down)
{
    write_text("c.yaml", "m: 5\nn: 6\nk: 7\ndtype: fp32\ncodegen:\n  output_dir: ./from_config\n"
                         "  kernel_name: mine\n  enable_debug: false\n");
    cr_expect_eq(gen(AVX2 "--config c.yaml"), 0, "%s", out.output);
    cr_expect(exists("from_config/mine.s") && exists("from_config/mine.h") &&
              exists("from_config/mine.o") && exists("from_config/libmine.a") &&
              exists("from_config/mine.json"));
    cr_expect_eq(gen(AVX2 "--config c.yaml -o x/y --m 9 --name other"), 0, "%s", out.output);
    cr_expect(exists("x/y/other.s") && !exists("from_config/other.s"));
    cr_expect_not_null(strstr(read_text("x/y/other.s"), "C[9,6]"));
    cr_expect_eq(gen(AVX2 "--m 5 --n 6 --k 7 --dtype f32 --output z/k.s"), 0, "%s", out.output);
    cr_expect(exists("z/k.s") && exists("z/k.h") && exists("z/k.o") && exists("z/libk.a"));
    cr_expect_not_null(strstr(read_text("z/k.s"), "\n# Estimated cycles: "));
    cr_expect_not_null(strstr(read_text("z/k.h"), "gemm_f32_5x6x7_ex("));
    cr_expect_eq(gen(AVX2 "--m 5 --n 6 --k 7 --dtype f32 --source-only -o s"), 0);
    cr_expect(exists("s/gemm_f32_5x6x7.s") && !exists("s/gemm_f32_5x6x7.o"));
    cr_expect_null(strstr(read_text("s/gemm_f32_5x6x7.s"), folder));
}

/* What a flag replaces need not be built, but must be right. */
Test(gen, flags_win_over_the_file, .init = set_up, .fini = tear_down)
{
    write_text("c.yaml", "m: 5\nn: 6\nk: 7\ndtype: int4\nlayout:\n  b: col_major\n");
    cr_expect_eq(gen(AVX2 "--config c.yaml --layout-b packed"), 3, "%s", out.output);
    cr_expect_not_null(strstr(out.output, "c.yaml:4"), "%s", out.output);
    cr_expect_eq(gen(AVX2 "--config c.yaml --dtype f32 --layout-b packed"), 0, "%s", out.output);
    cr_expect(exists("gemm_f32_5x6x7.s"));
    write_text("c.yaml", "m: 5x\nn: 6\nk: 7\ndtype: f32\n");
    cr_expect_eq(gen(AVX2 "--config c.yaml --m 5"), 3, "%s", out.output);
}

/* A product on the chip and on a changed one; what nobody reads is said to change nothing. */
Test(gen, what_if, .init = set_up, .fini = tear_down)
{
    static const struct { const char *changes, *says; int code; } cases[] = {
        { "res.multiply.capacity=4", "res.multiply.capacity = 4, was 2\n", 0 },
        { "l3_latency=99", "l3_latency = 99, was 15 (no plan reads it", 0 },
        { "mix.call.f32.256=null", "mix.call.f32.256 = none, was 4\n", 0 },
        { "res.load.users=null", "res.load.users = none, was list of ", 0 },
        { "l2_sise=1", "did you mean l2_size", 2 },
        { "l1_ways=-3", "must be 1 to 128", 2 },
        { "l1_ways=many", "KEY=NUMBER", 2 },
        { "l1_ways", "KEY=NUMBER", 2 },
        { ",", "must change something", 2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "plan " AVX2 "--m 64 --n 64 --k 64 --dtype f32 --what-if %s",
                 cases[i].changes);
        cr_expect_eq(gen(line), cases[i].code, "%s", out.output);
        cr_expect_not_null(strstr(out.output, cases[i].says), "%s: %s", cases[i].changes,
                           out.output);
    }
    /* half the multiplies to do: the body's term halves or something else binds */
    cr_expect_eq(gen("plan " AVX2 "--m 64 --n 64 --k 64 --dtype f32 --json --what-if "
                     "res.multiply.capacity=1,op.fma.f32.256.per_cycle=1"), 0);
    cr_expect_not_null(strstr(out.output, "\"body\": 16384"), "%s", out.output);
    cr_expect_not_null(strstr(out.output, "\"body\": 32768"), "%s", out.output);
}

/* From another folder, with another TMPDIR and clock. */
Test(gen, same_bytes, .init = set_up, .fini = tear_down)
{
    static const char *const files[] = { "k.s", "k.h", "k.o", "libk.a", "k.json" };
    const char *arguments = AVX2 "--m 33 --n 40 --k 21 --dtype f32 --name k -o .";
    cr_assert_eq(mkdir("a", 0777) | mkdir("b", 0777) | mkdir("tmp", 0777), 0);
    cr_assert_eq(chdir("a"), 0);
    cr_assert_eq(gen(arguments), 0, "%s", out.output);
    cr_assert_eq(chdir("../b"), 0);
    cr_assert_eq(command("env TMPDIR=%s/tmp LC_ALL=C.UTF-8 TZ=Asia/Tokyo %s %s", folder, GEN,
                         arguments), 0, "%s", out.output);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        cr_expect_eq(command("cmp %s ../a/%s", files[i], files[i]), 0, "%s", out.output);
    cr_expect_eq(command("ls -A ../tmp"), 0);
    cr_expect_str_empty(out.output);
}

Test(gen, failures_leave_nothing, .init = set_up, .fini = tear_down)
{
    const char *arguments = AVX2 "--m 33 --n 40 --k 21 --dtype f32 --name k -o d";
    cr_assert_eq(mkdir("bin", 0777), 0);
    write_text("bin/as", "#!/bin/sh\nfor f; do :; done\nif grep -q vfmadd231ps \"$f\"; then\n"
                         "echo \"$f:9: Error: no such instruction: vfmadd231ps\" >&2; exit 1; fi\n"
                         "exec /usr/bin/as \"$@\"\n");
    cr_assert_eq(command("chmod +x bin/as"), 0);
    cr_expect_eq(command("env PATH=%s/bin:/usr/bin:/bin %s %s", folder, GEN, arguments), 4);
    cr_expect_not_null(strstr(out.output, "vfmadd231ps"), "%s", out.output);
    cr_expect_not(exists("d"));
    cr_expect_eq(command("env PATH=/nonexistent %s %s", GEN, arguments), 4, "%s", out.output);
    cr_expect_not(exists("d"));
    write_text("d", "a file in the way");
    cr_expect_eq(gen(arguments), 4, "%s", out.output);
    cr_expect_eq(gen(AVX2 "--m 3 --n 4 --k 2 --dtype f32 -o /proc/none"), 4, "%s", out.output);
    write_text("full", "#!/bin/sh\nexec \"$@\" > /dev/full\n");
    cr_assert_eq(command("chmod +x full"), 0);
    cr_expect_neq(command("./full %s %s --help", GEN, arguments), 0, "%s", out.output);
    write_text("closed", "#!/bin/sh\nexec \"$@\" >&- <&-\n");
    cr_assert_eq(command("chmod +x closed"), 0);
    cr_expect_eq(command("./closed %s " AVX2 "--m 3 --n 4 --k 2 --dtype f32 -o x", GEN), 4);
    cr_expect_not_null(strstr(out.output, "stdout: cannot be written"), "%s", out.output);
}

/* The exit code of interruption, and neither the assembler nor its folder is left: the pipe that
 * all of them hold comes to its end. Signals are given back their meaning, as under nohup a hang-up
 * has none. */
Test(gen, interrupted, .init = set_up, .fini = tear_down)
{
    static const char *const signals[] = { "INT", "TERM", "HUP", "KILL" };
    cr_assert_eq(mkdir("tmp", 0777), 0);
    write_text("as", "#!/bin/sh\nkill -$SIGNAL $PPID\nexec tail -f /dev/null\n");
    write_text("all", "#!/bin/bash\n{ \"$@\" 9>&1 >/dev/null; echo $? >code; } | cat\n");
    cr_assert_eq(command("chmod +x as all"), 0);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        command("./all env --default-signal SIGNAL=%s TMPDIR=%s/tmp %s " AVX2
                "--m 3 --n 4 --k 5 --dtype f32 --as %s/as", signals[i], folder, GEN, folder);
        const char *wanted = strcmp(signals[i], "KILL") == 0 ? "137\n" : "130\n";
        cr_expect_str_eq(read_text("code"), wanted, "%s", signals[i]);
        cr_expect_eq(command("ls -A tmp"), 0);
        cr_expect_str_empty(out.output, "%s leaves %s", signals[i], out.output);
    }
}

/* However little memory there is: a kernel, or the one exit code for that. */
Test(gen, little_memory, .init = set_up, .fini = tear_down, .timeout = 120)
{
    unsigned refused = 0;
    write_text("little", "#!/bin/bash\nulimit -v $1\nexec \"${@:2}\"\n");
    cr_assert_eq(command("chmod +x little"), 0);
    if (command("grep -q __asan_init %s", GEN) == 0)
        skip("a sanitizer needs terabytes of addresses");
    for (unsigned kib = 3000; kib < 7000; kib += 100) {
        int code = command("./little %u %s plan " AVX2 "--m 300 --n 400 --k 500 --dtype f32", kib,
                           GEN);
        bool begun = code != 127 && strstr(out.output, "shared libraries") == NULL &&
                     strstr(out.output, "Fatal glibc error") == NULL;
        bool memory = code == 4 && strstr(out.output, "needs more memory") != NULL;
        refused += memory;
        cr_expect(code == 0 || memory || !begun, "%u KiB: %d: %s",
                  kib, code, out.output);
    }
    cr_expect_gt(refused, 0);
}

/* The folder of hardware.json is where people work: a kernel must not take its place. */
Test(gen, inputs_are_kept, .init = set_up, .fini = tear_down)
{
    static const struct { const char *arguments; int code; } cases[] = {
        { "--name hardware", 2 }, { "--output hardware.s", 2 }, { "--name other -o x", 0 },
        { "--name hardware -o x", 0 }, { "--name hardware -o x/..", 2 },
    };
    cr_assert_eq(command("cp " PROFILES "test-avx2.json hardware.json"), 0);
    cr_assert_eq(mkdir("x", 0777), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(command("%s --hardware hardware.json --m 4 --n 4 --k 4 --dtype f32 %s", GEN,
                             cases[i].arguments), cases[i].code, "%s: %s", cases[i].arguments,
                     out.output);
        cr_expect(!exists("hardware.s") && !exists("hardware.o"));
        cr_expect_eq(command("cmp hardware.json " PROFILES "test-avx2.json"), 0, "%s",
                     cases[i].arguments);
    }
}

/* An old good file survives a failure; a new folder does not stay. The limit of file sizes lets the
 * assembler do its work in the last case only. */
Test(gen, old_files_survive, .init = set_up, .fini = tear_down)
{
    const char *arguments = AVX2 "--m 33 --n 40 --k 21 --dtype f32 --name k -o d";
    cr_assert_eq(gen(arguments), 0);
    const char *before = read_text("d/k.json");
    write_text("small", "#!/bin/bash\nulimit -f $1\nexec \"${@:2}\"\n");
    cr_assert_eq(command("chmod +x small") | mkdir("tmp", 0777), 0);
    static const char *const limits[] = { "1", "2", "4", "8", "16" };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        cr_expect_eq(command("env TMPDIR=%s/tmp ./small %s %s " AVX2 "--m 34 --n 40 --k 210 "
                             "--dtype f32 --name k -o %s", folder, limits[i], GEN,
                             i % 2 > 0 ? "new" : "d"), 4, "%s: %s", limits[i], out.output);
        cr_expect_str_eq(read_text("d/k.json"), before);
        cr_expect_eq(command("ls -A d"), 0);
        cr_expect_str_eq(out.output, "k.h\nk.json\nk.o\nk.s\nlibk.a\n");
        cr_expect_eq(command("ls -A tmp"), 0);
        cr_expect_str_empty(out.output);
        cr_expect_not(exists("new"), "%s", limits[i]);
    }
}

static const char main_text[] =
    "#include <stdio.h>\n#include \"o/one.h\"\n#include \"o/two.h\"\n#include \"o/wide.h\"\n"
    "#include \"o/two.h\"\n#include \"deepgemm/kernel_args.h\"\n"
    "int main(void)\n{\n    struct dg_kernel_args args = { 0 };\n"
    "    printf(\"%d\\n\", one_ex(&args) + two_ex(&args) + wide_ex(&args));\n    return 0;\n}\n";

/* Headers mix with each other and the public one, archives link by their index. */
Test(gen, several_kernels_in_one_program, .init = set_up, .fini = tear_down)
{
#if !defined __x86_64__
    skip("kernels of x86-64");
#endif
    cr_assert_eq(gen(AVX2 "--m 3 --n 4 --k 5 --dtype f32 --name one -o o"), 0);
    cr_assert_eq(gen(AVX2 "--m 30 --n 40 --k 50 --dtype f32 --name two -o o"), 0);
    cr_assert_eq(gen("--hardware " PROFILES "test-avx512.json --m 30 --n 40 --k 50 --dtype f32 "
                     "--name wide -o o"), 0, "%s", out.output);
    write_text("main.c", main_text);
    static const char *const compilers[] = { "cc -std=c17", "c++ -std=c++17 -x c++" };
    for (size_t i = 0; i < 2; i++) {
        if (i == 1 && command("c++ --version") != 0)
            break;
        cr_expect_eq(command("%s -Wall -Wextra -pedantic -Werror -Wno-missing-field-initializers "
                             "-I. -I" SOURCE_ROOT "/include -c -o main.o main.c", compilers[i]), 0,
                     "%s", out.output);
        cr_expect_eq(command("cc -o main main.o -Lo -lone -ltwo -lwide"), 0, "%s", out.output);
        cr_expect_eq(command("./main"), 0);
        cr_expect_str_eq(out.output, "6\n");
    }
}

/* The line numbers of the object name instructions of NAME.s. */
Test(gen, line_numbers, .init = set_up, .fini = tear_down)
{
    cr_assert_eq(gen(AVX2 "--m 9 --n 10 --k 11 --dtype f32 --name k --codegen-enable-debug true"),
                 0, "%s", out.output);
    cr_assert_eq(command("objdump -dl --no-show-raw-insn k.o"), 0);
    const char *source = read_text("k.s"), *at = out.output;
    unsigned found = 0;
    while ((at = strstr(at, "k.s:")) != NULL) {
        unsigned long number = strtoul(at + 4, NULL, 10);
        const char *line = source;
        for (unsigned long i = 1; i < number; i++)
            line = strchr(line, '\n') + 1;
        at = strchr(at, '\n') + 1;
        const char *instruction = strchr(at, ':') + 1;       /* "  14:   push   %rbx" */
        instruction += strspn(instruction, " \t");
        size_t length = strcspn(instruction, " \n");
        cr_expect(line[0] == '\t' && strncmp(line + 1, instruction, length) == 0,
                  "line %lu is %.30s, not %.30s", number, line, instruction);
        found++;
    }
    cr_expect_gt(found, 20);
}

/* Every key of a configuration has its flag. */
Test(gen, every_key_has_a_flag, .init = set_up, .fini = tear_down)
{
    cr_assert_eq(gen("--help"), 0);
    for (size_t i = 0; i < dg_problem_key_count; i++) {
        char flag[64];
        const char *key = dg_problem_keys[i].key;
        if (strcmp(key, "target") == 0)
            continue;
        dg_format(flag, sizeof flag, " --%s ", strcmp(key, "codegen.kernel_name") == 0 ? "name"
                                               : strcmp(key, "codegen.output_dir") == 0
                                                   ? "output-dir" : key);
        for (char *c = flag + 3; *c != '\0'; c++)
            if (*c == '.' || *c == '_')
                *c = '-';
        cr_expect_not_null(strstr(out.output, flag), "%s", flag);
    }
}

Test(gen, cross_kernels, .init = set_up, .fini = tear_down)
{
    if (command("aarch64-linux-gnu-as --version") != 0)
        skip("no cross tools for aarch64");
    const char *arguments = "--hardware " PROFILES "cortex-a76-prod.json --m 9 --n 10 --k 11 "
                            "--dtype f32 --name k";
    cr_expect_eq(gen(arguments), 0, "%s", out.output);
    cr_expect_not_null(strstr(out.output, "assumed"));
    cr_expect_not_null(strstr(read_text("k.json"), "\"assumed\": [\""));
    cr_expect_eq(command("%s %s -o cc --cc aarch64-linux-gnu-gcc", GEN, arguments), 0, "%s",
                 out.output);
    cr_expect_eq(command("cmp k.o cc/k.o"), 0, "%s", out.output);
    cr_expect_eq(command("%s %s -o wrong --as /usr/bin/as", GEN, arguments), 4, "%s", out.output);
    cr_expect_not(exists("wrong"));
}
