/* SPDX-License-Identifier: Apache-2.0
 *
 * The public API as a user has it: the installed headers and the shared library, nothing else. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deepgemm/deepgemm.h"
#include "tests/base/comma.h"

static struct dg_error e;

static long size_of_file(const char *folder, const char *name, char *out, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return -1;
    size_t got = fread(out, 1, size, file);
    fclose(file);
    return (long)got;
}

static void remove_folder(const char *folder, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Profile and settings to five files, twice: the same bytes, in a locale with a comma as well. */
static void plan_and_emit(void)
{
    static const char *const settings[] = { "m=96", "n=80", "k=64", "dtype=f32",
                                            "isa=x86_64-avx2", NULL };
    static const char *const names[] = {
        "gemm_f32_96x80x64.s", "gemm_f32_96x80x64.h", "gemm_f32_96x80x64.o",
        "gemm_f32_96x80x64.json", "libgemm_f32_96x80x64.a" };
    static char text[2][1 << 20];
    char folder[] = "/tmp/dg-api-XXXXXX";
    cr_assert(mkdtemp(folder) != NULL);
    struct dg_hardware *chip = dg_profile_read(ROOT "/tests/profiles/test-avx2.json", &e);
    cr_assert(chip != NULL, "%s: %s: %s", e.where, e.rule, e.value);
    struct dg_product *product = dg_problem_read(NULL, settings, &e);
    cr_assert(product != NULL, "%s: %s: %s", e.where, e.rule, e.value);
    cr_expect(strcmp(dg_problem_name(product), "gemm_f32_96x80x64") == 0);
    struct dg_planned *plan = dg_plan(product, chip, false, &e);
    cr_assert(plan != NULL, "%s: %s: %s", e.where, e.rule, e.value);
    struct dg_plan_facts facts = { .size = sizeof facts };
    dg_plan_describe(plan, &facts);
    cr_expect(strcmp(facts.isa, "x86_64-avx2") == 0 && facts.mr > 0 && facts.nr % 8 == 0);
    cr_expect(facts.predicted_cycles >= 2.0 * 96 * 80 * 64 / facts.peak);
    cr_expect(facts.runner_up_cycles >= facts.predicted_cycles * 0.99);
    cr_expect(dg_plan_assumed(plan, facts.assumed, NULL) == NULL);
    cr_expect(facts.assumed == 0 || dg_plan_assumed(plan, facts.assumed - 1, NULL) != NULL);
    for (unsigned round = 0; round < 2; round++) {
        (void)(round == 1 && use_comma_locale());
        cr_assert(dg_emit(plan, folder, NULL, NULL, &e), "%s: %s: %s", e.where, e.rule, e.value);
        for (size_t i = 0; i < 5; i++)
            cr_expect(size_of_file(folder, names[i], text[1], sizeof text[1]) > 100, "%s",
                      names[i]);
        long length = size_of_file(folder, names[0], text[round], sizeof text[0]);
        cr_expect(round == 0 || strncmp(text[0], text[1], (size_t)length) == 0);
    }
    cr_expect(!dg_emit(plan, "/dev/null/folder", NULL, NULL, &e));
    cr_expect(e.exit_code == DG_EXIT_UNAVAILABLE);
    dg_plan_free(plan);
    dg_problem_free(product);
    dg_profile_free(chip);
    remove_folder(folder, names, 5);
}

Test(api, plans_and_emits)
{
    plan_and_emit();
}

Test(api, reads_and_writes_profiles)
{
    char path[] = "/tmp/dg-api-XXXXXX";
    double value = 0;
    size_t warnings = 99;
    close(mkstemp(path));
    struct dg_hardware *chip = dg_profile_read(ROOT "/examples/cortex-a76-prod.json", &e);
    cr_assert(chip != NULL, "%s: %s: %s", e.where, e.rule, e.value);
    cr_expect(strcmp(dg_profile_name(chip), "cortex-a76-prod") == 0);
    cr_expect(dg_profile_value(chip, "l1_size", &value) && value == 65536);
    cr_expect(dg_profile_value(chip, "memory_bandwidth_gbps", &value) && value == 17.6);
    cr_expect(!dg_profile_value(chip, "l3_size", &value) && !dg_profile_value(chip, "x", &value));
    cr_assert(dg_profile_write(chip, path, &e), "%s: %s: %s", e.where, e.rule, e.value);
    cr_expect(dg_profile_validate(path, &warnings, &e), "%s: %s: %s", e.where, e.rule, e.value);
    cr_expect(warnings != 99 && dg_profile_warning(chip, 1000) == NULL);
    dg_profile_free(chip);
    cr_expect(!dg_profile_validate("/dev/null", NULL, &e) && e.exit_code == DG_EXIT_INPUT);
    unlink(path);
}

Test(api, refuses)
{
    static const struct { const char *settings[6]; enum dg_exit code; } rows[] = {
        { { "m=0", "n=8", "k=8", "dtype=f32" }, DG_EXIT_USAGE },
        { { "m=8", "n=8", "k=8" }, DG_EXIT_USAGE },
        { { "m=8", "n=8", "k=8", "dtype=f31" }, DG_EXIT_USAGE },
        { { "m=8", "n=8", "k=8", "dtype=f32", "mm=1" }, DG_EXIT_USAGE },
        { { "m=08", "n=8", "k=8", "dtype=f32" }, DG_EXIT_USAGE },
        { { "m", "n=8", "k=8", "dtype=f32" }, DG_EXIT_USAGE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memset(&e, 0, sizeof e);
        cr_expect(dg_problem_read(NULL, rows[i].settings, &e) == NULL, "row %zu", i);
        cr_expect(e.exit_code == rows[i].code && e.rule[0] != '\0', "row %zu: %d", i, e.exit_code);
    }
    cr_expect(dg_problem_read("/nonexistent.yaml", NULL, &e) == NULL);
    cr_expect(e.exit_code == DG_EXIT_INPUT);
    cr_expect(dg_profile_read("/nonexistent.json", &e) == NULL && e.exit_code == DG_EXIT_INPUT);
    cr_expect(dg_plan(NULL, NULL, false, &e) == NULL && !dg_emit(NULL, ".", NULL, NULL, &e));
    dg_plan_free(NULL);
    dg_problem_free(NULL);
    dg_profile_free(NULL);
    cr_expect(dg_version()[0] != '\0');
}
