/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables, finding and the recording view. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "profile/fields.h"
#include "profile/profile.h"

static const char *const isa_list[] = { "avx2", "fma" };

#define NUMBER(key, n) { key, { .kind = DG_VALUE_NUMBER, .number = n } }

static const struct dg_entry entries[] = {
    { "architecture", { .kind = DG_VALUE_TEXT, .text = "x86_64" } },
    NUMBER("bw.dram.triad.all", 20),
    NUMBER("bw.l2.read.1", 30),
    NUMBER("clock_hz", 3e9),
    { "isa", { .kind = DG_VALUE_LIST, .list = isa_list, .list_count = 2 } },
    NUMBER("l1_size", 49152),
    { "l2_size", { .kind = DG_VALUE_NULL } },
    NUMBER("l2_to_dram_bandwidth_gbps", 12.5),
    NUMBER("memory_bandwidth_gbps", 19),
    NUMBER("op.fma.f32.256.per_cycle", 2),
};
static const struct dg_profile profile = { .entries = entries,
                                           .entry_count = sizeof entries / sizeof *entries };

Test(profile_tables, keys)
{
    static const struct { const char *key; const char *unit; } known[] = {
        { "l1_size", "bytes" }, { "l3_latency", "ns" }, { "l2_latency", "cycles" },
        { "op.fma.f32.256.per_cycle", "1/cycle" }, { "op.fma_load.f64.512.chains", "count" },
        { "res.issue.capacity", "1/cycle" }, { "res.mul_port2.users", "" },
        { "bw.l1.read.1", "bytes/cycle" }, { "bw.l2.nt_copy.all", "bytes/cycle" },
        { "bw.l3.triad.1", "GB/s" }, { "bw.dram.copy.all", "GB/s" },
        { "tlb.l1.4k.entries", "count" }, { "tlb.walk.2m", "cycles" },
        { "mix.turn.f32.256.v2.b6.s64", "cycles" }, { "mix.touch.panel.f32.512.v4.k2048.p1",
          "cycles" }, { "mix.set.b14.t4096", "ratio" }, { "mix.call.f32.256", "cycles" },
        { "mix.stream.l3.b256.d0", "bytes/cycle" }, { "mix.stream.dram.b64.d512", "GB/s" },
    };
    static const char *const unknown[] = {
        "", "l1", "l1_sizes", "op", "op.fma.f32.256", "op.fma.f32.256.rate",
        "op.Fma.f32.256.latency",
        "op.fma.f32.0256.latency", "op.fma.f32.256.latency.x", "op..f32.256.latency",
        "bw.l4.read.1",
        "bw.l1.read", "bw.l1.reads.1", "bw.l1.rea.1", "bw.l3.read.2", "tlb.l1.4.entries",
        "tlb.l3.4k.entries", "tlb.walk.0k", "mix.turn.f32.256.v2.b6", "mix.turn.f32.256.b6.v2.s64",
        "mix.turn.f32.256.v.b6.s64", "mix.touch.panel.f32.512.v4.k2048.p2", ".", "bw.",
        "bw.l1|l2.read.1",
        "mix.stream.l3.b99999999999.d0", "name", "l1_size.",
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct dg_field *field = dg_field_of(known[i].key);
        cr_assert_not_null(field, "%s", known[i].key);
        cr_expect_str_eq(field->unit, known[i].unit, "%s", known[i].key);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        cr_expect_null(dg_field_of(unknown[i]), "%s", unknown[i]);
    for (size_t i = 0; i < DG_FIELD_COUNT; i++)
        cr_expect_eq(dg_field_of(dg_fields[i].key), &dg_fields[i], "%s", dg_fields[i].key);
}

/* Finds a key that fits the pattern by trying words for each `*`. */
static const struct dg_field *complete(const char *pattern, char *key, size_t length)
{
    static const char *const words[] = { "fma", "f32", "128", "read", "1" };
    if (*pattern == '\0') {
        key[length] = '\0';
        return dg_field_of(key);
    }
    if (*pattern != '*') {
        key[length] = *pattern;
        return complete(pattern + 1, key, length + 1);
    }
    const struct dg_field *field = NULL;
    for (size_t i = 0; field == NULL && i < sizeof words / sizeof *words; i++) {
        strcpy(key + length, words[i]);
        field = complete(pattern + 1, key, length + strlen(words[i]));
    }
    return field;
}

/* Every default names a key that exists, in its range, with a source. */
Test(profile_tables, defaults)
{
    for (size_t i = 0; i < dg_default_count; i++) {
        const struct dg_default *row = &dg_defaults[i];
        char key[128];
        const struct dg_field *field = complete(row->key, key, 0);
        cr_assert_not_null(field, "%s", row->key);
        cr_expect_gt(strlen(row->source), 8u);
        if (row->list == NULL)
            cr_expect(row->value >= field->min && row->value <= field->max, "%s", row->key);
    }
    cr_expect_float_eq(dg_default_of("vector_registers", "aarch64")->value, 32, 0);
    cr_expect_float_eq(dg_default_of("vector_registers", "riscv64")->value, 16, 0);
    cr_expect_not_null(dg_default_of("op.fma.f32.256.per_cycle", NULL));
    cr_expect_null(dg_default_of("op.fma.f32.per_cycle", NULL));
    cr_expect_null(dg_default_of("l3_size", "x86_64"));
}

Test(profile_view, finding)
{
    for (size_t i = 0; i < profile.entry_count; i++) {
        const struct dg_value *found = dg_profile_find(&profile, entries[i].key);
        if (entries[i].value.kind == DG_VALUE_NULL)
            cr_expect_null(found);
        else
            cr_expect_eq(found, &entries[i].value, "%s", entries[i].key);
    }
    cr_expect_null(dg_profile_find(&profile, "a"));
    cr_expect_null(dg_profile_find(&profile, "zz"));
    cr_expect_null(dg_profile_find(&(struct dg_profile){ 0 }, "l1_size"));
    cr_expect_float_eq(dg_profile_number(&profile, "l1_size", 1), 49152, 0);
    cr_expect_float_eq(dg_profile_number(&profile, "isa", 1), 1, 0);
    cr_expect_str_eq(dg_profile_text(&profile, "architecture"), "x86_64");
    cr_expect_null(dg_profile_text(&profile, "l1_size"));
}

static const struct dg_read *read_of(const struct dg_view *view, const char *key)
{
    for (size_t i = 0; i < view->read_count; i++)
        if (strcmp(view->reads[i].key, key) == 0)
            return &view->reads[i];
    return NULL;
}

Test(profile_view, recording)
{
    char buffer[65536];
    struct dg_arena arena;
    struct dg_view view;
    double value = 0;
    const char *const *list;
    size_t count;
    dg_arena_over(&arena, buffer, sizeof buffer);
    dg_view_init(&view, &profile, &arena, false);

    static const struct { const char *key; double value; } fields[] = {
        { "l1_size", 49152 }, { "vector_registers", 16 }, { "memory_bandwidth_gbps", 20 },
        { "l1_to_l2_bandwidth_gbps", 90 }, { "bw.dram.read.1", 12.5 },
        { "l2_to_dram_bandwidth_gbps", 12.5 }, { "op.fma.f32.256.per_cycle", 2 },
        { "op.load.f32.256.per_cycle", 1 }, { "l2_size", 262144 },
    };
    for (unsigned twice = 0; twice < 2; twice++) {
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            cr_assert(dg_view_field(&view, fields[i].key, &value), "%s", fields[i].key);
            cr_expect_float_eq(value, fields[i].value, 1e-12, "%s", fields[i].key);
        }
    }
    cr_expect_not(dg_view_field(&view, "l3_size", &value));
    cr_expect_str_eq(view.missing, "l3_size");
    cr_expect_not(dg_view_cell(&view, "mix.call.f32.256", &value));
    cr_expect(dg_view_list(&view, "isa", &list, &count));
    cr_expect_eq(count, 2u);
    for (size_t i = 1; i < view.read_count; i++)
        cr_expect_lt(strcmp(view.reads[i - 1].key, view.reads[i].key), 0);
    cr_expect(read_of(&view, "l2_size")->assumed);
    cr_expect_null(read_of(&view, "l2_size")->value);
    cr_expect_float_eq(read_of(&view, "l2_size")->used, 262144, 0);
    cr_expect_not(read_of(&view, "l1_size")->assumed);
    cr_expect_not_null(read_of(&view, "clock_hz"), "joining through the clock is a reading");
    cr_expect_not_null(read_of(&view, "mix.call.f32.256"), "an absent cell is recorded");
}

Test(profile_view, strict_and_small_memory)
{
    char buffer[4096];
    struct dg_arena arena;
    struct dg_view view;
    double value;
    dg_arena_over(&arena, buffer, sizeof buffer);
    dg_view_init(&view, &profile, &arena, true);
    cr_expect(dg_view_field(&view, "l1_size", &value));
    cr_expect_not(dg_view_field(&view, "fma_latency", &value));
    cr_expect_str_eq(view.missing, "fma_latency");

    char small[64];
    dg_arena_over(&arena, small, sizeof small);
    dg_view_init(&view, &profile, &arena, false);
    cr_expect_not(dg_view_field(&view, "l1_size", &value));

    struct dg_profile empty = { 0 };
    const char *const *list;
    size_t count;
    dg_arena_over(&arena, buffer, sizeof buffer);
    dg_view_init(&view, &empty, &arena, false);
    cr_expect(dg_view_field(&view, "l1_size", &value));
    cr_expect_not(dg_view_list(&view, "isa", &list, &count));
}
