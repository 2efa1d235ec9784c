/* SPDX-License-Identifier: Apache-2.0
 *
 * Building profiles from answers, writing them, and what stays when writing fails. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "profile/builder.h"
#include "profile/fields.h"
#include "profile/reader.h"
#include "profile/reading.h"
#include "profile/samples.h"
#include "profile/writer.h"

#define ANSWER(k, u, v, lo, hi) \
    { .key = k, .unit = u, .value = { .kind = DG_VALUE_NUMBER, .number = v }, .low = lo, \
      .high = hi, .confidence = 0.95, .status = DG_MEASURED, .method = "a test", .samples = 9 }

static const struct dg_claim l3_claims[] = {
    { "cpuid", { .kind = DG_VALUE_NUMBER, .number = 532676608 } },
};
static const struct dg_claim l1_claims[] = {
    { "cpuid", { .kind = DG_VALUE_NUMBER, .number = 32768 } },
    { "sysfs \"x\"\n", { .kind = DG_VALUE_NULL } },
};

static const char *const load_users[] = { "load.f32.256:1.0" };

static struct dg_answer answers[] = {
    ANSWER("l1_size", "bytes", 32768, 32768, 32768),
    ANSWER("l1_ways", "count", 8, 8, 8),
    ANSWER("l1_set_stride", "bytes", 4096, 4096, 4096),
    ANSWER("clock_hz", "Hz", 2.945e9, 2.94e9, 2.95e9),
    ANSWER("op.fma.f32.256.acc_latency", "cycles", 4.98731, 4.97, 5.02),
    ANSWER("op.fma.f32.128.acc_latency", "cycles", 4.9, 4.9, 4.9),
    ANSWER("bw.dram.triad.all", "GB/s", 17.632, 17.5, 17.7),
    ANSWER("bw.dram.read.1", "GB/s", 12.03, 11.9, 12.1),
    ANSWER("bw.l2.read.1", "bytes/cycle", 25.3, 25.1, 25.6),
    ANSWER("mix.turn.f32.256.v2.b6.s16", "cycles", 104.3, 95, 120),
    ANSWER("op.fma.f32.256.per_cycle", "1/cycle", 0.99891, 0.9988, 0.999),
    ANSWER("res.load.capacity", "1/cycle", 2.003100667890159, 2.003100667890159, 2.003100667890159),
    ANSWER("l3_effective_size", "bytes", 8388608, 8000000, 9000000),
    ANSWER("l2_size", "bytes", 524288, 524288, 524288),
    { .key = "l2_ways", .unit = "count", .status = DG_UNRELIABLE, .reason = "three repeats "
      "differ", .help = "probe again" },
    { .key = "res.load.users", .unit = "", .status = DG_MEASURED, .method = "a test",
      .value = { .kind = DG_VALUE_LIST, .list = load_users, .list_count = 1 },
      .confidence = 0.9, .samples = 9 },
};
enum { ANSWERS = sizeof answers / sizeof *answers };
static const struct dg_fact facts[] = {
    { "load", { .kind = DG_VALUE_NUMBER, .number = 0.25 }, false },
    { "emulated", { .kind = DG_VALUE_TEXT, .text = "false" }, true },
    { "governor", { .kind = DG_VALUE_NULL }, false },
};

static bool build(struct dg_arena *arena, size_t count, struct dg_profile *out,
                  struct dg_error *e)
{
    static bool done;
    if (!done) {
        answers[0].claims = l1_claims;
        answers[0].claim_count = 2;
        answers[12].claims = l3_claims;
        answers[12].claim_count = 1;
        done = true;
    }
    struct dg_build b = { "test", "x86_64", answers, count, facts, 3 };
    dg_arena_init(arena);
    return dg_profile_build(&b, arena, out, e);
}

Test(profile_builder, values)
{
    static const struct { const char *key; double value; enum dg_status status; } expected[] = {
        { "l1_size", 32768, DG_MEASURED }, { "fma_latency", 5, DG_DERIVED },
        { "op.fma.f32.256.acc_latency", 5, DG_MEASURED },
        { "mix.turn.f32.256.v2.b6.s16", 104.3, DG_MEASURED },
        { "op.fma.f32.256.per_cycle", 1, DG_MEASURED },
        { "res.load.capacity", 2, DG_MEASURED },
        { "memory_bandwidth_gbps", 17.6, DG_DERIVED }, { "clock_hz", 2.9e9, DG_MEASURED },
        { "l2_to_dram_bandwidth_gbps", 12, DG_DERIVED },
        { "l1_to_l2_bandwidth_gbps", 73, DG_DERIVED },
    };
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e;
    cr_assert(build(&arena, ANSWERS, &p, &e), "%s %s %s", e.where, e.rule, e.value);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        cr_expect_float_eq(dg_profile_number(&p, expected[i].key, NAN), expected[i].value, 1e-9,
                           "%s %g", expected[i].key, dg_profile_number(&p, expected[i].key, NAN));
        cr_expect_eq(dg_profile_evidence(&p, expected[i].key)->status, expected[i].status);
    }
    for (size_t i = 0; i < DG_FIELD_COUNT; i++)
        cr_expect_not_null(dg_profile_evidence(&p, dg_fields[i].key), "%s", dg_fields[i].key);
    cr_expect_str_eq(dg_profile_evidence(&p, "l3_ways")->reason, "not probed");
    cr_expect_eq(dg_answer_agrees(dg_profile_evidence(&p, "l1_size")), DG_AGREES);
    cr_expect_eq(dg_answer_agrees(dg_profile_evidence(&p, "l3_effective_size")), DG_CONTRADICTED);
    dg_arena_free(&arena);
}

Test(profile_builder, contradiction_becomes_unreliable)
{
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e;
    answers[1].value.number = answers[1].low = answers[1].high = 4;
    cr_assert(build(&arena, ANSWERS, &p, &e));
    cr_expect_null(dg_profile_find(&p, "l1_set_stride"));
    cr_expect_eq(dg_profile_evidence(&p, "l1_set_stride")->status, DG_UNRELIABLE);
    dg_arena_free(&arena);
}

Test(profile_builder, refusals)
{
    static const struct dg_answer bad[] = {
        ANSWER("l1_sise", "bytes", 32768, 32768, 32768), ANSWER("l1_size", "KiB", 32, 32, 32),
        ANSWER("l1_size", "bytes", 0, 0, 0), ANSWER("l1_size", "bytes", 32768, 40000, 50000),
        ANSWER("isa", "", 1, 1, 1), ANSWER("l1_size", "bytes", NAN, 1, 2),
        { .key = "l1_size", .unit = "bytes", .status = DG_UNAVAILABLE },
        { .key = "l1_size", .unit = "bytes", .status = DG_MEASURED },
        { .key = "l1_size", .status = DG_MEASURED },
    };
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        struct dg_answer pair[2] = { answers[0], answers[0] };
        struct dg_arena arena;
        struct dg_profile p;
        struct dg_error e;
        bool twice = i == sizeof bad / sizeof *bad;
        struct dg_build b = { "test", "x86_64", twice ? pair : &bad[i], twice ? 2 : 1, NULL, 0 };
        dg_arena_init(&arena);
        cr_expect_not(dg_profile_build(&b, &arena, &p, &e), "%zu", i);
        cr_expect_eq(e.exit_code, DG_EXIT_INTERNAL);
        dg_arena_free(&arena);
    }
    struct dg_fact twice[2] = { facts[0], facts[0] };
    struct dg_build b = { "test", "x86_64", NULL, 0, twice, 2 };
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e;
    dg_arena_init(&arena);
    cr_expect_not(dg_profile_build(&b, &arena, &p, &e));
    cr_expect_str_eq(e.rule, "has two facts");
    dg_arena_free(&arena);
}

static char *temporary_folder(void)
{
    static char name[64];
    strcpy(name, "/tmp/dg-profile-XXXXXX");
    cr_assert_not_null(mkdtemp(name));
    return name;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    cr_assert_not_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(folder);
}

Test(profile_writer, round_trip)
{
    struct dg_arena arena, again;
    struct dg_profile p, q;
    struct dg_error e;
    struct dg_str first, second;
    char *folder = temporary_folder(), path[128];
    snprintf(path, sizeof path, "%s/h.json", folder);
    cr_assert(build(&arena, ANSWERS, &p, &e));
    cr_assert(dg_profile_save(path, &p, &e), "%s %s", e.rule, e.value);
    dg_arena_init(&again);
    cr_assert(dg_profile_load(path, &again, &q, &e), "%s %s %s", e.where, e.rule, e.value);
    cr_expect_eq(q.warning_count, 0u, "%s", q.warning_count ? q.warnings[0] : "");
    cr_assert_eq(q.entry_count, p.entry_count);
    for (size_t i = 0; i < p.entry_count; i++)
        cr_expect_str_eq(p.entries[i].key, q.entries[i].key);
    cr_assert_eq(q.measurement_count, p.measurement_count);
    for (size_t i = 0; i < p.measurement_count; i++)
        cr_expect_eq(p.measurements[i].status, q.measurements[i].status, "%s",
                     p.measurements[i].key);
    dg_str_init(&first, NULL);
    dg_str_init(&second, NULL);
    dg_profile_render(&p, &first);
    dg_profile_render(&q, &second);
    cr_expect_str_eq(dg_str_text(&first), dg_str_text(&second));
    for (size_t i = 0; i < DG_FIELD_COUNT; i++) {
        char line[96];
        snprintf(line, sizeof line, "\n  \"%s\": ", dg_fields[i].key);
        cr_expect_not_null(strstr(first.text, line), "%s", dg_fields[i].key);
    }
    cr_expect_not_null(strstr(first.text, "532676608}], \"agrees\": false"));
    cr_expect_null(strstr(first.text, "17,"), "no decimal comma");
    dg_str_free(&first);
    dg_str_free(&second);
    remove_folder(folder);
    dg_arena_free(&arena);
    dg_arena_free(&again);
}

static void put_old(const char *path)
{
    struct dg_error e;
    cr_assert(dg_file_write(path, "old", 3, &e));
}

static bool is_old(const char *path)
{
    struct dg_arena arena;
    struct dg_error e;
    dg_arena_init(&arena);
    char *text = dg_file_read(path, 1000, &arena, NULL, &e);
    bool old = text != NULL && strcmp(text, "old") == 0;
    dg_arena_free(&arena);
    return old;
}

/* Run in a child, since limits and users cannot be taken back. 0: refused as it should be. */
static int refused_child(const char *path, bool full)
{
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e;
    if (full) {
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 512, 512 }) != 0)
            return 9;
    } else if (geteuid() == 0 && seteuid(65534) != 0) {
        return 9;
    }
    if (!build(&arena, ANSWERS, &p, &e))
        return 8;
    if (dg_profile_save(path, &p, &e))
        return 7;
    return e.exit_code == DG_EXIT_UNAVAILABLE && e.todo[0] != '\0' ? 0 : 6;
}

/* The evidence of a file has six figures: rounding it again gives what stands flat, also where the
 * seventh decides a tie. */
Test(profile_writer, flat_values_follow_the_evidence)
{
    static const double values[] = { 31.7249999, 31.7250001, 0.1249999999, 2.5000001, 12345.6789 };
    const struct dg_field *field = dg_field_of("mix.stream.l2.b512.d2048");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct dg_answer a = { .key = "mix.stream.l2.b512.d2048", .status = DG_MEASURED,
                               .value = { .kind = DG_VALUE_NUMBER, .number = values[i] },
                               .low = values[i], .high = values[i] };
        struct dg_answer read = a;
        read.value.number = read.low = read.high = dg_evidence_number(values[i]);
        struct dg_value written = dg_flat_value(field, &a), again = dg_flat_value(field, &read);
        cr_expect_eq(written.number, again.number, "%.10g: %.10g, read back %.10g", values[i],
                     written.number, again.number);
    }
}

Test(profile_writer, full_disk_and_no_permission)
{
    char *folder = temporary_folder(), path[128];
    snprintf(path, sizeof path, "%s/h.json", folder);
    put_old(path);
    chmod(folder, 0555);
    for (int full = 0; full < 2; full++) {
        int status = 0;
        if (full)
            chmod(folder, 0755);
        pid_t child = fork();
        if (child == 0)
            _exit(refused_child(path, full));
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d: %x", full, (unsigned)status);
        cr_expect(is_old(path), "the old file stays whole");
    }
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_error e;
    cr_assert(build(&arena, ANSWERS, &p, &e));
    cr_expect_not(dg_profile_save("/dev/full", &p, &e));
    cr_expect_eq(e.exit_code, DG_EXIT_UNAVAILABLE);
    cr_expect_not(dg_profile_save("/nonexistent/h.json", &p, &e));
    dg_arena_free(&arena);
    remove_folder(folder);
}

/* A child writes two profiles in turn and is killed at any time: the file is one of the two. */
Test(profile_writer, killed)
{
    char *folder = temporary_folder(), path[128];
    struct dg_arena arenas[2];
    struct dg_profile p[2];
    struct dg_error e;
    struct dg_str text[2];
    snprintf(path, sizeof path, "%s/h.json", folder);
    for (int i = 0; i < 2; i++) {
        cr_assert(build(&arenas[i], ANSWERS - 1 - (size_t)i, &p[i], &e));
        dg_str_init(&text[i], NULL);
        dg_profile_render(&p[i], &text[i]);
    }
    cr_assert(dg_profile_save(path, &p[0], &e));
    for (unsigned round = 0; round < 40; round++) {
        pid_t child = fork();
        if (child == 0)
            for (;;)
                if (!dg_profile_save(path, &p[round++ % 2], &e))
                    _exit(1);
        size_t size;
        for (unsigned look = 0; look <= round * 3; look++) {
            struct dg_arena mine;
            dg_arena_init(&mine);
            char *now = dg_file_read(path, 1 << 20, &mine, &size, &e);
            cr_assert_not_null(now);
            cr_assert(strcmp(now, text[0].text) == 0 || strcmp(now, text[1].text) == 0);
            dg_arena_free(&mine);
        }
        kill(child, SIGKILL);
        cr_assert_eq(waitpid(child, NULL, 0), child);
    }
    remove_folder(folder);
    for (int i = 0; i < 2; i++) {
        dg_str_free(&text[i]);
        dg_arena_free(&arenas[i]);
    }
}

Test(profile_samples, round_trip)
{
    static const double cycles[] = { 4.0009765625, 4.25, 1e-9, 17.1 }, ns[] = { 1, 2, 3, 4 };
    static const struct dg_sample_row rows[] = {
        { "loop rate fma.f32.256 chains 8", cycles, ns, 4, 2, NULL },
        { "chase 100", cycles, ns, 0, 0, "no such \"loop\"" },
    };
    static const struct dg_sample_claim claims[] = {
        { "l1_size", { "cpuid", { .kind = DG_VALUE_NUMBER, .number = 32768 } } },
    };
    const struct dg_samples_file file = { facts, 3, claims, 1, rows, 2 };
    struct dg_samples_file back;
    struct dg_arena arena;
    struct dg_error e;
    char *folder = temporary_folder(), path[128];
    snprintf(path, sizeof path, "%s/h.json", folder);
    dg_arena_init(&arena);
    const char *name = dg_samples_path(path, &arena);
    cr_expect(strstr(name, "/h.samples.json"));
    cr_assert(dg_samples_write(name, &file, &e));
    cr_assert(dg_samples_read(name, &arena, &back, &e), "%s %s", e.where, e.rule);
    cr_assert(back.row_count == 2 && back.claim_count == 1 && back.info_count == 3);
    cr_expect_eq(memcmp(back.rows[0].cycles, cycles, sizeof cycles), 0);
    cr_expect_eq(back.rows[0].count, 4u);
    cr_expect_eq(back.rows[0].rejected, 2u);
    cr_expect_str_eq(back.rows[1].refused, rows[1].refused);
    cr_expect_str_eq(back.rows[1].request, rows[1].request);
    cr_expect_null(back.rows[0].refused);
    cr_expect_str_eq(back.claims[0].claim.source, "cpuid");
    cr_assert(dg_file_write(name, "{\"schema\": 1}", 13, &e));
    cr_expect_not(dg_samples_read(name, &arena, &back, &e));
    cr_expect_eq(e.exit_code, DG_EXIT_INPUT);
    remove_folder(folder);
    dg_arena_free(&arena);
}
