/* SPDX-License-Identifier: Apache-2.0
 *
 * Configurations and flags: what is taken and, by rule, place and advice, what is refused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "emit/problem/name.h"
#include "emit/problem/reader.h"

static bool read_yaml(const char *text, struct dg_problem *out, struct dg_error *e)
{
    char path[] = "/tmp/dg-problem-XXXXXX";
    struct dg_arena arena;
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    memset(e, 0, sizeof *e);
    dg_arena_init(&arena);
    bool good = dg_problem_load(path, NULL, 0, &arena, out, e);
    dg_arena_free(&arena);
    unlink(path);
    return good;
}

#define HEAD "m: 8\nn: 9\nk: 10\ndtype: f32\n"

/* The example with what stands behind # brought in: every key of the table, and all of it right. */
Test(problem, example_has_every_key)
{
    char path[512], text[8192], all[8192];
    size_t length = 0;
    struct dg_problem p;
    struct dg_error e;
    snprintf(path, sizeof path, "%s/examples/gemm_f32.yaml", getenv("SOURCE"));
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    cr_assert(read_yaml(text, &p, &e), "%s: %s %s", e.where, e.rule, e.value);
    char *next;
    for (char *line = strtok_r(text, "\n", &next); line != NULL;
         line = strtok_r(NULL, "\n", &next)) {
        bool hidden = line[0] == '#' && line[1] != ' ';
        hidden |= strncmp(line, "#  ", 3) == 0 && line[3] != ' ';
        length += (size_t)snprintf(all + length, sizeof all - length, "%s\n", line + hidden);
    }
    cr_assert(read_yaml(all, &p, &e), "%s: %s %s\n%s", e.where, e.rule, e.value, all);
    cr_expect_str_eq(p.target, "my-chip");
    for (size_t i = 0; i < dg_problem_key_count; i++) {
        char wanted[64];
        const char *dot = strchr(dg_problem_keys[i].key, '.');
        snprintf(wanted, sizeof wanted, "\n%s%s:", dot != NULL ? "  " : "",
                 dot != NULL ? dot + 1 : dg_problem_keys[i].key);
        cr_expect_not_null(strstr(all, wanted), "no %s", dg_problem_keys[i].key);
    }
}

Test(problem, taken)
{
    struct dg_problem p;
    struct dg_error e;
    cr_assert(read_yaml(HEAD, &p, &e), "%s %s", e.where, e.rule);
    cr_assert_str_eq(p.name, "gemm_f32_8x9x10");
    cr_assert_str_eq(p.isa, "auto");
    cr_assert(p.m == 8 && p.n == 9 && p.k == 10 && p.dtype == DG_F32);
    cr_assert(p.lda == 10 && p.ldb == 9 && p.ldc == 9 && p.beta == 0);
    cr_assert(p.layout_a == DG_ROW_MAJOR && p.layout_b == DG_PACKED);
    cr_assert(read_yaml("\xef\xbb\xbf" HEAD, &p, &e), "the mark of UTF-8: %s", e.rule);
    cr_assert(read_yaml("# all\ntarget: chip-1\nm: 2147483647\nn: 1\nk: 0\ndtype: fp32\n"
                        "isa: x86_64-avx2\nbeta: 1\nobjective: intensity-dividing\n"
                        "layout: {a: row_major, b: \"row_major\", ldb: 64, ldc: 7}\n"
                        "codegen:\n  output_dir: ./out dir\n  kernel_name: mul_1\n"
                        "  enable_debug: true\n  tile_m: 6\n  tile_n: 16\n  workspace: false\n",
                        &p, &e), "%s %s %s", e.where, e.rule, e.value);
    cr_assert_str_eq(p.target, "chip-1");
    cr_assert_str_eq(p.name, "mul_1");
    cr_assert_str_eq(p.output_dir, "./out dir");
    cr_assert(p.m == 2147483647 && p.k == 0 && p.lda == 1 && p.ldb == 64 && p.ldc == 7);
    cr_assert(p.beta == 1 && p.enable_debug && !p.workspace && p.tile_m == 6 && p.tile_n == 16);
    cr_assert(p.objective == DG_OBJECTIVE_INTENSITY && p.intensity_divides);
}

/* Each text is refused; parts of the message that must be there. */
static const struct refused { const char *text, *where, *rule, *value, *todo; } refused[] = {
    { HEAD "layout:\n  bb: packed\n", ":6", "unknown key", "layout.bb", "layout.b" },
    { HEAD "dtyp: f32\n", ":5", "unknown key", "dtyp", "dtype" },
    { HEAD "kernel_name: x\n", ":5", "unknown key", "kernel_name", "" },
    { HEAD "m: 9\n", ":5", "twice, first at", "m", "" },
    { HEAD "m: 9\n", ":5", ":1", "m", "" },
    { HEAD "layout: {a: row_major, a: row_major}\n", ":5", "twice", "layout.a", "" },
    { HEAD "layout: {}\nlayout: {}\n", ":6", "twice", "layout", "" },
    { "m: 8\nn: 9\nk: 10\n", "dtype", "required", "", "dtype: f32" },
    { "n: 9\nk: 10\ndtype: f32\n", "m", "required", "", "--m" },
    { "m: 0\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "", "0", "1 to 2147483647" },
    { "m: 2147483648\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "", "2147483648", "2147483647" },
    { "m: 99999999999999999999\nn: 9\nk: 1\ndtype: f32\n", ":1: m", "", "99999", "" },
    { "m: -8\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "", "-8", "" },
    { "m: 08\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "", "08", "digits only" },
    { "m: 1_0\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "", "1_0", "" },
    { "m: 1e3\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "", "1e3", "" },
    { "m: 8.0\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "", "8.0", "" },
    { "m: 0x8\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "", "0x8", "" },
    { "m: +8\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "", "+8", "" },
    { "m: \"8\"\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "not a text", "8", "quotes" },
    { "m: ~\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "no value", "~", "" },
    { "m: null\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "no value", "null", "" },
    { "m:\nn: 9\nk: 10\ndtype: f32\n", ":1: m", "no value", "", "" },
    { "m: [8]\nn: 9\nk: 10\ndtype: f32\n", ":1", "not a list", "m", "" },
    { "m: {a: 8}\nn: 9\nk: 10\ndtype: f32\n", ":1", "not a mapping", "m", "" },
    { HEAD "layout: packed\n", ":5", "must be a mapping", "layout", "" },
    { HEAD "layout:\n", ":5", "must be a mapping", "layout", "" },
    { HEAD "codegen: {enable_debug: yes}\n", ":5: codegen.enable_debug", "true or false", "yes",
      "" },
    { HEAD "codegen: {enable_debug: 1}\n", ":5", "true or false", "1", "" },
    { HEAD "codegen: {enable_debug: \"true\"}\n", ":5", "true or false", "true", "quotes" },
    { HEAD "target: 12\n", ":5: target", "must be a text", "12", "quotes" },
    { HEAD "target: true\n", ":5: target", "must be a text", "true", "quotes" },
    { HEAD "beta: 2\n", ":5: beta", "", "2", "0 to 1" },
    { HEAD "beta: 0.5\n", ":5: beta", "", "0.5", "" },
    { HEAD "isa: avx2\n", ":5: isa", "not one of", "avx2", "x86_64-avx2" },
    { HEAD "isa: x86_64-sse2\n", ":5: isa", "not one of", "", "" },
    { HEAD "objective: speed\n", ":5", "not one of", "speed", "cycles, intensity" },
    { HEAD "layout: {b: packd}\n", ":5: layout.b", "not one of", "packd", "did you mean packed" },
    { HEAD "layout: {b: col_major}\n", ":5: layout.b", "not built", "col_major", "row_major" },
    { HEAD "layout: {a: col_major}\n", ":5: layout.a", "not built", "col_major", "row_major" },
    { HEAD "layout: {a: packed}\n", ":5: layout.a", "not built", "packed", "" },
    { HEAD "layout: {c: col_major}\n", ":5: layout.c", "not built", "col_major", "" },
    { HEAD "layout: {lda: 9}\n", ":5: layout.lda", "at least 10", "9", "" },
    { HEAD "layout: {ldb: 8}\n", ":5: layout.ldb", "at least 9", "8", "" },
    { HEAD "layout: {ldc: 8}\n", ":5: layout.ldc", "at least 9", "8", "" },
    { HEAD "codegen: {kernel_name: 2x}\n", ":5: codegen.kernel_name", "identifier", "2x", "" },
    { HEAD "codegen: {kernel_name: a-b}\n", ":5", "identifier", "a-b", "" },
    { HEAD "codegen: {kernel_name: \"\"}\n", ":5", "1 to 100", "", "" },
    { HEAD "codegen: {kernel_name: while}\n", ":5", "keyword", "while", "" },
    { HEAD "codegen: {kernel_name: namespace}\n", ":5", "keyword", "namespace", "" },
    { HEAD "codegen: {kernel_name: _Atomic}\n", ":5", "reserved", "_Atomic", "" },
    { HEAD "codegen: {kernel_name: a__b}\n", ":5", "reserved", "a__b", "" },
    { HEAD "codegen: {kernel_name: memcpy}\n", ":5", "C library", "memcpy", "my_gemm" },
    { HEAD "codegen: {kernel_name: dg_f32}\n", ":5", "DeepGEMM", "dg_f32", "my_gemm" },
    { HEAD "codegen: {kernel_name: math}\n", ":5", "header", "math", "my_gemm" },
    { HEAD "codegen: {kernel_name: m}\n", ":5", "library", "m", "my_gemm" },
    { HEAD "codegen: {output_dir: \"a\\nb\"}\n", ":5", "control character", "", "" },
    { HEAD "codegen: {tile_m: 0}\n", ":5: codegen.tile_m", "", "0", "1 to 1024" },
    { "m: &x 8\nn: 9\nk: 10\ndtype: f32\n", ":1", "anchors and tags", "m", "" },
    { "m: &x 8\nn: *x\nk: 10\ndtype: f32\n", ":1", "anchors", "m", "" },
    { "m: 8\nn: *x\nk: 10\ndtype: f32\n", ":2", "", "", "" },
    { "m: !!int 8\nn: 9\nk: 10\ndtype: f32\n", ":1", "anchors and tags", "m", "" },
    { "!a {m: 8}\n", ":1", "anchors and tags", "", "" },
    { HEAD "layout: &l {a: row_major}\n", ":5", "anchors and tags", "", "" },
    { HEAD "<<: {m: 1}\n", ":5", "unknown key", "<<", "" },
    { HEAD "target: a\x07\n", ":5", "not valid YAML", "control characters", "" },
    { "target: caf\xe9\n" HEAD, ":1", "not valid YAML", "UTF-8", "" },
    { HEAD "target: caf\xe9 \n", ":5", "not valid YAML", "UTF-8", "" },
    { "m:\t8\n\tn: 9\n", ":2", "not valid YAML", "tab character", "" },
    { HEAD "---\n" HEAD, ":5", "more than one document", "", "" },
    { HEAD "...\n" HEAD, ":6", "not valid YAML", "", "" },
    { "", ":1", "empty", "", "" },
    { "# nothing\n", "", "empty", "", "" },
    { "~\n", ":1", "must be a mapping", "", "" },
    { "- m\n", ":1", "must be a mapping", "", "" },
    { "m: 8\n n: 9\n", ":2", "not valid YAML", "", "" },
    { "m: \"8\n", "", "not valid YAML", "", "" },
    { "m: \xc3\x28\n", "", "not valid YAML", "", "" },
    { "? [a, b]\n: 1\n", ":1", "not a list", "a key", "" },
    { "{\"schema\": \"deepgemm-hardware/1\", \"l1_size\": 32768}\n", ":1", "hardware file",
      "schema", "--hardware" },
    { "name: npu_x1\nmac_units: 1024\n", ":1", "hardware file", "name", "--config" },
    { "m: 2147483647\nn: 2147483647\nk: 2147483647\ndtype: f32\n", "m, n, k", "2^63",
      "2147483647 x", "split" },
};

Test(problem, refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refused *r = &refused[i];
        struct dg_problem p;
        struct dg_error e;
        cr_assert_not(read_yaml(r->text, &p, &e), "taken: %s", r->text);
        cr_assert(e.exit_code == DG_EXIT_INPUT || e.exit_code == DG_EXIT_USAGE);
        cr_assert(strstr(e.where, r->where) != NULL && strstr(e.rule, r->rule) != NULL &&
                  strstr(e.value, r->value) != NULL && strstr(e.todo, r->todo) != NULL,
                  "%s\n-> %s: %s: %s: %s", r->text, e.where, e.rule, e.value, e.todo);
        cr_assert_neq(e.rule[0], '\0');
    }
}

Test(problem, element_types)
{
    static const struct { const char *text, *name; enum dg_dtype dtype; } cases[] = {
        { "f32", "f32", DG_F32 }, { "fp32", "f32", DG_F32 }, { "f64", "f64", DG_F64 },
        { "f16", "f16", DG_F16 }, { "fp16", "f16", DG_F16 }, { "bf16", "bf16", DG_BF16 },
        { "u8s8", "u8s8", DG_U8S8 }, { "s8s8", "s8s8", DG_S8S8 }, { "int8", "s8s8", DG_S8S8 },
        { "s4s4", "s4s4", DG_S4S4 }, { "int4", "int4", DG_INT4 }, { "int2", "int2", DG_INT2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_problem p;
        struct dg_error e;
        char text[64];
        snprintf(text, sizeof text, "m: 8\nn: 9\nk: 10\ndtype: %s\n", cases[i].text);
        bool good = read_yaml(text, &p, &e);
        cr_assert_str_eq(dg_dtype_names[cases[i].dtype], cases[i].name);
        if (good)
            cr_assert_eq(p.dtype, cases[i].dtype);
        else
            cr_assert(strstr(e.rule, "not built") != NULL && strstr(e.todo, "f32") != NULL &&
                      strcmp(e.value, cases[i].text) == 0);
    }
}

/* The longest sums that fit, and what a dtype takes of layouts. */
Test(problem, limits_of_element_types)
{
    static const struct { const char *text, *rule; } cases[] = {
        { "k: 65793\ndtype: u8s8\n", NULL },     /* 65793 * 255 * 128 < 2^31 <= 65794 * that */
        { "k: 65794\ndtype: u8s8\n", "at most 65793" },
        { "k: 131071\ndtype: s8s8\n", NULL },    /* 131072 * 128 * 128 = 2^31 */
        { "k: 131072\ndtype: s8s8\n", "at most 131071" },
        { "k: 131072\ndtype: bf16\n", NULL },
        { "k: 8\ndtype: f16\nlayout:\n  b: row_major\n", NULL },
        { "k: 8\ndtype: bf16\nlayout:\n  b: row_major\n", "not built yet for this dtype" },
        { "k: 8\ndtype: s8s8\nlayout:\n  b: row_major\n", "not built yet for this dtype" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_problem p;
        struct dg_error e = { 0 };
        char text[128];
        snprintf(text, sizeof text, "m: 8\nn: 9\n%s", cases[i].text);
        bool good = read_yaml(text, &p, &e);
        cr_expect_eq(good, cases[i].rule == NULL, "case %zu: %s", i, e.rule);
        cr_expect(good || strstr(e.rule, cases[i].rule) != NULL, "case %zu: %s", i, e.rule);
    }
}

/* The file of the examples asks for f16 and col_major: refused by name until they are built. */
Test(problem, example)
{
    struct dg_arena arena;
    struct dg_problem p;
    struct dg_error e = { 0 };
    char path[4096];
    snprintf(path, sizeof path, "%s/examples/gemm_config.yaml", getenv("SOURCE"));
    dg_arena_init(&arena);
    static const struct dg_setting flags[] = {
        { "dtype", "f32", "--dtype", false }, { "layout.b", "packed", "--layout-b", false },
        { "m", "100", "--m", false },
    };
    cr_assert_not(dg_problem_load(path, NULL, 0, &arena, &p, &e));
    cr_assert(strstr(e.where, "gemm_config.yaml:8") != NULL && strstr(e.rule, "not built") != NULL);
    cr_assert_not(dg_problem_load("/nonexistent/x.yaml", flags, 3, &arena, &p, &e));
    cr_assert_not(dg_problem_load("/", flags, 3, &arena, &p, &e));
    dg_arena_free(&arena);
}

static bool from_flags(const struct dg_setting *flags, size_t count, struct dg_problem *out,
                       struct dg_error *e)
{
    struct dg_arena arena;
    dg_arena_init(&arena);
    memset(e, 0, sizeof *e);
    bool good = dg_problem_load(NULL, flags, count, &arena, out, e);
    dg_arena_free(&arena);
    return good;
}

Test(problem, flags)
{
    struct dg_setting flags[] = {
        { "m", "5", "--m", false },           { "n", "6", "--n", false },
        { "k", "7", "--k", false },           { "dtype", "f32", "--dtype", false },
        { "codegen.output_dir", "12", "-o", false },
        { "codegen.kernel_name", "x", "--name", false },
    };
    enum { COUNT = sizeof flags / sizeof *flags };
    struct dg_problem p;
    struct dg_error e;
    cr_assert(from_flags(flags, COUNT, &p, &e), "%s %s", e.where, e.rule);
    cr_assert(p.m == 5 && p.k == 7 && strcmp(p.output_dir, "12") == 0 && strcmp(p.name, "x") == 0);
    cr_assert_not(from_flags(flags, 3, &p, &e));
    cr_assert(e.exit_code == DG_EXIT_USAGE && strstr(e.todo, "--dtype") != NULL);
    flags[1].text = "06";
    cr_assert_not(from_flags(flags, COUNT, &p, &e));
    cr_assert(e.exit_code == DG_EXIT_USAGE && strcmp(e.where, "--n") == 0);
    flags[1] = flags[0];
    cr_assert_not(from_flags(flags, COUNT, &p, &e));
    cr_assert_not_null(strstr(e.rule, "twice"));
}

/* A flag wins over the file, whose other values stay. */
Test(problem, flag_over_file)
{
    static const struct dg_setting settings[] = {
        { "m", "5", "c.yaml:1", false },      { "n", "6", "c.yaml:2", false },
        { "k", "7", "c.yaml:3", false },      { "dtype", "f32", "c.yaml:4", false },
        { "m", "50", "--m", false },          { "layout.b", "row_major", "--layout-b", false },
    };
    struct dg_problem p;
    struct dg_error e = { 0 };
    cr_assert(dg_problem_from(settings, sizeof settings / sizeof *settings, &p, &e));
    cr_assert(p.m == 50 && p.n == 6 && p.layout_b == DG_ROW_MAJOR);
}

Test(problem, names)
{
    static const struct { const char *name; bool good; } cases[] = {
        { "a", true }, { "gemm_f32_1x2x3", true }, { "A9", true }, { "main", false },
        { "std", false }, { "", false }, { "9a", false }, { "a b", false }, { "\xc3\xa9", false },
        { "typename", false }, { "restrict", false }, { "_x", false }, { "int8", true },
        { "memcpy", false }, { "sinf", false }, { "sinl", false }, { "sinx", true },
        { "read", false }, { "time", false }, { "wcsnlen", false }, { "yn", false },
        { "dg_", false }, { "dg_gemm", false }, { "DG_GEMM", false }, { "dgemm", true },
        { "size_t", false }, { "my_t", false }, { "INT32_MAX", false }, { "LONG_K", true },
        { "linux", false }, { "NULL", false }, { "errno", false }, { "va_list_", true },
        { "math", false }, { "stdio", false }, { "m", false }, { "c", false }, { "k", true },
        { "strassen", true }, { "memory_bound", true }, { "token", true }, { "isomorphic", true },
        { "m_", true }, { "x", true }, { "zz", true }, { "yy", true },
    };
    const char *rule;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(dg_kernel_name_valid(cases[i].name, &rule), cases[i].good, "%s",
                     cases[i].name);
}
