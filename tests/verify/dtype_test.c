/* SPDX-License-Identifier: Apache-2.0
 *
 * Every dtype: right kernels pass, and each planted fault is caught by the check that is there for
 * it. The kernels are kernels/plain.c. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/run.h"
#include "tests/verify/fixture.h"
#include "verify/host.h"
#include "verify/runner/elements.h"

#if defined(__x86_64__)
#define NATIVE "x86_64"
#define PLAIN "sse2"
#else
#define NATIVE "aarch64"
#define PLAIN "asimd"
#endif

struct variant {
    const char *dtype, *layout;
    int beta;
    uint64_t m, n, k;
    const char *options;         /* of the compiler, apart by blanks: INSTRUCTION, BREAK_x, ... */
    const char *features;
};

/* Macros of kernels/plain.c, and what the manifest says about the same kernel. */
static bool open_variant(struct fixture *f, const char *cc, const struct variant *v)
{
    char text[512];
    const char *options[20];
    size_t count = 0;
    dg_format(text, sizeof text, "-DDTYPE_%s -DLAYOUT_%s -DBETA=%d -DDIM_M=%llu -DDIM_N=%llu "
              "-DDIM_K=%llu %s", v->dtype, v->layout, v->beta, (unsigned long long)v->m,
              (unsigned long long)v->n, (unsigned long long)v->k, v->options);
    for (char *word = strtok(text, " "); word != NULL && count < 19; word = strtok(NULL, " "))
        options[count++] = word;
    options[count] = NULL;
    if (!fixture_compile(f, cc, options))
        return false;
    bool packed = strcmp(v->layout, "packed") == 0;
    const struct dg_run_dtype *dtype = dg_run_dtype_named(v->dtype);
    f->manifest.isa = "plain";
    f->manifest.architecture = NATIVE;
    f->manifest.features = v->features;
    f->manifest.problem.dtype = v->dtype;
    f->manifest.problem.a_bytes = dtype->a->bytes;
    f->manifest.problem.b_bytes = dtype->b->bytes;
    f->manifest.problem.c_bytes = dtype->c->bytes;
    f->manifest.problem.layout_b = v->layout;
    f->manifest.problem.beta = v->beta;
    f->manifest.problem.m = v->m;
    f->manifest.problem.n = v->n;
    f->manifest.problem.k = v->k;
    f->manifest.problem.lda = v->k + 2;
    f->manifest.problem.ldb = (strcmp(v->layout, "col_major") == 0 ? v->k : v->n) + 2;
    f->manifest.problem.ldc = v->n + 3;
    f->manifest.problem.packed_b_size = packed ? v->k * v->n * dtype->b->bytes : 0;
    f->manifest.problem.packed_b_alignment = packed ? 64 : 0;
    return true;
}

static bool runs_here(const char *features)
{
    struct dg_manifest needs = {.name = "hand", .architecture = NATIVE, .features = features};
    struct dg_error e;
    return dg_host_fit(&needs, &e) == DG_HOST_FITS;
}

static void expect_pass(struct fixture *f, const struct variant *v)
{
    enum dg_exit code = fixture_verify(f, "hand.json");
    const struct dg_check *failed = fixture_failed(f);
    cr_expect(code == DG_EXIT_OK && f->report.pass, "%s %s beta %d %s: %d %s: %s", v->dtype,
              v->layout, v->beta, v->options, (int)code,
              failed == NULL ? f->error.rule : failed->name,
              failed == NULL ? f->error.value : failed->detail);
    const struct dg_kernel_report *k = &f->report.kernels[0];
    cr_expect(k->numbers.checked >= 5 * v->m * v->n && k->numbers.max_error <= k->numbers.bound);
}

static void expect_caught(struct fixture *f, const struct variant *v, const char *check,
                          const char *detail)
{
    enum dg_exit code = fixture_verify(f, "hand.json");
    const struct dg_check *failed = fixture_failed(f);
    cr_expect(code == DG_EXIT_CHECK && !f->report.pass, "%s %s passes: %d %s %s", v->dtype,
              v->options, (int)code, f->error.rule, f->error.value);
    cr_expect(failed != NULL && strcmp(failed->name, check) == 0
              && strstr(failed->detail, detail) != NULL, "%s %s beta %d: %s: %s", v->dtype,
              v->options, v->beta, failed == NULL ? "no check failed" : failed->name,
              failed == NULL ? "" : failed->detail);
}

static const struct variant right[] = {
    {"f32",  "packed",    0, 6, 16, 7,  "",              PLAIN},
    {"f32",  "col_major", 1, 5, 9,  33, "",              PLAIN},
    {"f64",  "packed",    1, 6, 16, 7,  "",              PLAIN},
    {"f64",  "row_major", 0, 5, 9,  33, "",              PLAIN},
    {"f64",  "col_major", 0, 1, 1,  1,  "",              PLAIN},
    {"f16",  "packed",    1, 6, 16, 7,  "",              PLAIN},
    {"f16",  "row_major", 0, 5, 9,  33, "",              PLAIN},
    {"f16",  "col_major", 0, 1, 1,  2,  "",              PLAIN},
    {"bf16", "packed",    1, 6, 16, 7,  "",              PLAIN},
    {"bf16", "packed",    1, 6, 16, 7,  "-DFLUSH",       PLAIN},
    {"bf16", "row_major", 0, 5, 9,  33, "-DFLUSH",       PLAIN},
    {"bf16", "col_major", 0, 1, 1,  1,  "",              PLAIN},
    {"u8s8", "packed",    1, 6, 16, 7,  "",              PLAIN},
    {"u8s8", "row_major", 0, 5, 9,  33, "",              PLAIN},
    {"u8s8", "col_major", 0, 1, 1,  1,  "",              PLAIN},
    {"s8s8", "packed",    1, 6, 16, 7,  "",              PLAIN},
    {"s8s8", "row_major", 0, 5, 9,  33, "",              PLAIN},
    {"s8s8", "col_major", 0, 1, 2,  300, "",             PLAIN},
    {"f32",  "row_major", 1, 3, 5,  0,  "",              PLAIN},
    {"bf16", "row_major", 1, 3, 5,  0,  "",              PLAIN},
    {"u8s8", "row_major", 0, 3, 5,  0,  "",              PLAIN},
#if defined(__x86_64__)
    {"bf16", "packed",    0, 6, 16, 7,  "-DINSTRUCTION -mavx512bf16 -mavx512vl",
     "avx512f,avx512vl,avx512_bf16"},
    {"bf16", "col_major", 1, 5, 9,  34, "-DINSTRUCTION -mavx512bf16 -mavx512vl",
     "avx512f,avx512vl,avx512_bf16"},
    {"u8s8", "packed",    0, 6, 16, 7,  "-DINSTRUCTION -mavx512vnni -mavx512vl",
     "avx512f,avx512vl,avx512_vnni"},
    {"u8s8", "row_major", 1, 5, 9,  34, "-DINSTRUCTION -mavx512vnni -mavx512vl",
     "avx512f,avx512vl,avx512_vnni"},
#endif
};

Test(verify_dtype, right_ones_pass)
{
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct fixture f;
        if (!runs_here(right[i].features))
            continue;
        cr_assert(open_variant(&f, "cc", &right[i]), "%s: %s", right[i].options, f.error.value);
        cr_assert(fixture_write(&f));
        expect_pass(&f, &right[i]);
        fixture_close(&f);
    }
}

struct fault {
    const char *dtypes;          /* apart by blanks */
    const char *name;            /* which BREAK_ */
    int beta;
    const char *check, *detail;  /* the check that must find it, and a part of what it says */
};

#define FLOATS "f32 f64 f16 bf16"
#define INTEGERS "u8s8 s8s8"
#define ALL FLOATS " " INTEGERS

static const struct fault faults[] = {
    {ALL, "last_k", 0, "random", "wrong"},
    {ALL, "last_row", 0, "random", "16 of 96"},
    {ALL, "column", 0, "random", "5 of 96"},
    {ALL, "swap_k", 0, "random", "wrong"},
    {ALL, "swap_rows", 0, "random", "32 of 96"},
    {ALL, "swap_columns", 0, "random", "12 of 96"},
    {ALL, "first", 0, "random", "1 of 96"},
    {ALL, "beta", 1, "random", "96 of 96"},
    {ALL, "k_over", 0, "random", "0 bytes behind the end of A"},
    {ALL, "over_c", 0, "random", "behind the end of C"},
    {ALL, "gap", 0, "random", "gap behind row 0 of C"},
    {ALL, "under_a", 0, "guard-before", "before A"},
    {ALL, "alignment", 0, "random", "SIGILL"},
    {ALL, "pack_over", 0, "pack", "packed B"},
    {ALL, "pack_less", 0, "pack", "different bytes"},
    {ALL, "pack_over_b", 0, "pack", "0 bytes behind the end of B"},
    {"f64", "single", 0, "random", "wrong"},
    {"f16", "half_sum", 0, "random", "wrong"},
    {"f16", "cut", 0, "random", "wrong"},
    {"f16", "twice", 1, "random", "wrong"},
    {"f16", "flush", 0, "nan-inf", "wrong"},
    {"f64", "flush", 0, "nan-inf", "wrong"},
    {"bf16", "truncate", 0, "random", "wrong"},
    {"f32 bf16", "toward_zero", 0, "rounding", "wrong"},
    {"u8s8", "saturate", 0, "random", "wrong"},
    {"s8s8", "saturate", 0, "extremes", "114685, wanted 114688"},
    {INTEGERS, "a_sign", 0, "random", "wrong"},
    {INTEGERS, "b_sign", 0, "random", "wrong"},
    {"s8s8", "negate", 0, "boundary", "wrong"},
};

static void expect_fault(const struct fault *fault, const char *dtype, size_t length)
{
    struct fixture f;
    char name[8] = "", option[48];
    memcpy(name, dtype, length);
    dg_format(option, sizeof option, "-DBREAK_%s", fault->name);
    struct variant v = {name, "packed", fault->beta, 6, 16, 7, option, PLAIN};
    cr_assert(open_variant(&f, "cc", &v), "%s: %s", fault->name, f.error.value);
    cr_assert(fixture_write(&f));
    expect_caught(&f, &v, fault->check, fault->detail);
    fixture_close(&f);
}

Test(verify_dtype, faults_are_caught)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (const char *at = faults[i].dtypes; *at != '\0';) {
            size_t length = strcspn(at, " ");
            expect_fault(&faults[i], at, length);
            at += length + (at[length] == ' ');
        }
}

Test(verify_dtype, the_elements)
{
    static const struct { const char *dtype; double value, rounded, half_step; } rows[] = {
        {"f32", 1 + 0x1p-24, 1, 0x1p-24}, {"f32", 1 + 0x1.8p-23, 1 + 0x1p-22, 0x1p-24},
        {"f32", 0x1p128, (double)INFINITY, 0x1p104}, {"f64", 0x1p-1074, 0x1p-1074, 0},
        {"f16", 1 + 0x1p-11, 1, 0x1p-11}, {"f16", 1 + 0x1.8p-10, 1 + 0x1p-9, 0x1p-11},
        {"f16", 65519.99, 65504, 16}, {"f16", 65520, (double)INFINITY, 16},
        {"f16", 0x1p-25, 0, 0x1p-25}, {"f16", 0x1.8p-24, 0x1p-23, 0x1p-25},
        {"f16", -0x1.ffcp-15, -0x1p-14, 0x1p-25}, {"f16", 0x1.ff8p-15, 0x1.ff8p-15, 0x1p-25},
        {"f16", -0x1.ffep15, -(double)INFINITY, 16}, {"f16", 2048 + 3, 2052, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct dg_kind *kind = dg_run_dtype_named(rows[i].dtype)->c;
        double got = dg_element_round(kind, rows[i].value);
        cr_expect(got == rows[i].rounded, "%s %a: %a, wanted %a", rows[i].dtype, rows[i].value, got,
                  rows[i].rounded);
        double step = dg_element_half_step(kind, rows[i].value);
        cr_expect(step == rows[i].half_step, "%s %a: half a step %a", rows[i].dtype, rows[i].value,
                  step);
    }
    /* every pattern of 16 bits goes through a double and back, but for what a NaN carries */
    static const char *const small[] = {"f16", "bf16"};
    for (size_t i = 0; i < 2; i++) {
        const struct dg_kind *kind = dg_run_dtype_named(small[i])->a;
        for (unsigned bits = 0; bits < 0x10000; bits++) {
            uint16_t before = (uint16_t)bits, after;
            double value = dg_element_get(kind, &before, 0);
            dg_element_put(kind, &after, 0, value);
            cr_assert(before == after || (value != value && ((before ^ after) & 0x8000) == 0),
                      "%s %#x: %#x", small[i], before, after);
        }
    }
    cr_expect(dg_run_dtype_named("f31") == NULL);
    cr_expect(dg_run_dtype_most_k(dg_run_dtype_named("u8s8")) == 65793);
    cr_expect(dg_run_dtype_most_k(dg_run_dtype_named("s8s8")) == 131071);
    cr_expect(dg_run_dtype_most_k(dg_run_dtype_named("bf16")) == UINT64_MAX);
}

Test(verify_dtype, sums_that_cannot_fit_are_refused)
{
    struct fixture f;
    struct variant v = {"u8s8", "packed", 0, 6, 16, 7, "", PLAIN};
    cr_assert(open_variant(&f, "cc", &v), "%s", f.error.value);
    f.manifest.problem.k = 65794;
    f.manifest.problem.lda = 65794;
    cr_assert(fixture_write(&f));
    cr_expect(fixture_verify(&f, "hand.json") == DG_EXIT_INPUT);
    cr_expect(strstr(f.error.where, "/problem/k") != NULL && strcmp(f.error.value, "65794") == 0,
              "%s: %s", f.error.where, f.error.value);
    fixture_close(&f);
}

Test(verify_dtype, emulated)
{
    if (!dg_run_finds("aarch64-linux-gnu-gcc")
        || !(dg_run_finds("qemu-aarch64-static") || dg_run_finds("qemu-aarch64")))
        cr_skip_test("no aarch64-linux-gnu-gcc or no qemu-aarch64");
    for (size_t i = 0; i < dg_run_dtype_count; i++)
        for (int broken = 0; broken < 2; broken++) {
            struct fixture f;
            struct variant v = {dg_run_dtypes[i].name, "packed", 1, 6, 16, 7,
                                broken ? "-DBREAK_swap_k" : "", "asimd"};
            cr_assert(open_variant(&f, "aarch64-linux-gnu-gcc", &v), "%s", f.error.value);
            f.manifest.architecture = "aarch64";
            f.options.emulate = true;
            f.options.timeout = 120;
            cr_assert(fixture_write(&f));
            if (broken)
                expect_caught(&f, &v, "random", "wrong");
            else
                expect_pass(&f, &v);
            fixture_close(&f);
        }
}
