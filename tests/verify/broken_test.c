/* SPDX-License-Identifier: Apache-2.0
 *
 * A right kernel passes, and each planted fault is caught by the check that is there for it. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/run.h"
#include "tests/verify/fixture.h"
#include "verify/host.h"
#include "verify/tools.h"

struct fault {
    const char *name, *check;    /* which BREAK_, and the check that must find it */
    const char *detail;          /* a part of what it says */
};

static const struct fault avx2_faults[] = {
    {"skip_row", "random", "wrong"},
    {"nan_one", "random", "1 of them not finite"},
    {"nan_all", "random", "96 of them not finite"},
    {"read_c", "random", "not finite"},
    {"precision", "random", "wanted"},
    {"tail", "random", "6 of 96"},
    {"flush", "nan-inf", "wrong"},
    {"over_a", "random", "behind the end of A"},
    {"over_b", "random", "behind the end of packed B"},
    {"over_c", "random", "behind the end of C"},
    {"under_a", "guard-before", "before A"},
    {"under_c", "random", "from the start of C"},
    {"write_a", "random", "a write into A"},
    {"gap", "random", "gap"},
    {"alignment", "random", "SIGSEGV"},
    {"shared", "object", "writable data"},
    {"below", "signals", ""},
    {"far_below", "random", "before the stack"},
    {"far_behind", "random", "behind the end of C"},
    {"system_call", "random", "SIGSYS, a system call (number 39)"},
    {"pack_system_call", "pack", "SIGSYS, a system call (number 20)"},
    {"crash", "random", "SIGSEGV"},
    {"illegal", "random", "SIGILL"},
    {"rbx", "call", "rbx"},
    {"rbp", "call", "rbp"},
    {"r12", "call", "r12"},
    {"mxcsr", "call", "MXCSR"},
    {"x87", "call", "x87 control"},
    {"mmx", "call", "MMX"},
    {"direction", "call", "direction"},
    {"upper", "call", "vzeroupper"},
    {"above", "call", "above its stack frame"},
    {"deep", "call", "bytes of stack"},
    {"stack_alignment", "random", "SIGSEGV"},
    {"stack_pointer", "call", "stack pointer"},
    {"clear_by_multiply", "random", "not finite"},
    {"code", "ex", "returned 1"},
    {"accepts_misaligned", "ex", "not aligned"},
    {"packed_size", "pack", "512"},
    {"pack_over", "pack", "behind the end of packed B"},
    {"pack_over_b", "pack", "behind the end of B"},
};

static void expect_fault(const char *as, const char *source, const struct fault *fault,
                         void (*adapt)(struct fixture *))
{
    struct fixture f;
    cr_assert(fixture_open(&f, as, source, fault->name), "%s: %s", fault->name, f.error.value);
    if (adapt != NULL)
        adapt(&f);
    cr_assert(fixture_write(&f));
    enum dg_exit code = fixture_verify(&f, "hand.json");
    const struct dg_check *failed = fixture_failed(&f);
    cr_expect(code == DG_EXIT_CHECK, "%s: exit code %d, %s %s", fault->name, (int)code,
              f.error.rule, f.error.value);
    cr_expect(!f.report.pass, "%s passes", fault->name);
    cr_expect(failed != NULL && strcmp(failed->name, fault->check) == 0
              && strstr(failed->detail, fault->detail) != NULL, "%s: %s: %s", fault->name,
              failed == NULL ? "no check failed" : failed->name,
              failed == NULL ? "" : failed->detail);
    fixture_close(&f);
}

static void skip_without(const char *features)
{
    struct dg_manifest needs = {.name = "hand", .architecture = "x86_64", .features = features};
    struct dg_error e;
    if (dg_host_fit(&needs, &e) != DG_HOST_FITS)
        cr_skip_test("this machine cannot run %s", features);
}

Test(verify_broken, avx2_right_one_passes)
{
    skip_without("avx2,fma");
    struct fixture f;
    cr_assert(fixture_open(&f, "as", "avx2.s", NULL), "%s", f.error.value);
    cr_assert(fixture_write(&f));
    const char *const paths[] = {"", "hand.json", "hand.o"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        enum dg_exit code = fixture_verify(&f, paths[i]);
        const struct dg_check *failed = fixture_failed(&f);
        cr_expect(code == DG_EXIT_OK && f.report.pass, "%s: %d %s %s", paths[i], (int)code,
                  failed == NULL ? f.error.rule : failed->name,
                  failed == NULL ? f.error.value : failed->detail);
        cr_expect(f.report.count == 1 && f.report.kernels[0].numbers.checked == 5 * 6 * 16);
        cr_expect(f.report.kernels[0].numbers.max_error <= f.report.kernels[0].numbers.bound);
        cr_expect(f.report.kernels[0].numbers.bound > 0);
    }
    fixture_close(&f);
}

Test(verify_broken, avx2_faults_are_caught, .timeout = 250)
{
    skip_without("avx2,fma");
    for (size_t i = 0; i < sizeof avx2_faults / sizeof *avx2_faults; i++)
        expect_fault("as", "avx2.s", &avx2_faults[i], NULL);
}

static void short_limit(struct fixture *f)
{
    f->options.timeout = 0.5;
}

Test(verify_broken, a_kernel_that_hangs_is_ended)
{
    static const struct fault hang = {"hang", "random", "time limit"};
    skip_without("avx2,fma");
    expect_fault("as", "avx2.s", &hang, short_limit);
}

/* ---- AArch64, emulated ---- */

static const struct fault neon_faults[] = {
    {"tail", "random", "24 of 96"},
    {"over_a", "random", "behind the end of A"},
    {"far_below", "random", "before the stack"},
    {"system_call", "object", "svc"},
    {"crash", "random", "SIGSEGV"},
    {"illegal", "random", "SIGILL"},
    {"x19", "call", "x19"},
    {"x18", "call", "x18"},
    {"d8", "call", "d8"},
    {"fpcr", "nan-inf", ""},
    {"below", "signals", ""},
};

static void be_neon(struct fixture *f)
{
    f->manifest.isa = "aarch64-neon";
    f->manifest.architecture = "aarch64";
    f->manifest.features = "asimd";
    f->manifest.roofs.peak_op = "fma.f32.128";
    f->options.emulate = true;
    f->options.timeout = 120;
}

static void skip_without_cross_tools(void)
{
    if (!dg_run_finds("aarch64-linux-gnu-gcc") || !dg_run_finds("aarch64-linux-gnu-as")
        || !(dg_run_finds("qemu-aarch64-static") || dg_run_finds("qemu-aarch64")))
        cr_skip_test("no aarch64-linux-gnu-gcc or no qemu-aarch64");
}

Test(verify_broken, neon_faults_are_caught_under_qemu, .timeout = 280)
{
    struct fixture f;
    skip_without_cross_tools();
    cr_assert(fixture_open(&f, "aarch64-linux-gnu-as", "neon.s", NULL));
    be_neon(&f);
    cr_assert(fixture_write(&f));
    enum dg_exit code = fixture_verify(&f, "hand.json");
    const struct dg_check *failed = fixture_failed(&f);
    cr_expect(code == DG_EXIT_OK && f.report.pass, "%d %s %s", (int)code,
              failed == NULL ? f.error.rule : failed->name,
              failed == NULL ? f.error.value : failed->detail);
    /* an emulator that does nothing says nothing about the kernel */
    static const char *const emulators[] = { "false", "true", "echo hello" };
    for (size_t i = 0; i < sizeof emulators / sizeof *emulators; i++) {
        f.options.qemu = emulators[i];
        cr_expect(fixture_verify(&f, "hand.json") == DG_EXIT_UNAVAILABLE && f.error.todo[0] != 0,
                  "%s: %s", emulators[i], f.error.rule);
    }
    fixture_close(&f);
    for (size_t i = 0; i < sizeof neon_faults / sizeof *neon_faults; i++)
        expect_fault("aarch64-linux-gnu-as", "neon.s", &neon_faults[i], be_neon);
}
