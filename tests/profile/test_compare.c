/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles with known differences: verdicts, and what many machines become. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "profile/compare.h"
#include "profile/merge.h"
#include "profile/reader.h"
#include "profile/writer.h"

static void read_profile(const char *text, struct dg_arena *arena, struct dg_profile *out)
{
    struct dg_error e;
    cr_assert(dg_profile_read_text(text, strlen(text), "f.json", arena, out, &e), "%s %s", e.where,
              e.rule);
}

static const char first[] = "{\"name\":\"one\",\"architecture\":\"x86_64\",\"l1_size\":49152,"
    "\"l1_latency\":4,\"l2_latency\":14,\"dram_latency\":100,\"clock_hz\":3.5e9,"
    "\"isa\":[\"avx2\",\"fma\"],\"core_kind\":\"big\",\"bw.l1.read.1\":64,\"bw.dram.read.1\":20,"
    "\"op.fma.f32.256.per_cycle\":2,\"op.fma.f32.256.chains\":8,"
    "\"environment\":{\"vendor\":\"amd\",\"family\":23,\"model\":1},"
    "\"measurements\":{"
    "\"dram_latency\":{\"status\":\"measured\",\"value\":100,\"low\":95,\"high\":130},"
    "\"l2_size\":{\"status\":\"unreliable\",\"reason\":\"no step\",\"help\":\"again\"}}}";
static const char second[] = "{\"name\":\"two\",\"architecture\":\"x86_64\",\"l1_size\":32768,"
    "\"l1_latency\":4.02,\"l2_latency\":15,\"dram_latency\":135,\"clock_hz\":3.6e9,"
    "\"isa\":[\"avx2\",\"fma\"],\"core_kind\":\"big\",\"bw.l1.read.1\":60,\"bw.dram.read.1\":22,"
    "\"op.fma.f32.256.per_cycle\":2.2,\"op.fma.f32.256.chains\":9,\"l2_size\":1048576,"
    "\"environment\":{\"vendor\":\"amd\",\"family\":23,\"model\":1}}";

static const struct dg_difference *row_of(const struct dg_comparison *c, const char *key)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->row[i].key, key) == 0)
            return &c->row[i];
    return NULL;
}

Test(profile_compare, verdicts)
{
    static const struct { const char *key; enum dg_verdict verdict; } expected[] = {
        { "l1_size", DG_DIFFERS }, { "l1_latency", DG_WITHIN_NOISE }, { "l2_latency", DG_WORSE },
        { "dram_latency", DG_WITHIN_NOISE }, { "clock_hz", DG_IMPROVED },
        { "isa", DG_WITHIN_NOISE }, { "bw.l1.read.1", DG_WORSE },
        { "bw.dram.read.1", DG_WITHIN_NOISE }, { "op.fma.f32.256.per_cycle", DG_IMPROVED },
        { "op.fma.f32.256.chains", DG_CHANGED }, { "l2_size", DG_INCOMPARABLE },
    };
    struct dg_arena arena;
    struct dg_profile a, b;
    struct dg_comparison c;
    struct dg_str out;
    dg_arena_init(&arena);
    read_profile(first, &arena, &a);
    read_profile(second, &arena, &b);
    cr_expect_null(dg_profile_other_chip(&a, &b, &arena));
    cr_assert(dg_profile_compare(&a, &b, -1, &arena, &c));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct dg_difference *d = row_of(&c, expected[i].key);
        cr_assert_not_null(d, "%s", expected[i].key);
        cr_expect_eq(d->verdict, expected[i].verdict, "%s: %s", d->key,
                     dg_verdict_names[d->verdict]);
    }
    cr_expect_null(row_of(&c, "name"));
    cr_expect_float_eq(row_of(&c, "l2_latency")->change, 1.0 / 14, 1e-9);
    cr_expect_str_eq(row_of(&c, "l2_size")->why, "no step");
    dg_str_init(&out, &arena);
    dg_compare_print(&c, false, &out);
    cr_expect_not_null(strstr(dg_str_text(&out), "49152 -> 32768"), "%s", dg_str_text(&out));
    cr_expect_null(strstr(dg_str_text(&out), "l1_latency"));
    cr_expect_not_null(strstr(dg_str_text(&out), "2 improved, 2 worse, 1 changed, 1 differs"), "%s",
                       dg_str_text(&out));
    /* a fifth for everything */
    cr_assert(dg_profile_compare(&a, &b, 0.2, &arena, &c));
    cr_expect_eq(c.of[DG_WORSE] + c.of[DG_IMPROVED], 0u);
    cr_assert(dg_profile_compare(&a, &a, -1, &arena, &c));
    cr_expect_eq(c.of[DG_WITHIN_NOISE], c.count);
    dg_arena_free(&arena);
}

Test(profile_compare, chips)
{
    static const struct { const char *text, *other; } rows[] = {
        { "{\"name\":\"x\",\"architecture\":\"aarch64\"}", "architecture: x86_64 and aarch64" },
        { "{\"name\":\"x\",\"architecture\":\"x86_64\",\"environment\":{\"model\":2}}",
          "model: 1 and 2" },
        { "{\"name\":\"x\",\"architecture\":\"x86_64\",\"core_kind\":\"little\"}",
          "core_kind: big and little" },
        { "{\"name\":\"x\",\"architecture\":\"x86_64\"}", NULL },
    };
    struct dg_arena arena;
    struct dg_profile a, b;
    dg_arena_init(&arena);
    read_profile(first, &arena, &a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        read_profile(rows[i].text, &arena, &b);
        const char *other = dg_profile_other_chip(&a, &b, &arena);
        cr_expect(rows[i].other == NULL ? other == NULL :
                  other != NULL && strcmp(other, rows[i].other) == 0, "row %zu: %s", i, other);
    }
    dg_arena_free(&arena);
}

/* Five machines; the fourth is slow and has a smaller L2, the fifth knows less. */
static const char *const fleet[] = {
    "{\"name\":\"m\",\"architecture\":\"x86_64\",\"isa\":[\"avx2\",\"fma\"],\"l1_latency\":4,"
    "\"bw.dram.read.1\":20,\"l2_size\":1048576,\"environment\":{\"vendor\":\"amd\",\"load\":1}}",
    "{\"name\":\"m\",\"architecture\":\"x86_64\",\"isa\":[\"avx2\",\"fma\"],\"l1_latency\":4.01,"
    "\"bw.dram.read.1\":21,\"l2_size\":1048576,\"environment\":{\"vendor\":\"amd\",\"load\":2}}",
    "{\"name\":\"m\",\"architecture\":\"x86_64\",\"isa\":[\"fma\",\"avx2\",\"avx512f\"],"
    "\"l1_latency\":4,\"bw.dram.read.1\":22,\"l2_size\":1048576,"
    "\"environment\":{\"vendor\":\"amd\"}}",
    "{\"name\":\"m\",\"architecture\":\"x86_64\",\"isa\":[\"avx2\",\"fma\"],\"l1_latency\":4,"
    "\"bw.dram.read.1\":9,\"l2_size\":524288,\"environment\":{\"vendor\":\"amd\"}}",
    "{\"name\":\"m\",\"architecture\":\"x86_64\",\"isa\":[\"avx2\",\"fma\"],\"l1_latency\":4,"
    "\"bw.dram.read.1\":null,\"measurements\":{\"bw.dram.read.1\":{\"status\":\"unreliable\","
    "\"reason\":\"noisy\",\"help\":\"again\"}},\"environment\":{\"vendor\":\"amd\"}}",
};
enum { FLEET = sizeof fleet / sizeof *fleet };

static void read_fleet(struct dg_merge_file files[FLEET], struct dg_arena *arena)
{
    static const char *const labels[FLEET] = { "a", "b", "c", "d", "e" };
    for (size_t i = 0; i < FLEET; i++) {
        files[i].path = files[i].label = labels[i];
        read_profile(fleet[i], arena, &files[i].profile);
    }
}

Test(profile_merge, fleet)
{
    struct dg_merge_file files[FLEET];
    struct dg_arena arena;
    struct dg_profile p, again;
    struct dg_error e = { 0 };
    struct dg_str text;
    dg_arena_init(&arena);
    read_fleet(files, &arena);
    cr_assert(dg_profile_merge(files, FLEET, "fleet", &arena, &p, &e), "%s %s", e.where, e.rule);
    cr_expect_str_eq(dg_profile_text(&p, "name"), "fleet");
    cr_expect_eq(dg_profile_number(&p, "l2_size", 0), 1048576);
    cr_expect_eq(dg_profile_number(&p, "l1_latency", 0), 4);
    const struct dg_answer *a = dg_profile_evidence(&p, "bw.dram.read.1");
    cr_expect(a->value.number == 20.5 && a->low == 20 && a->high == 22, "%g %g..%g",
              a->value.number, a->low, a->high);
    const struct dg_value *isa = dg_profile_find(&p, "isa");
    cr_expect(isa != NULL && isa->list_count == 2);
    cr_expect_eq(dg_profile_fact(&p, "machines")->number, FLEET);
    cr_expect_not_null(dg_profile_fact(&p, "vendor"));
    cr_expect_null(dg_profile_fact(&p, "load"));
    const struct dg_value *outliers = dg_profile_fact(&p, "outliers");
    static const char *const expected[] = {
        "bw.dram.read.1 d 9, median 20.5",
        ("isa c [\"fma\", \"avx2\", \"avx512f\"], most [\"avx2\", \"fma\"]"),
        "l2_size d 524288, most 1048576",
    };
    cr_assert_eq(outliers->list_count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < outliers->list_count; i++)
        cr_expect_str_eq(outliers->list[i], expected[i]);
    dg_str_init(&text, &arena);
    dg_profile_render(&p, &text);
    cr_expect(dg_profile_read_text(dg_str_text(&text), text.length, "m", &arena, &again, &e),
              "%s %s %s", e.where, e.rule, e.value);

    /* no two thirds for any size: unreliable */
    cr_assert(dg_profile_merge(files + 2, 2, NULL, &arena, &p, &e), "%s %s", e.where, e.rule);
    cr_expect_null(dg_profile_find(&p, "l2_size"));
    cr_expect_eq(dg_profile_evidence(&p, "l2_size")->status, DG_UNRELIABLE);
    read_profile(first, &arena, &files[1].profile);
    dg_arena_free(&arena);
}

Test(profile_merge, chips)
{
    struct dg_merge_file files[2] = { { .path = "a", .label = "a" },
                                      { .path = "b", .label = "b" } };
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e = { 0 };
    dg_arena_init(&arena);
    read_profile("{\"name\":\"x\",\"architecture\":\"aarch64\"}", &arena, &files[0].profile);
    read_profile(first, &arena, &files[1].profile);
    cr_expect(!dg_profile_merge(files, 2, NULL, &arena, &p, &e));
    cr_expect_str_eq(e.where, "b");
    cr_expect_eq(e.exit_code, DG_EXIT_INPUT);
    dg_arena_free(&arena);
}
