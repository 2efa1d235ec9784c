/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reader takes, what it refuses and with which words. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "profile/reader.h"

#define HEAD "{\"name\":\"x\",\"architecture\":\"aarch64\""

static bool read_text(const char *text, struct dg_arena *arena, struct dg_profile *out,
                      struct dg_error *e)
{
    dg_arena_init(arena);
    return dg_profile_read_text(text, strlen(text), "f.json", arena, out, e);
}

Test(profile_reader, example)
{
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e;
    dg_arena_init(&arena);
    cr_assert(dg_profile_load(SOURCE_ROOT "/examples/cortex-a76-prod.json", &arena, &p, &e),
              "%s: %s: %s", e.where, e.rule, e.value);
    cr_expect_str_eq(dg_profile_text(&p, "name"), "cortex-a76-prod");
    cr_expect_str_eq(dg_profile_text(&p, "architecture"), "aarch64");
    static const struct { const char *key; double value; } numbers[] = {
        { "l1_size", 65536 }, { "l1_line_size", 64 }, { "l2_size", 524288 }, { "fma_latency", 3 },
        { "vector_registers", 32 }, { "vector_bits", 128 }, { "memory_bandwidth_gbps", 17.6 },
        { "l1_to_l2_bandwidth_gbps", 25 }, { "l2_to_dram_bandwidth_gbps", 12 },
        { "l1_prefetcher_stride", 128 }, { "l2_prefetcher_stride", 256 },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        cr_expect_float_eq(dg_profile_number(&p, numbers[i].key, -1), numbers[i].value, 0, "%s",
                           numbers[i].key);
        const struct dg_answer *evidence = dg_profile_evidence(&p, numbers[i].key);
        cr_assert_not_null(evidence);
        cr_expect_eq(evidence->status, DG_ASSERTED);
    }
    const struct dg_value *isa = dg_profile_find(&p, "isa");
    cr_assert_not_null(isa, "fp16_per_neon without isa implies fp16 arithmetic");
    bool found = false;
    for (size_t i = 0; i < isa->list_count; i++)
        found = found || strcmp(isa->list[i], "asimdhp") == 0;
    cr_expect(found);
    cr_expect_eq(p.warning_count, 0u);
    dg_arena_free(&arena);
}

/* text, and what must stand in where, in rule or value, and in todo */
static const struct refusal { const char *text, *where, *rule, *todo; } refusals[] = {
    { "", "f.json:1", "value is missing", "" },
    { "[]", "f.json", "one object", "" },
    { "{", "f.json:1", "expected a key", "" },
    { "nul", "f.json:1", "not JSON", "" },
    { "{}", "f.json", "\"name\" is missing", "add it" },
    { "{\"name\":\"x\"}", "f.json", "\"architecture\" is missing", "" },
    { "{\"name\":\"x\",\"architecture\":\"arm64\"}", "/architecture", "not a known", "aarch64" },
    { "{\"name\":7,\"architecture\":\"aarch64\"}", "/name", "text", "" },
    { "{\"name\":\"\",\"architecture\":\"aarch64\"}", "/name", "text", "" },
    { "{\"name\":\"a\\u001b[1m\",\"architecture\":\"aarch64\"}", "/name", "control", "remove" },
    { HEAD ",\"res.a.users\":[\"fma.f32.128:1.0\",\"fma\"]}", "/res.a.users/1", "UNITS",
      "fma.f32" },
    { HEAD ",\"res.a.users\":[\"fma.f32.128:-1\"]}", "/res.a.users/0", "UNITS", "" },
    { HEAD ",\"res.a.users\":[\"fma.f32.128:1.\"]}", "/res.a.users/0", "UNITS", "" },
    { HEAD ",\"res.a.users\":[\"fma.f32.128:1e3\"]}", "/res.a.users/0", "UNITS", "" },
    { HEAD ",\"res.a.users\":[\"fma.f32:1\"]}", "/res.a.users/0", "UNITS", "" },
    { HEAD "} x", "f.json:1", "nothing behind", "" },
    { "\xef\xbb\xbf" HEAD ",\n\"l1_sise\":1}", "f.json:2: /l1_sise", "not a key", "l1_size" },
    { "\xef\xbb\xbf\xef\xbb\xbf" HEAD "}", "f.json:1", "not JSON", "" },
    { "\xff\xfe" HEAD "}", "f.json:1", "not JSON", "" },
    { HEAD ",}", "f.json:1", "expected a key", "" },
    { HEAD ",\"l1_size\":}", "f.json:1: /l1_size", "not JSON", "" },
    { HEAD ",\n\"l1_size\":32768,\n\"cores\":1,\n\"l1_size\":32768}", "f.json:4: /l1_size",
      "lines 2 and 4", "remove one" },
    { HEAD ",\"environment\":{\"a\":1,\"a\":1}}", "/environment/a", "stand once", "" },
    { HEAD ",\n\n\"l1_sise\":32768}", "f.json:3: /l1_sise", "not a key", "l1_size" },
    { HEAD ",\"L1_SIZE\":32768}", "/L1_SIZE", "not a key", "l1_size" },
    { HEAD ",\"zzzzzzzzzzzzzz\":1}", "/zzzz", "not a key", "remove" },
    { HEAD ",\"l1_cache_size\":64}", "/l1_cache_size", "l1_size", "65536" },
    { HEAD ",\"frequency_ghz\":2.4}", "/frequency_ghz", "clock_hz", "Hz" },
    { HEAD ",\"l1_size\":64}", "/l1_size", "must be 1024 to", "65536" },
    { HEAD ",\"l1_size\":0}", "/l1_size", "must be 1024 to", "" },
    { HEAD ",\"l1_size\":-32768}", "/l1_size", "must be 1024 to", "" },
    { HEAD ",\"l1_size\":32768.5}", "/l1_size", "whole number", "" },
    { HEAD ",\"l1_size\":1e300}", "/l1_size", "must be 1024 to", "" },
    { HEAD ",\"l1_size\":1e999}", "/l1_size", "double", "" },
    { HEAD ",\"l1_size\":\"64K\"}", "/l1_size", "number (bytes)", "without quotes" },
    { HEAD ",\"l1_size\":true}", "/l1_size", "number (bytes)", "" },
    { HEAD ",\"l1_size\":[32768]}", "/l1_size", "number (bytes)", "" },
    { HEAD ",\"l1_size\":032768}", "/l1_size", "decimal", "" },
    { HEAD ",\"l1_size\":+32768}", "/l1_size", "decimal", "" },
    { HEAD ",\"l1_size\":0x8000}", "/l1_size", "comma", "" },
    { HEAD ",\"l1_size\":NaN}", "/l1_size", "not JSON", "" },
    { HEAD ",\"clock_hz\":1000000000000000000000000000000000000000000000000000000000000000000000}",
      "/clock_hz", "must be shorter", "round it" },
    { HEAD ",\"memory_bandwidth_gbps\":17,6}", "f.json", "expected a key", "" },
    { HEAD ",\"l3_size\":9007199254740993}", "/l3_size", "2^53", "" },
    { HEAD ",\"environment\":{\"t\":9007199254740993}}", "/environment/t", "2^53", "" },
    { HEAD ",\"l1_line_size\":48}", "/l1_line_size", "power of two", "" },
    { HEAD ",\"l1_line_size\":512}", "/l1_line_size", "32 to 256", "" },
    { HEAD ",\"isa\":\"asimd\"}", "/isa", "list of texts", "" },
    { HEAD ",\"isa\":[\"asimd\",\"asimd\"]}", "/isa/1", "twice", "" },
    { HEAD ",\"isa\":[\"asimd\",4]}", "/isa/1", "text", "" },
    { HEAD ",\"core_kind\":4}", "/core_kind", "text", "" },
    { HEAD ",\"cpus\":\"9-1\"}", "/cpus", "list of CPUs", "0-3,8" },
    { HEAD ",\"cpus\":\"0-3,2\"}", "/cpus", "ascending", "0-3,8" },
    { HEAD ",\"cpus\":\"1,1\"}", "/cpus", "ascending", "" },
    { HEAD ",\"cpus\":\"1-\"}", "/cpus", "list of CPUs", "" },
    { HEAD ",\"cpus\":\"-1\"}", "/cpus", "list of CPUs", "" },
    { HEAD ",\"cpus\":\"0,\"}", "/cpus", "list of CPUs", "" },
    { HEAD ",\"cpus\":\"0 1\"}", "/cpus", "list of CPUs", "" },
    { HEAD ",\"cpus\":\"01\"}", "/cpus", "list of CPUs", "" },
    { HEAD ",\"cpus\":\"0-4294967296\"}", "/cpus", "list of CPUs", "" },
    { HEAD ",\"cpus\":\"all\"}", "/cpus", "list of CPUs", "" },
    { HEAD ",\"cpus\":[0]}", "/cpus", "text", "" },
    { HEAD ",\"measurements\":{\"cpus\":{\"status\":\"asserted\",\"value\":\"3-2\"}}}",
      "/measurements/cpus/value", "list of CPUs", "" },
    { HEAD ",\"op.fma.f32.256.latancy\":4}", "/op.fma", "not a key", "op.fma.f32.256.latency" },
    { HEAD ",\"op.fmaa.f32.128.latency\":4}", "/op.fmaa", "not an operation of aarch64",
      "op.fma.f32.128.latency" },
    { HEAD ",\"op.fma.f32.256.latency\":4}", "/op.fma", "not an operation of aarch64",
      "op.fma.f32.128.latency" },
    { HEAD ",\"op.fma.f23.128.chains\":4}", "/op.fma", "not an operation", "f32.128.chains" },
    { HEAD ",\"op.zzzzzzzzzzz.f32.128.latency\":null}", "/op.zzz", "zzz.f32.128", "remove" },
    { "{\n\"op.fmaa.f32.128.latency\":4,\n\"name\":\"x\",\"architecture\":\"x86_64\"}",
      "f.json:2: /op.fmaa", "not an operation of x86_64", "op.fma.f32.128.latency" },
    { HEAD ",\"mix.call.f32.256\":4}", "/mix.call", "type and width", "mix.call.f32.128" },
    { HEAD ",\"mix.touch.rows.f3.128.b2.k64\":4}", "/mix.touch", "type and width", "f32.128.b2" },
    { HEAD ",\"res.a.users\":[\"fma.f32.128:1\",\"fna.f32.128:1.5\"]}", "/res.a.users/1",
      "not an operation", "fma.f32.128:1.5" },
    { HEAD ",\"measurements\":{\"op.fna.f32.128.latency\":{\"status\":\"measured\","
      "\"value\":4}}}", "/measurements/op.fna", "not an operation", "op.fma.f32.128.latency" },
    { HEAD ",\"measurements\":{\"res.a.users\":{\"status\":\"measured\","
      "\"value\":[\"fna.f32.128:1\"]}}}", "/measurements/res.a.users/value/0", "not an operation",
      "fma.f32.128:1" },
    { HEAD ",\"bw.l9.read.1\":4}", "/bw.l9", "not a key", "bw.l1.read.1" },
    { HEAD ",\"op.fma.f32.256.per_cycle\":0}", "/op.fma", "0.0001", "" },
    { HEAD ",\"fp16_per_neon\":8,\"int8_per_neon\":8}", "/int8_per_neon", "agree", "remove" },
    { HEAD ",\"vector_registers\":16,\"neon_registers\":32}", "/neon_registers", "agree", "" },
    { HEAD ",\"neon_registers\":32,\"vector_registers\":16}", "/vector_registers", "agree", "" },
    { HEAD ",\"fp16_per_neon\":7}", "/fp16_per_neon", "power of two", "" },
    { HEAD ",\"schema\":\"deepgemm-hardware/2\"}", "/schema", "deepgemm-hardware/1", "" },
    { HEAD ",\"environment\":[]}", "/environment", "object", "" },
    { HEAD ",\"environment\":{\"a\":{}}}", "/environment/a", "text", "" },
    { HEAD ",\"measurements\":4}", "/measurements", "object", "" },
    { HEAD ",\"measurements\":{\"l1\":{}}}", "/measurements/l1", "not a key", "" },
    { HEAD ",\"measurements\":{\"l1_size\":4}}", "/measurements/l1_size", "object", "" },
    { HEAD ",\"measurements\":{\"l1_size\":{}}}", "/measurements/l1_size", "status", "" },
    { HEAD ",\"measurements\":{\"l1_size\":{\"status\":\"measurd\"}}}",
      "/measurements/l1_size/status", "not a status", "measured" },
    { HEAD ",\"measurements\":{\"l1_size\":{\"status\":\"measured\"}}}", "/measurements/l1_size",
      "value is missing", "" },
    { HEAD ",\"measurements\":{\"l1_size\":{\"status\":\"unavailable\",\"value\":32768}}}",
      "/measurements/l1_size", "no value", "" },
    { HEAD ",\"measurements\":{\"l1_size\":{\"status\":\"unreliable\"}}}", "/measurements/l1_size",
      "reason and help", "" },
    { HEAD ",\"measurements\":{\"l1_size\":{\"status\":\"measured\",\"value\":32768,"
      "\"unit\":\"KiB\"}}}", "/measurements/l1_size/unit", "wrong unit", "bytes" },
    { HEAD ",\"measurements\":{\"l1_size\":{\"status\":\"measured\",\"value\":32768,"
      "\"low\":40000}}}", "/measurements/l1_size", "low <= value", "" },
    { HEAD ",\"measurements\":{\"l1_size\":{\"status\":\"measured\",\"value\":32768,"
      "\"confidense\":1}}}", "confidense", "not part", "confidence" },
    { HEAD ",\"measurements\":{\"l1_size\":{\"status\":\"measured\",\"value\":32768,"
      "\"confidence\":2}}}", "/confidence", "0 to 1", "" },
    { HEAD ",\"measurements\":{\"l1_size\":{\"status\":\"measured\",\"value\":32768,"
      "\"claims\":[{\"source\":\"cpuid\"}]}}}", "/claims/0", "source", "" },
    { HEAD ",\"core_kind\":\"a\\u0000b\"}", "f.json:1", "zero", "" },
    { HEAD ",\"core_kind\":\"a\nb\"}", "f.json:1", "control", "" },
    { HEAD ",\"core_kind\":\"a\xff\"}", "f.json:1", "UTF-8", "" },
    { HEAD ",\"core_kind\":\"a", "f.json:1", "closed", "" },
    { HEAD ",\"core_kind\":\"\\q\"}", "f.json:1", "escape", "" },
    { HEAD ",\"core_kind\":\"\\u12g4\"}", "f.json:1", "escape", "" },
    { HEAD ",\"core_kind\":\"\\ud83d\"}", "f.json:1", "escape", "" },
    { HEAD ",\"core_kind\":\"\\ud83d\\u0041\"}", "f.json:1", "escape", "" },
    { HEAD ",\"core_kind\":\"\\ude00\"}", "f.json:1", "escape", "" },
    { HEAD ",\"core_kind\":\"\\", "f.json:1", "escape", "" },
    { HEAD ",\"l1\\u005fsize\":32768}", "f.json:1", "without escapes", "" },
    { HEAD ",\"environment\":{\"a\":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}}", "f.json:1",
      "nested", "" },
};

Test(profile_reader, refusals)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *r = &refusals[i];
        struct dg_arena arena;
        struct dg_profile p;
        struct dg_error e;
        memset(&e, 0, sizeof e);
        cr_expect_not(read_text(r->text, &arena, &p, &e), "accepted: %s", r->text);
        cr_expect_eq(e.exit_code, DG_EXIT_INPUT, "%s", r->text);
        cr_expect(strstr(e.where, r->where), "%s: where is %s", r->text, e.where);
        cr_expect(strstr(e.rule, r->rule) || strstr(e.value, r->rule), "%s: rule is %s (%s)",
                  r->text, e.rule, e.value);
        cr_expect(strstr(e.todo, r->todo) && e.todo[0], "%s: todo is %s", r->text, e.todo);
        dg_arena_free(&arena);
    }
}

#define MEASURED(key, value) \
    "\"" key "\":{\"status\":\"measured\",\"value\":" value ",\"confidence\":0.99}"

Test(profile_reader, evidence)
{
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e;
    cr_assert(read_text(HEAD ",\"l1_size\":65536,\"l2_size\":524288,\"l2_ways\":null,\"cores\":2,"
                        "\"fma_latency\":4,\"measurements\":{" MEASURED("l1_size", "49152") ","
                        MEASURED("l2_size", "524288") "," MEASURED("l2_ways", "8") ","
                        MEASURED("l1_ways", "4") ",\"fma_latency\":{\"status\":\"measured\","
                        "\"value\":3.98,\"low\":3.95,\"high\":4.02},"
                        "\"l3_size\":{\"status\":\"unavailable\",\"reason\":\"r\","
                        "\"help\":\"h\"}}}",
                        &arena, &p, &e), "%s %s %s", e.where, e.rule, e.value);
    static const struct { const char *key; enum dg_status status; } expected[] = {
        { "l1_size", DG_ASSERTED }, { "l2_size", DG_MEASURED }, { "l2_ways", DG_UNAVAILABLE },
        { "cores", DG_ASSERTED }, { "l1_ways", DG_UNAVAILABLE }, { "fma_latency", DG_MEASURED },
        { "l3_size", DG_UNAVAILABLE },
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct dg_answer *a = dg_profile_evidence(&p, expected[i].key);
        cr_assert_not_null(a, "%s", expected[i].key);
        cr_expect_eq(a->status, expected[i].status, "%s", expected[i].key);
    }
    cr_expect_float_eq(dg_profile_number(&p, "l1_size", 0), 65536, 0, "the flat value wins");
    cr_expect_eq(p.warning_count, 3u);
    dg_arena_free(&arena);
}

Test(profile_reader, contradictions)
{
    static const char measured[] = HEAD ",\n\"l1_size\":32768,\"l1_ways\":8,\"l1_set_stride\":%s,"
        "\"measurements\":{" MEASURED("l1_size", "32768") "," MEASURED("l1_ways", "8") ","
        MEASURED("l1_set_stride", "8192") "}}";
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e;
    char text[1024];
    snprintf(text, sizeof text, measured, "8192");
    cr_expect_not(read_text(text, &arena, &p, &e), "measured values contradict each other");
    cr_expect(strstr(e.where, "f.json:2: /l1_size"), "%s", e.where);
    cr_expect(strstr(e.rule, "l1_ways x l1_set_stride"), "%s", e.rule);
    dg_arena_free(&arena);
    snprintf(text, sizeof text, measured, "2048");
    cr_expect(read_text(text, &arena, &p, &e), "one is asserted");
    cr_expect_eq(p.warning_count, 2u);
    dg_arena_free(&arena);
    cr_expect(read_text(HEAD ",\"l1_size\":65536,\"l2_size\":32768}", &arena, &p, &e));
    cr_expect_eq(p.warning_count, 1u);
    dg_arena_free(&arena);
}

/* Any operation of an architecture whose tables this version lacks, and lists of CPUs. */
Test(profile_reader, taken)
{
    static const char *const texts[] = {
        "{\"name\":\"x\",\"architecture\":\"riscv64\",\"op.vfmacc.f32.1024.latency\":4}",
        "{\"name\":\"x\",\"architecture\":\"x86_64\",\"op.fma.f32.512.latency\":4}",
        HEAD ",\"op.fma.f32.128.latency\":4,\"mix.call.f32.128\":4}",
        HEAD ",\"cpus\":\"0\"}", HEAD ",\"cpus\":\"0-3,8\"}", HEAD ",\"cpus\":\"3-3,65535\"}",
        HEAD ",\"cpus\":null}", "\xef\xbb\xbf" HEAD "}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dg_arena arena;
        struct dg_profile p;
        struct dg_error e;
        cr_expect(read_text(texts[i], &arena, &p, &e), "%s: %s", texts[i], e.rule);
        dg_arena_free(&arena);
    }
}

Test(profile_reader, null_and_absent)
{
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e;
    cr_assert(read_text(HEAD ",\"l1_size\":null,\"isa\":null,\"fp16_per_neon\":8}", &arena, &p,
                        &e));
    cr_expect_null(dg_profile_find(&p, "l1_size"));
    cr_expect_null(dg_profile_find(&p, "isa"), "null is a word about isa: nothing is implied");
    cr_expect_float_eq(dg_profile_number(&p, "vector_bits", 0), 128, 0);
    cr_expect_eq(p.entry_count, 5u);
    dg_arena_free(&arena);
    cr_expect_not(dg_profile_load("/nonexistent/file.json", &arena, &p, &e));
    cr_expect_eq(e.exit_code, DG_EXIT_INPUT);
    dg_arena_free(&arena);
}

/* As in a host program that has set a locale with a decimal comma: the separator that cJSON asks
 * for is a comma unless the thread has a locale of its own. Works on systems without locales. */
static bool comma;
__attribute__((visibility("default"))) struct lconv *localeconv(void)
{
    static char point[] = ".", comma_text[] = ",";
    static struct lconv conventions;
    bool own = uselocale((locale_t)0) != LC_GLOBAL_LOCALE;
    conventions.decimal_point = comma && !own ? comma_text : point;
    return &conventions;
}

Test(profile_reader, locale)
{
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e;
    comma = true;
    cJSON *unprotected = cJSON_Parse("17.625");
    cr_expect(unprotected == NULL || unprotected->valuedouble != 17.625,
              "the stub must matter to cJSON, or this test says nothing");
    cJSON_Delete(unprotected);
    cr_assert(read_text(HEAD ",\"memory_bandwidth_gbps\":17.625,\"fma_latency\":3.5}",
                        &arena, &p, &e));
    cr_expect_float_eq(dg_profile_number(&p, "memory_bandwidth_gbps", 0), 17.625, 0);
    cr_expect_float_eq(dg_profile_number(&p, "fma_latency", 0), 3.5, 0);
    dg_arena_free(&arena);
    cr_expect_not(read_text(HEAD ",\"cores\":1.5}", &arena, &p, &e));
    cr_expect_str_eq(e.value, "1.5");
    dg_arena_free(&arena);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Files with bytes changed, removed, doubled or cut: no crash, and every refusal says why. */
Test(profile_reader, mutations)
{
    static const char *const files[] = {
        SOURCE_ROOT "/examples/cortex-a76-prod.json", SOURCE_ROOT "/tests/profiles/test-neon.json",
    };
    static const char letters[] = "{}[]\",:0123456789-+.eE\\/ntfu \n\x80\xff_";
    unsigned state = 12345;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        struct dg_arena keep;
        struct dg_error e;
        size_t size;
        dg_arena_init(&keep);
        char *text = dg_file_read(files[f], 1 << 20, &keep, &size, &e);
        cr_assert_not_null(text);
        char *mutant = malloc(size + 1);
        unsigned rounds = size < 2000 ? 3000 : 400;
        for (unsigned round = 0; round < rounds; round++) {
            struct dg_arena arena;
            struct dg_profile p;
            size_t n = size;
            memcpy(mutant, text, size);
            for (unsigned i = next_random(&state) % 4 + 1; i > 0 && n > 1; i--) {
                size_t at = next_random(&state) % n;
                if (next_random(&state) % 3 == 0) {
                    memmove(mutant + at, mutant + at + 1, n - at - 1);
                    n--;
                } else {
                    mutant[at] = letters[next_random(&state) % (sizeof letters - 1)];
                }
            }
            if (round % 5 == 0)
                n = next_random(&state) % n;
            dg_arena_init(&arena);
            memset(&e, 0, sizeof e);
            if (!dg_profile_read_text(mutant, n, "m.json", &arena, &p, &e))
                cr_assert(e.exit_code == DG_EXIT_INPUT && e.rule[0] && e.where[0] && e.todo[0],
                          "%.*s", (int)n, mutant);
            dg_arena_free(&arena);
        }
        free(mutant);
        dg_arena_free(&keep);
    }
}
