/* SPDX-License-Identifier: Apache-2.0
 *
 * Random products planned, emitted, assembled and run: 100 for each target, 500 with
 * DG_TEST_FULL=1 in the environment. All kernels of a target go into one static program. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/run.h"
#include "base/str.h"
#include "emit/plan/plan.h"
#include "emit/problem/reader.h"
#include "emit/write/emit.h"
#include "profile/reader.h"

enum { DTYPES = 6 };
struct target {
    const char *isa, *profile, *cc, *emulator;
    const char *dtypes[DTYPES + 1];        /* drawn from, NULL-terminated */
};

struct line {
    struct dg_arena arena;
    struct dg_profile profile;
    char folder[64];
    struct dg_str table, list, objects;
    uint64_t random;
};

static uint64_t draw(struct line *l, uint64_t low, uint64_t high)
{
    l->random = l->random * 6364136223846793005u + 1442695040888963407u;
    return low + (l->random >> 33) % (high - low + 1);
}

static bool have(const char *program)
{
    const char *const argv[] = { program, "--version", NULL };
    struct dg_run out;
    return dg_run(argv, 10000, &out, NULL) && out.status == 0;
}

static void open_line(struct line *l, const struct target *t)
{
    struct dg_error e = { 0 };
    char path[512];
    *l = (struct line){ .random = 20240229 };
    dg_arena_init(&l->arena);
    dg_format(path, sizeof path, "%s/tests/profiles/%s", SOURCE_ROOT, t->profile);
    cr_assert(dg_profile_load(path, &l->arena, &l->profile, &e), "%s: %s", e.where, e.rule);
    strcpy(l->folder, "/tmp/dg-e2e-XXXXXX");
    cr_assert_not_null(mkdtemp(l->folder));
    cr_assert_eq(chdir(l->folder), 0);
    dg_str_init(&l->table, &l->arena);
    dg_str_init(&l->list, &l->arena);
    dg_str_init(&l->objects, &l->arena);
    dg_str_add(&l->table, "#include \"runner.h\"\n");
}

static void close_line(struct line *l)
{
    const char *const argv[] = { "rm", "-rf", l->folder, NULL };
    struct dg_run out;
    dg_run(argv, 60000, &out, NULL);
    dg_arena_free(&l->arena);
}

struct shape { uint64_t m, n, k, more[3]; bool packed, beta; const char *dtype; };

/* The corners first: one of everything, nothing of K, a step beyond a tile. */
static struct shape choose(struct line *l, const struct target *t, size_t number)
{
    static const struct shape corners[] = {
        { 1, 1, 1, { 0 }, true, false }, { 1, 200, 1, { 0 }, false, true },
        { 200, 1, 7, { 0 }, true, true }, { 5, 9, 0, { 0 }, true, false },
        { 5, 9, 0, { 0 }, false, true }, { 1, 1, 200, { 0 }, false, false },
        { 17, 33, 65, { 1, 3, 5 }, true, false }, { 16, 32, 64, { 0 }, false, false },
    };
    size_t count = sizeof corners / sizeof *corners, dtypes = 0;
    while (t->dtypes[dtypes] != NULL)
        dtypes++;
    struct shape s = { draw(l, 1, 200), draw(l, 1, 200), draw(l, 1, 200), { 0 },
                       draw(l, 0, 2) > 0, draw(l, 0, 1) > 0, NULL };
    for (int i = 0; i < 3; i++)
        s.more[i] = draw(l, 0, 1) * draw(l, 0, 9);
    if (number < count * dtypes)
        s = corners[number % count];
    s.dtype = t->dtypes[number < count * dtypes ? number / count : draw(l, 0, dtypes - 1)];
    if (s.dtype[0] != 'f')
        s.packed = true;
    return s;
}

static void make_problem(struct line *l, const struct target *t, const struct shape *s,
                         const char *name, struct dg_problem *out)
{
    enum { COUNT = 11 };
    static const char *const keys[COUNT] = {
        "m", "n", "k", "dtype", "isa", "beta", "layout.b", "layout.lda", "layout.ldb",
        "layout.ldc", "codegen.kernel_name",
    };
    const uint64_t numbers[COUNT] = {
        s->m, s->n, s->k, 0, 0, s->beta, 0, (s->k > 0 ? s->k : 1) + s->more[0],
        s->n + s->more[1], s->n + s->more[2], 0,
    };
    const char *const texts[COUNT] = {
        [3] = s->dtype, [4] = t->isa, [6] = s->packed ? "packed" : "row_major", [10] = name,
    };
    struct dg_setting flags[COUNT];
    struct dg_error e = { 0 };
    for (size_t i = 0; i < COUNT; i++) {
        char digits[24];
        dg_format(digits, sizeof digits, "%llu", (unsigned long long)numbers[i]);
        const char *text = texts[i] != NULL ? texts[i] : dg_strdup(&l->arena, digits);
        flags[i] = (struct dg_setting){ keys[i], text, "--flag", false };
    }
    cr_assert(dg_problem_load(NULL, flags, COUNT, &l->arena, out, &e), "%s: %s: %s", e.where,
              e.rule, e.value);
}

static void add_row(struct line *l, const struct dg_problem *p)
{
    const char *name = p->name;
    bool packed = p->layout_b == DG_PACKED;
    dg_str_format(&l->table, "#include \"%s.h\"\n", name);
    dg_str_format(&l->objects, "%s.o\n", name);
    dg_str_format(&l->list, "    { \"%s\", \"%s\", %llu, %llu, %llu, %llu, %llu, %llu, %d, %s, ",
                  name, dg_dtype_names[p->dtype], (unsigned long long)p->m,
                  (unsigned long long)p->n, (unsigned long long)p->k,
                  (unsigned long long)p->lda, (unsigned long long)p->ldb,
                  (unsigned long long)p->ldc, p->beta, name);
    if (packed)
        dg_str_format(&l->list, "%s_packed_b_size, %s_pack_b },\n", name, name);
    else
        dg_str_add(&l->list, "0, 0 },\n");
}

static void make_kernel(struct line *l, const struct target *t, size_t number)
{
    struct dg_problem problem;
    struct dg_plan_result plan;
    struct dg_emitted emitted;
    struct dg_error e = { 0 };
    char name[32];
    struct shape shape = choose(l, t, number);
    const struct dg_emit_options options = { .tool_version = "0.0.0" };
    dg_format(name, sizeof name, "p%zu_%ux%ux%u", number, (unsigned)shape.m, (unsigned)shape.n,
              (unsigned)shape.k);
    make_problem(l, t, &shape, name, &problem);
    cr_assert(dg_plan_make(&problem, &l->profile, false, &l->arena, &plan, &e), "%s: %s: %s %s",
              name, e.where, e.rule, e.value);
    cr_assert(dg_emit_make(&problem, &plan, &options, &l->arena, &emitted, &e) &&
              dg_emit_write(&emitted, ".", &l->arena, &e), "%s: %s: %s %s", name, e.where, e.rule,
              e.value);
    add_row(l, &problem);
}

/* All objects by a response file: hundreds of names. */
static void link_runner(struct line *l, const struct target *t, size_t count)
{
    struct dg_error e = { 0 };
    struct dg_run out;
    struct dg_str files;
    dg_str_init(&files, &l->arena);
    dg_str_format(&l->table, "const struct row rows[] = {\n%s};\n"
                             "const size_t row_count = %zu;\n", dg_str_text(&l->list), count);
    dg_str_format(&files, "-I. -I%s -I%s/tests/e2e %s/tests/e2e/runner.c %s/base/half.c "
                  "table.c\n%s", SOURCE_ROOT, SOURCE_ROOT, SOURCE_ROOT, SOURCE_ROOT,
                  dg_str_text(&l->objects));
    cr_assert(dg_file_write("table.c", l->table.text, l->table.length, &e));
    cr_assert(dg_file_write("files", files.text, files.length, &e));
    const char *const cc[] = { t->cc, "-O1", "-static", "-Wall", "-Wextra", "-pedantic", "-Werror",
                               "-o", "runner", "@files", NULL };
    cr_assert(dg_run(cc, 300000, &out, &e) && out.status == 0, "%s", out.output);
}

/* Built in any case; run where this machine can. */
static void check_target(const struct target *t, bool can_run)
{
    struct line line;
    struct dg_run out;
    struct dg_error e = { 0 };
    size_t count = getenv("DG_TEST_FULL") != NULL ? 500 : 100;
    open_line(&line, t);
    for (size_t i = 0; i < count; i++)
        make_kernel(&line, t, i);
    link_runner(&line, t, count);
    if (!can_run) {
        close_line(&line);
        cr_skip_test("built but not run: the machine lacks it");
    }
    const char *const native[] = { "./runner", NULL };
    const char *const emulated[] = { t->emulator, "-cpu", "cortex-a72", "./runner", NULL };
    cr_assert(dg_run(t->emulator != NULL ? emulated : native, 600000, &out, &e), "%s", e.value);
    char right[64];
    dg_format(right, sizeof right, "%zu kernels, 0 wrong\n", count);
    cr_expect(out.status == 0 && strcmp(out.output, right) == 0, "%s, exit code %d: %s", t->isa,
              out.status, out.output);
    close_line(&line);
}

Test(products, avx2)
{
#if defined __x86_64__
    /* every chip with AVX2 has F16C, which clang does not know by name */
    check_target(&(struct target){ "x86_64-avx2", "test-avx2.json", "cc", NULL,
                                    { "f32", "f64", "f16", "bf16", "u8s8", "s8s8" } },
                 __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
#else
    cr_skip_test("no AVX2 here");
#endif
}

Test(products, avx512)
{
#if defined __x86_64__
    check_target(&(struct target){ "x86_64-avx512", "test-avx512.json", "cc", NULL,
                                    { "f32", "f64", "f16", "bf16", "u8s8", "s8s8" } },
                 __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni") &&
                 __builtin_cpu_supports("avx512bf16"));
#else
    cr_skip_test("no AVX-512 here");
#endif
}

Test(products, neon)
{
    const struct target cross = { "aarch64-neon", "test-neon.json", "aarch64-linux-gnu-gcc",
                                  "qemu-aarch64-static", { "f32", "f64" } };
    if (!have(cross.cc) || !have(cross.emulator))
        cr_skip_test("no cross tools for aarch64");
    check_target(&cross, true);
}
