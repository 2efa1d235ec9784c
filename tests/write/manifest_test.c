/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME.json: what is written is read back equal; whatever is wrong in it is named. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "emit/write/json.h"
#include "emit/write/manifest.h"

static struct dg_arena arena;

static void set_up(void)
{
    dg_arena_init(&arena);
}

static void tear_down(void)
{
    dg_arena_free(&arena);
}

static const struct dg_manifest_term terms[] = { { "compute", "multiply-adds", 1024.5 },
                                                 { "call", "call", 17 } };
static const struct dg_manifest_key keys[] = {
    { "isa", "[\"avx2\",\"fma\"]", false, 0 },
    { "l1_size", "32768", false, 32768 },
    { "l2_size", "null", true, 262144 },
    { "memory_bandwidth_gbps", "17.6", false, 17.6 },
    { "name", "\"a \\\"quoted\\\" name\"", false, 0 },
};
static const struct dg_manifest_file files[] = { { "k.s", "00" }, { "k.h", "ff" } };

static struct dg_manifest example(void)
{
    struct dg_manifest m = {
        .tool_version = "0.1.0", .name = "k", .isa = "x86_64-avx2", .architecture = "x86_64",
        .features = "avx2,fma",
        .problem = { .m = 1, .n = 2, .k = UINT64_MAX, .dtype = "f32", .layout_a = "row_major",
                     .layout_b = "packed", .layout_c = "row_major", .lda = 9007199254740993u,
                     .ldb = 5, .ldc = 6, .beta = 1, .packed_b_size = 640,
                     .packed_b_alignment = 64, .a_bytes = 4, .b_bytes = 4, .c_bytes = 4 },
        .plan = { .mr = 6, .nr = 16, .vectors = 2, .kc = 256, .mc = 72, .nc = 480,
                  .inner = "panels_outer", .prefetch = true, .along = true,
                  .unroll = 4, .binding = "fp" },
        .predicted = { .cycles = 1041.5, .bound = 1024.25, .terms = terms, .term_count = 2 },
        .traffic = { .l2_bytes = 1, .l3_bytes = 2, .dram_bytes = 3, .operations = 4 },
        .roofs = { .peak = 16, .peak_op = "fma.f32.256", .lanes = 8, .l1 = 32, .l2 = 21.5,
                   .clock_hz = 2.9e9 },
        .profile = { .name = "chip", .chip = "amd 25 17", .hash = "abc", .keys = keys,
                     .key_count = 5 },
        .stamps = { .loop = "tiles", .count = 34, .clock = "rdtsc" },
        .files = files, .file_count = 2,
    };
    return m;
}

Test(manifest, round_trip, .init = set_up, .fini = tear_down)
{
    struct dg_manifest in = example(), out;
    struct dg_error e = { 0 };
    const char *text = dg_manifest_text(&in, &arena);
    cr_assert(dg_manifest_parse(text, strlen(text), "k.json", &arena, &out, &e), "%s: %s: %s",
              e.where, e.rule, e.value);
    cr_expect_str_eq(dg_manifest_text(&out, &arena), text);
    cr_expect(out.problem.k == UINT64_MAX && out.problem.lda == 9007199254740993u);
    cr_expect(out.roofs.l3 == 0 && out.roofs.l2 == 21.5 && out.plan.prefetch &&
              out.plan.along);
    cr_expect(out.profile.keys[2].assumed && out.profile.keys[2].used == 262144);
    cr_expect_str_eq(out.profile.keys[0].value, "[\"avx2\",\"fma\"]");
    cr_expect_not_null(strstr(text, "\"assumed\": [\"l2_size\"]"));
    cr_expect_not_null(strstr(text, "\"dram\": null"));
}

static bool parse(const char *text, struct dg_error *e)
{
    struct dg_manifest out;
    *e = (struct dg_error){ 0 };
    return dg_manifest_parse(text, strlen(text), "k.json", &arena, &out, e);
}

/* The text with the first `from` in it replaced. */
static const char *changed(const char *text, const char *from, const char *to)
{
    struct dg_str out;
    const char *at = strstr(text, from);
    cr_assert_not_null(at, "%s", from);
    dg_str_init(&out, &arena);
    dg_str_addn(&out, text, (size_t)(at - text));
    dg_str_add(&out, to);
    dg_str_add(&out, at + strlen(from));
    return dg_str_text(&out);
}

Test(manifest, faults_are_named, .init = set_up, .fini = tear_down)
{
    static const struct { const char *from, *to, *where; } cases[] = {
        { "deepgemm-manifest/1", "deepgemm-manifest/2", "/schema" },
        { "\"name\": \"k\",", "", "/name" },
        { "\"mr\": 6", "\"mr\": 6.5", "/plan/mr" },
        { "\"mr\": 6", "\"mr\": -6", "/plan/mr" },
        { "\"mr\": 6", "\"mr\": \"6\"", "/plan/mr" },
        { "\"mr\": 6", "\"mr\": 6, \"mr\": 6", "k.json:" },
        { "\"mr\": 6", "\"mr\": 6, \"mR\": 6", "/plan/mR" },
        { "\"mr\": 6", "\"mr\": 4294967302", "/plan/mr" },
        { "\"m\": 1", "\"m\": 18446744073709551616", "/problem/m" },
        { "\"prefetch\": true", "\"prefetch\": 1", "/plan/prefetch" },
        { "\"tail_along_k\": true", "\"tail_along_k\": 1", "/plan/tail_along_k" },
        { "\"cycles\": 1041.5", "\"cycles\": null", "/predicted/cycles" },
        { "\"terms\": [", "\"terms\": [7,", "/predicted/terms/0/id" },
        { "\"k.s\"", "\"../k.s\"", "/files/0/name" },
        { "\"k.s\"", "\"\"", "/files/0/name" },
        { "\"isa\": \"x86_64-avx2\"", "\"isa\": \"x\\q\"", "k.json:" },
        { "{", "[", "k.json:" },
        { "\"files\"", "files", "k.json:" },
        { "\"peak\": 16", "\"peak\": 016", "k.json:" },
        { "\"peak\": 16", "\"peak\": nan", "k.json:" },
    };
    struct dg_manifest in = example();
    const char *text = dg_manifest_text(&in, &arena);
    struct dg_error e;
    cr_expect(parse(changed(text, "{", "\xef\xbb\xbf{"), &e), "the mark of UTF-8: %s", e.rule);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_not(parse(changed(text, cases[i].from, cases[i].to), &e), "%s", cases[i].to);
        cr_expect_not_null(strstr(e.where, cases[i].where), "%s gives %s: %s", cases[i].to,
                           e.where, e.rule);
        cr_expect_eq(e.exit_code, DG_EXIT_INPUT);
    }
}

Test(manifest, cut_and_mangled_texts_never_crash, .init = set_up, .fini = tear_down)
{
    struct dg_manifest in = example(), out;
    const char *text = dg_manifest_text(&in, &arena);
    size_t size = strlen(text);
    struct dg_error e;
    for (size_t cut = 0; cut + 2 < size; cut += 3) {
        char *part = malloc(cut + 1);              /* its end is the heap's, for sanitizers */
        memcpy(part, text, cut);
        cr_expect_not(dg_manifest_parse(part, cut, "k.json", &arena, &out, &e), "%zu", cut);
        free(part);
    }
    static const char noise[] = "\"\\{}[],:0-\x01\xff";
    for (size_t at = 0; at < size; at += 5) {
        char *copy = dg_strdup(&arena, text);
        copy[at] = noise[at % (sizeof noise - 1)];
        dg_manifest_parse(copy, size, "k.json", &arena, &out, &e);
    }
    char deep[64];
    memset(deep, '[', sizeof deep);
    cr_expect_not(dg_manifest_parse(deep, sizeof deep, "k.json", &arena, &out, &e));
}
