/* SPDX-License-Identifier: Apache-2.0
 *
 * What is not a kernel that can be verified here is refused with the right exit code. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/verify/fixture.h"

static void expect_refused(struct fixture *f, const char *name, enum dg_exit code, const char *part)
{
    enum dg_exit got = fixture_verify(f, name);
    cr_expect(got == code, "%s: exit code %d, wanted %d: %s: %s", part, (int)got, (int)code,
              f->error.rule, f->error.value);
    cr_expect(strstr(f->error.rule, part) != NULL || strstr(f->error.todo, part) != NULL
              || strstr(f->error.value, part) != NULL, "%s | %s | %s lacks %s", f->error.rule,
              f->error.value, f->error.todo, part);
    cr_expect(f->error.todo[0] != '\0', "%s: %s: what to do?", part, f->error.rule);
    cr_expect(!f->report.pass);
}

Test(verify_input, refused)
{
    struct fixture f;
    char path[300];
    cr_assert(fixture_open(&f, "as", "avx2.s", NULL), "%s", f.error.value);
    expect_refused(&f, "", DG_EXIT_INPUT, "no kernel");
    expect_refused(&f, "hand.json", DG_EXIT_INPUT, "cannot be read");
    expect_refused(&f, "hand.o", DG_EXIT_INPUT, "manifest");
    cr_assert(fixture_write(&f));
    expect_refused(&f, "nothing-here", DG_EXIT_INPUT, "cannot be read");
    fixture_path(&f, "hand.s", path, sizeof path);
    cr_assert(dg_file_write(path, "", 0, &f.error));
    expect_refused(&f, "hand.s", DG_EXIT_INPUT, "give hand.json or hand.o");
    unlink(path);

    f.manifest.architecture = "riscv64";
    cr_assert(fixture_write(&f));
    expect_refused(&f, "hand.json", DG_EXIT_UNAVAILABLE, "--qemu");
    f.manifest.architecture = "x86_64";
    f.manifest.features = "avx2,made_up_feature";
    cr_assert(fixture_write(&f));
#if defined(__x86_64__)
    expect_refused(&f, "hand.json", DG_EXIT_UNAVAILABLE, "made_up_feature");
#endif
    f.manifest.features = "avx2,fma";
    f.manifest.problem.dtype = "f31";
    cr_assert(fixture_write(&f));
    expect_refused(&f, "hand.json", DG_EXIT_INPUT, "f32, f64, f16, bf16, u8s8, s8s8");
    f.manifest.problem.dtype = "f32";
    const struct dg_manifest good = f.manifest;
    for (int i = 0; i < 10; i++) {
        static const char *const rules[] = { "at least 1", "at least 1", "least k", "row of B",
                                             "least n", "0 or 1", "power of two", "power of two",
                                             "size of an element", "size of an element" };
        f.manifest = good;
        switch (i) {
        case 0: f.manifest.problem.m = 0; break;
        case 1: f.manifest.problem.n = 0; break;
        case 2: f.manifest.problem.lda = 6; break;
        case 3: f.manifest.problem.layout_b = "row_major", f.manifest.problem.ldb = 15; break;
        case 4: f.manifest.problem.ldc = 15; break;
        case 5: f.manifest.problem.beta = 7; break;
        case 6: f.manifest.problem.packed_b_alignment = 48; break;
        case 7: f.manifest.problem.packed_b_alignment = 1 << 20; break;
        case 8: f.manifest.problem.a_bytes = 2; break;
        default: f.manifest.problem.c_bytes = 8;
        }
        cr_assert(fixture_write(&f));
        expect_refused(&f, "hand.json", DG_EXIT_INPUT, rules[i]);
    }
    f.manifest = good;

    char found[sizeof f.object_hash];
    memcpy(found, f.object_hash, sizeof found);
    f.object_hash[0] = f.object_hash[0] == '0' ? '1' : '0';
    cr_assert(fixture_write(&f));
    expect_refused(&f, "hand.json", DG_EXIT_INPUT, f.object_hash);      /* wanted */
    expect_refused(&f, "hand.json", DG_EXIT_INPUT, found);
    fixture_path(&f, "hand.o", path, sizeof path);
    unlink(path);
    cr_expect(fixture_verify(&f, "hand.json") == DG_EXIT_INPUT, "a missing object");

    fixture_path(&f, "hand.json", path, sizeof path);
    cr_assert(dg_file_write(path, "{\"schema\": \"deepgemm-manifest/1\"", 33, &f.error));
    cr_expect(fixture_verify(&f, "hand.json") == DG_EXIT_INPUT, "a cut manifest");
    cr_expect(fixture_verify(&f, "") == DG_EXIT_INPUT, "a folder with a cut manifest");
    fixture_close(&f);
}

Test(verify_input, tools_and_empty_manifests)
{
    struct fixture f;
    char path[300];
    cr_assert(fixture_open(&f, "as", "avx2.s", NULL), "%s", f.error.value);
    cr_assert(fixture_write(&f));
#if defined(__x86_64__)
    f.options.cc = "true";
    expect_refused(&f, "hand.json", DG_EXIT_UNAVAILABLE, "shared object");
    f.options.cc = "false";
    expect_refused(&f, "hand.json", DG_EXIT_UNAVAILABLE, "exit status 1 and it printed nothing");
    f.options.cc = "no-such-compiler";
    expect_refused(&f, "hand.json", DG_EXIT_UNAVAILABLE, "cannot be started");
    f.options.cc = NULL;
#endif
    fixture_path(&f, "hand.json", path, sizeof path);
    cr_assert(dg_file_write(path, "", 0, &f.error));
    cr_expect(fixture_verify(&f, "") == DG_EXIT_INPUT, "a folder with an empty manifest");
    cr_expect_eq(f.report.count, 1u);
    fixture_close(&f);
}
