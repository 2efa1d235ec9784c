/* SPDX-License-Identifier: Apache-2.0
 *
 * From a plan to files: everything or nothing, the same bytes from any folder, right results. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/run.h"
#include "base/str.h"
#include "emit/ir/interpret.h"
#include "emit/lower/lower.h"
#include "emit/write/emit.h"
#include "emit/write/manifest.h"
#include "hand.h"

static struct dg_arena arena;
static char folder[64];

static void set_up(void)
{
    dg_arena_init(&arena);
    strcpy(folder, "/tmp/dg-emit-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    struct dg_run result;
    const char *const argv[] = { "rm", "-rf", folder, NULL };
    dg_run(argv, 10000, &result, NULL);
    dg_arena_free(&arena);
}

#if defined __x86_64__
/* A test that is skipped is not torn down by Criterion. */
static void skip(const char *why)
{
    tear_down();
    cr_skip_test("%s", why);
}
#endif

static bool run(struct dg_run *out, const char *const *argv)
{
    bool ok = dg_run(argv, 60000, out, NULL) && out->status == 0 && !out->late;
    if (!ok)
        cr_log_warn("%s: %d: %s", argv[0], out->status, out->output);
    return ok;
}
#define RUN(out, ...) run(out, (const char *const[]){ __VA_ARGS__, NULL })

static void make(struct hand *hand, const struct dg_emit_options *options,
                 struct dg_emitted *emitted)
{
    struct dg_error e = { 0 };
    cr_assert(dg_emit_make(&hand->problem, &hand->plan, options, &arena, emitted, &e),
              "%s: %s: %s", e.where, e.rule, e.value);
}

static const uint64_t cases_mnk[][4] = {           /* m, n, k and blocks of k */
    { 1, 1, 1, 1 }, { 13, 21, 17, 3 }, { 23, 100, 33, 4 }, { 5, 9, 0, 1 }, { 40, 64, 10, 2 },
};

static const struct dg_emit_options plain = { .tool_version = "0.0.0" };

#if defined __x86_64__
static const char isa[] = "x86_64-avx2";
#else
static const char isa[] = "aarch64-neon";
#endif

Test(emit, same_bytes_and_a_true_manifest, .init = set_up, .fini = tear_down)
{
    struct hand hand;
    struct dg_emitted first, second;
    struct dg_error e = { 0 };
    struct dg_manifest manifest;
    hand_make(&hand, isa, "kernel", 13, 21, 17, 2, &arena);
    make(&hand, &plain, &first);
    cr_assert_eq(mkdir("elsewhere", 0777), 0);
    cr_assert_eq(chdir("elsewhere"), 0);
    setenv("TMPDIR", folder, 1);
    setenv("SOURCE_DATE_EPOCH", "12345", 1);
    make(&hand, &plain, &second);
    cr_expect_eq(first.count, 5);
    for (size_t i = 0; i < first.count; i++)
        cr_expect(first.file[i].size == second.file[i].size &&
                  memcmp(first.file[i].bytes, second.file[i].bytes, first.file[i].size) == 0,
                  "%s", first.file[i].name);
    cr_assert(dg_emit_write(&first, "a/b", &arena, &e), "%s %s", e.rule, e.value);
    cr_assert(dg_manifest_read("a/b/kernel.json", &arena, &manifest, &e), "%s %s %s", e.where,
              e.rule, e.value);
    cr_expect(dg_manifest_check_files("a/b/kernel.json", &manifest, &e), "%s %s", e.where, e.rule);
    cr_expect_eq(manifest.file_count, 4);
    cr_expect_str_eq(manifest.profile.name, "by hand");
    cr_assert(dg_file_write("a/b/kernel.h", "x", 1, &e));
    cr_expect_not(dg_manifest_check_files("a/b/kernel.json", &manifest, &e));
    cr_expect_not_null(strstr(e.where, "kernel.h"));
}

static void manifest_with(const struct dg_entry *entries, size_t count, struct dg_manifest *out)
{
    struct hand hand;
    struct dg_emitted emitted;
    struct dg_error e = { 0 };
    hand_make(&hand, isa, "kernel", 13, 21, 17, 2, &arena);
    hand.profile = (struct dg_profile){ .entries = entries, .entry_count = count };
    make(&hand, &plain, &emitted);
    cr_expect_eq(hand.plan.view.read_count, 0, "the plan's list must not grow");
    const struct dg_emit_file *file = &emitted.file[emitted.count - 1];
    cr_assert(dg_manifest_parse(file->bytes, file->size, file->name, &arena, out, &e), "%s: %s",
              e.where, e.rule);
}

/* A kernel says which chip its profile was measured on, as far as the profile does. */
Test(emit, names_the_chip, .init = set_up, .fini = tear_down)
{
#define TEXT(name, t) { .key = name, .value = { .kind = DG_VALUE_TEXT, .text = t } }
    static const struct dg_fact facts[] = {
        TEXT("family", "25"), TEXT("model", "17"), TEXT("vendor", "amd") };
    static const struct { size_t first, count; const char *chip; } cases[] = {
        { 0, 3, "amd 25 17" }, { 1, 2, "amd 17" }, { 2, 1, "amd" }, { 0, 0, "" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        struct dg_emitted emitted;
        struct dg_manifest manifest;
        struct dg_error e = { 0 };
        hand_make(&hand, isa, "kernel", 13, 21, 17, 2, &arena);
        hand.profile = (struct dg_profile){ .environment = facts + cases[i].first,
                                            .environment_count = cases[i].count };
        make(&hand, &plain, &emitted);
        const struct dg_emit_file *file = &emitted.file[emitted.count - 1];
        cr_assert(dg_manifest_parse(file->bytes, file->size, file->name, &arena, &manifest, &e));
        cr_expect_str_eq(manifest.profile.chip, cases[i].chip);
    }
}

/* What the manifest says of the roofs is among the keys it lists, and in their hash. */
Test(emit, roofs_are_read_like_the_rest, .init = set_up, .fini = tear_down)
{
#define NUMBER(key, n) { key, { .kind = DG_VALUE_NUMBER, .number = n } }
    static const struct { struct dg_entry entry; double l1, l2, l3, dram; } cases[] = {
        { NUMBER("bw.l1.read.1", 64), 64, 0, 0, 0 },
        { NUMBER("bw.l2.read.1", 32), 0, 32, 0, 0 },
        { NUMBER("l1_to_l2_bandwidth_gbps", 20), 0, 10, 0, 0 },     /* at 2 GHz */
        { NUMBER("bw.l3.read.1", 16), 0, 0, 8, 0 },
        { NUMBER("bw.dram.read.1", 12), 0, 0, 0, 6 },
        { NUMBER("l2_to_dram_bandwidth_gbps", 8), 0, 0, 0, 4 },
        { NUMBER("memory_bandwidth_gbps", 8), 0, 0, 0, 0 },         /* of all cores */
    };
    struct dg_manifest none, with;
    manifest_with(NULL, 0, &none);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dg_entry *entry = &cases[i].entry;
        bool listed = false, is_roof = cases[i].l1 + cases[i].l2 + cases[i].l3 + cases[i].dram > 0;
        manifest_with(entry, 1, &with);
        for (size_t j = 0; j < with.profile.key_count; j++)
            listed |= strcmp(with.profile.keys[j].key, entry->key) == 0 &&
                      with.profile.keys[j].used == entry->value.number;
        cr_expect(with.roofs.l1 == cases[i].l1 && with.roofs.l2 == cases[i].l2 &&
                  with.roofs.l3 == cases[i].l3 && with.roofs.dram == cases[i].dram, "%s",
                  entry->key);
        cr_expect_eq(listed, is_roof, "%s", entry->key);
        cr_expect_eq(strcmp(with.profile.hash, none.profile.hash) != 0, is_roof, "%s", entry->key);
    }
}

Test(emit, source_only_and_another_stem, .init = set_up, .fini = tear_down)
{
    struct hand hand;
    struct dg_emitted out;
    const struct dg_emit_options options = {
        .tool_version = "0.0.0", .source_only = true, .stem = "other",
        .assembler = { "no-such-assembler", NULL },
    };
    hand_make(&hand, "x86_64-avx512", "kernel", 5, 6, 7, 1, &arena);
    make(&hand, &options, &out);
    cr_assert_eq(out.count, 3);
    cr_expect_str_eq(out.file[0].name, "other.s");
    cr_expect_str_eq(out.file[1].name, "other.h");
    cr_expect_str_eq(out.file[2].name, "other.json");
    cr_expect_null(out.assembler);
}

/* A name that would end the comment it stands in. */
Test(emit, profile_name_stays_a_comment, .init = set_up, .fini = tear_down)
{
    struct hand hand;
    struct dg_emitted out;
    hand_make(&hand, isa, "kernel", 3, 4, 5, 1, &arena);
    hand.entries[1].value.text = "a */ b\n\tud2 \\";
    make(&hand, &plain, &out);
    for (size_t i = 0; i < 2; i++)
        cr_expect_not_null(strstr(out.file[i].bytes, "a ?/ b??ud2 ?,"), "%s", out.file[i].name);
    cr_expect_not_null(strstr(out.file[out.count - 1].bytes, "a */ b\\u000a\\u0009ud2 \\\\"));
}

static size_t entries(const char *path)
{
    struct dg_run out;
    size_t count = 0;
    cr_assert(RUN(&out, "ls", "-A", path));
    for (const char *c = out.output; *c != '\0'; c++)
        count += *c == '\n';
    return count;
}

/* A limit on the size of files fails writes as a full disk does. */
Test(emit, nothing_on_failure, .init = set_up, .fini = tear_down)
{
    struct hand hand;
    struct dg_emitted out;
    struct dg_error e = { 0 };
    hand_make(&hand, isa, "kernel", 13, 21, 17, 1, &arena);
    make(&hand, &plain, &out);
    cr_assert_eq(mkdir("full", 0777), 0);
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 3000;
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool written = dg_emit_write(&out, "full", &arena, &e);
    setrlimit(RLIMIT_FSIZE, &old);
    cr_expect_not(written);
    cr_expect_eq(e.exit_code, DG_EXIT_UNAVAILABLE);
    cr_expect_eq(entries("full"), 0);
    cr_assert(dg_file_write("file", "x", 1, &e));
    cr_expect_not(dg_emit_write(&out, "file", &arena, &e));
    cr_expect_not(dg_emit_write(&out, "/proc/none", &arena, &e));
}

/* The count in the manifest is what the code really runs. */
Test(emit, stamps_are_counted, .init = set_up, .fini = tear_down)
{
    static const char *const isas[] = { "x86_64-avx2", "x86_64-avx512", "aarch64-neon" };
    static const uint64_t cycles[] = { 100, 20000, 100000, 1000000, 50000000 };
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < sizeof cases_mnk / sizeof *cases_mnk; j++)
            for (size_t c = 0; c < sizeof cycles / sizeof *cycles; c++) {
                struct hand h;
                struct dg_lowered lowered;
                struct dg_error e = { 0 };
                const uint64_t *mnk = cases_mnk[j];
                hand_make(&h, isas[i], "kernel", mnk[0], mnk[1], mnk[2], (unsigned)mnk[3], &arena);
                h.plan.best.cycles = (dg_cost)cycles[c] * DG_COST_ONE;
                cr_assert(dg_lower(&h.problem, &h.plan.best, NULL, &arena, &lowered, &e));
                uint64_t a = mnk[0] * mnk[2] * 4, b = lowered.packed_b_size;
                uint64_t cs = mnk[0] * mnk[1] * 4;
                struct dg_ir_run work = {
                    .region = { { "a", dg_alloc(&arena, a + 1), a, false, 0, 0, 0, NULL },
                                { "b", dg_alloc(&arena, b + 1), b, false, 0, 0, 0, NULL },
                                { "c", dg_alloc(&arena, cs), cs, true, 0, 0, 0, NULL } },
                    .regions = 3,
                };
                cr_assert(dg_ir_interpret(&lowered.kernel, &work, &arena, &e), "%s: %s: %s",
                          e.where, e.rule, e.value);
                cr_expect_eq(work.stamps, lowered.stamps, "%s case %zu: %u run, %u counted",
                             isas[i], j, (unsigned)work.stamps, (unsigned)lowered.stamps);
            }
}

typedef void kernel(const void *, const void *, void *);
typedef void packer(const void *, void *);
typedef size_t sizer(void);

static float value(uint64_t i)
{
    return (float)((i * 2654435761u >> 7 & 255) / 16.0 - 8);
}

/* Every element against double: the inputs have few bits, so that sums are exact. */
static void check_product(const struct hand *h, void *library)
{
    uint64_t m = h->problem.m, n = h->problem.n, k = h->problem.k;
    kernel *run_it;
    packer *pack;
    sizer *size;
    *(void **)&run_it = dlsym(library, "kernel");
    *(void **)&pack = dlsym(library, "kernel_pack_b");
    *(void **)&size = dlsym(library, "kernel_packed_b_size");
    cr_assert(run_it != NULL && pack != NULL && size != NULL);
    float *a = calloc(m * k + 1, 4), *b = calloc(k * n + 1, 4), *c = calloc(m * n + 1, 4);
    void *packed = aligned_alloc(64, (size() + 64) / 64 * 64 + 64);
    for (uint64_t i = 0; i < m * k; i++)
        a[i] = value(i);
    for (uint64_t i = 0; i < k * n; i++)
        b[i] = value(i + 77777);
    for (uint64_t i = 0; i <= m * n; i++)
        c[i] = NAN;
    pack(b, packed);
    run_it(a, packed, c);
    unsigned wrong = 0;
    for (uint64_t i = 0; i < m; i++)
        for (uint64_t j = 0; j < n; j++) {
            double sum = 0;
            for (uint64_t x = 0; x < k; x++)
                sum += (double)a[i * k + x] * (double)b[x * n + j];
            wrong += !((double)c[i * n + j] == sum);
        }
    cr_expect(wrong == 0 && isnan(c[m * n]), "%u wrong of %u x %u x %u", wrong, (unsigned)m,
              (unsigned)n, (unsigned)k);
    free(a), free(b), free(c), free(packed);
}

Test(emit, products_are_right, .init = set_up, .fini = tear_down)
{
#if defined __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        skip("no AVX2 here");
#endif
    static const struct { uint64_t m, n, k; unsigned blocks; } cases[] = {
        { 1, 1, 1, 1 }, { 4, 16, 8, 1 }, { 13, 21, 17, 1 }, { 13, 21, 17, 3 }, { 9, 48, 5, 2 },
        { 3, 7, 2, 1 }, { 8, 100, 33, 4 }, { 5, 9, 0, 1 }, { 64, 64, 64, 2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        struct dg_emitted out;
        struct dg_error e = { 0 };
        struct dg_run said;
        char library[32];
        hand_make(&hand, isa, "kernel", cases[i].m, cases[i].n, cases[i].k, cases[i].blocks,
                  &arena);
        make(&hand, &plain, &out);
        cr_assert(dg_emit_write(&out, ".", &arena, &e));
        dg_format(library, sizeof library, "./k%zu.so", i);
        cr_assert(RUN(&said, "cc", "-shared", "-o", library, "kernel.o"));
        void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        cr_assert_not_null(handle, "%s", dlerror());
        check_product(&hand, handle);
        dlclose(handle);
    }
}
