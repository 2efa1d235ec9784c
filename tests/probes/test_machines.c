/* SPDX-License-Identifier: Apache-2.0
 *
 * Every tree in tests/machines against the answers beside it, and a tree of this machine against
 * the machine. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "microbench/host/conditions.h"
#include "microbench/host/tree.h"
#include "probes/claims/collect.h"
#include "microbench/host/identity.h"
#include "probes/claims/survey.h"

enum { PATH = 600 };

/* What a tree says about one CPU. */
struct asked {
    struct dg_host host;
    struct dg_arena arena;
    unsigned cpu;
    struct dg_core_kind kinds[DG_KINDS_MAX];
    size_t kind_count;
    struct dg_claims claims;
    struct dg_conditions conditions;
};

static uint64_t no_limit(struct dg_host *host, int resource)
{
    return UINT64_MAX;
}

static void ask(struct asked *a, unsigned cpu)
{
    a->cpu = cpu;
    a->claims = (struct dg_claims){ .arena = &a->arena };
    dg_claims_collect(&a->claims, &a->host, cpu, a->kinds, a->kind_count);
    dg_conditions_read(&a->host, cpu, &a->conditions);
}

static void open_tree(struct asked *a, const char *folder)
{
    struct dg_error e;
    dg_arena_init(&a->arena);
    dg_host_system(&a->host, folder);
    a->host.limit = no_limit;
    cr_assert(dg_tree_words(&a->host, folder, &a->arena, &e), "%s: %s %s", folder, e.where, e.rule);
    a->kind_count = dg_core_kinds(&a->host, a->kinds);
    ask(a, 0);
}

static void number_text(char out[DG_NUMBER_SIZE], double number)
{
    dg_write_double(out, number);
}

/* The value of a key as a text; "none" and "null" where there is none. */
static void claim_text(struct asked *a, const char *key, char *out, size_t size)
{
    size_t count;
    char number[DG_NUMBER_SIZE];
    const struct dg_claim *c = dg_claims_of(&a->claims, key, &count);
    dg_format(out, size, "none");
    if (c != NULL && c[0].value.kind == DG_VALUE_TEXT) {
        dg_format(out, size, "%s", c[0].value.text);
    } else if (c != NULL) {
        number_text(number, dg_claims_number(&a->claims, key, -1));
        dg_format(out, size, "%s", number);
    }
}

static bool condition_text(struct asked *a, const char *key, char *out, size_t size)
{
    char number[DG_NUMBER_SIZE];
    for (int i = 0; i < DG_CONDITION_COUNT; i++) {
        const struct dg_condition *c = &a->conditions.at[i];
        if (strcmp(dg_condition_rows[i].key, key) != 0)
            continue;
        number_text(number, c->number);
        cr_expect(c->known || c->text[0] != '\0', "%s is unknown without a reason", key);
        dg_format(out, size, "%s", !c->known ? "null" :
                  dg_condition_rows[i].type == DG_CONDITION_TEXT ? c->text : number);
        return true;
    }
    return false;
}

static bool has_feature(struct asked *a, const char *name)
{
    struct dg_feature_words words;
    const char *found[DG_FEATURES_MAX];
    dg_features_read(&a->host, &words);
    size_t count = dg_features_decode(a->host.machine, &words, found);
    for (size_t i = 0; i < count; i++)
        if (strcmp(found[i], name) == 0)
            return true;
    return false;
}

/* What the tool says where a line of `expected` says `key value`. */
static void answer(struct asked *a, const char *key, const char *value, char *out, size_t size)
{
    struct dg_identity identity;
    struct dg_core_pmu pmu;
    if (strcmp(key, "kinds") == 0) {
        dg_format(out, size, "%zu", a->kind_count);
    } else if (strcmp(key, "identity") == 0) {
        char slug[DG_IDENTITY_SIZE];
        dg_identify(&a->host, a->cpu, &identity);
        dg_identity_slug(&identity, "", slug);
        dg_format(out, size, "%s", slug);
    } else if (strcmp(key, "pmu") == 0) {
        dg_format(out, size, "%s", dg_host_core_pmu(&a->host, a->cpu, &pmu) ? pmu.name : "none");
    } else if (strcmp(key, "feature") == 0 || strcmp(key, "no-feature") == 0) {
        bool want = key[0] == 'f';
        dg_format(out, size, "%s", has_feature(a, value) == want ? value : "not so");
    } else if (!condition_text(a, key, out, size)) {
        claim_text(a, key, out, size);
    }
}

static size_t check_tree(const char *folder)
{
    static struct asked a;
    char path[PATH];
    struct dg_error e;
    size_t lines = 0;
    open_tree(&a, folder);
    dg_format(path, sizeof path, "%s/expected", folder);
    char *text = dg_file_read(path, 65536, &a.arena, NULL, &e);
    cr_assert(text != NULL, "%s: %s", path, e.rule);
    for (char *save, *line = strtok_r(text, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save), lines++) {
        char got[256], *value = strchr(line, ' ');
        cr_assert(value != NULL, "%s: %s", path, line);
        *value++ = '\0';
        if (strcmp(line, "cpu") == 0) {
            ask(&a, (unsigned)atoi(value));
            continue;
        }
        answer(&a, line, value, got, sizeof got);
        cr_expect_str_eq(got, value, "%s: cpu%u %s is %s, not %s", folder, a.cpu, line, got,
                         value);
    }
    dg_arena_free(&a.arena);
    return lines;
}

Test(machines, expected)
{
    DIR *machines = opendir(SOURCE_ROOT "/tests/machines");
    size_t trees = 0;
    cr_assert(machines != NULL);
    for (struct dirent *entry; (entry = readdir(machines)) != NULL;) {
        char folder[PATH];
        if (entry->d_name[0] == '.' || strchr(entry->d_name, '.') != NULL)
            continue;
        dg_format(folder, sizeof folder, "%s/tests/machines/%s", SOURCE_ROOT, entry->d_name);
        cr_expect(check_tree(folder) > 4, "%s says too little", folder);
        trees++;
    }
    closedir(machines);
    cr_expect(trees >= 14, "%zu trees", trees);
}

/* ---- recording ---- */

static void remove_folder(const char *folder)
{
    char command[PATH];
    dg_format(command, sizeof command, "rm -rf '%s'", folder);
    cr_expect_eq(system(command), 0);
}

/* A tree of this machine says what the machine says, and again from the tree. */
Test(machines, a_recorded_tree_says_the_same)
{
    static struct asked here, there;
    char folder[] = "/tmp/dg-tree-XXXXXX";
    struct dg_tree_writer writer;
    struct dg_error e;
    cr_assert(mkdtemp(folder) != NULL);
    dg_arena_init(&here.arena);
    dg_host_system(&here.host, NULL);
    cr_assert(dg_tree_create(&writer, &here.host, folder, &here.arena, &e), "%s", e.rule);
    unsigned cpus = dg_survey(&writer.host, &here.arena);
    cr_assert(dg_tree_finish(&writer), "%s: %s", e.where, e.rule);
    cr_expect(cpus > 0 && writer.files > 4);
    cr_expect_not(dg_tree_create(&writer, &here.host, folder, &here.arena, &e), "not empty");
    open_tree(&there, folder);
    here.kind_count = dg_core_kinds(&here.host, here.kinds);
    cr_expect_eq(here.kind_count, there.kind_count);
    here.claims.arena = &here.arena;
    dg_claims_cpuid(&here.claims, &here.host);
    dg_claims_sysfs(&here.claims, &here.host, 0);
    for (size_t i = 0; i < here.claims.count; i++) {
        const struct dg_claim_row *row = &here.claims.row[i];
        double again = -1;
        for (size_t k = 0; k < there.claims.count; k++)
            if (strcmp(there.claims.row[k].key, row->key) == 0 &&
                strcmp(there.claims.row[k].claim.source, row->claim.source) == 0)
                again = there.claims.row[k].claim.value.number;
        cr_expect_eq(again, row->claim.value.number, "%s of %s", row->key, row->claim.source);
    }
    dg_conditions_read(&here.host, 0, &here.conditions);
    for (int i = 0; i < DG_CONDITION_COUNT; i++)
        if (dg_condition_rows[i].when == DG_CONDITION_ONCE &&
            dg_condition_rows[i].type == DG_CONDITION_TEXT)
            cr_expect(strcmp(here.conditions.at[i].text, there.conditions.at[i].text) == 0 ||
                      !here.conditions.at[i].known, "%s: %s, %s", dg_condition_rows[i].key,
                      here.conditions.at[i].text, there.conditions.at[i].text);
    remove_folder(folder);
    dg_arena_free(&here.arena);
    dg_arena_free(&there.arena);
}

/* ---- nothing personal ---- */

static const struct { const char *path, *text; } secrets[] = {
    { "/proc/cpuinfo", "processor\t: 0\nmodel name\t: x\nCPU part\t: 0xd03\nSerial\t: SECRET\n" },
    { "/proc/self/status", "Name:\tSECRET\nUid:\tSECRET\nVmSize:\t 10 kB\n" },
    { "/proc/self/cgroup", "1:name=systemd:/SECRET\n3:memory:/user.slice/SECRET\n0::/SECRET/b\n" },
    { "/proc/stat", "cpu0 1 2 3 4 5 6 7 8\nintr 12 SECRET\nctxt 5\nbtime SECRET\n" },
    { "/proc/meminfo", "MemAvailable: 100 kB\nHardwareCorrupted: SECRET\n" },
    { "/sys/fs/cgroup/memory/user.slice/SECRET/memory.limit_in_bytes", "1000\n" },
    { "/sys/fs/cgroup/SECRET/b/cpu.max", "max 100000\n" },
    { "/sys/devices/system/cpu/online", "0\n" },
};

static long secret_file(struct dg_host *host, const char *path, char *out, size_t size)
{
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (strcmp(secrets[i].path, path) == 0)
            return (long)dg_format(out, size, "%s", secrets[i].text);
    return -2;
}

static long no_folder(struct dg_host *host, const char *path, char *out, size_t size)
{
    return -2;
}

Test(machines, a_tree_holds_nothing_personal)
{
    char folder[] = "/tmp/dg-tree-XXXXXX", command[PATH], text[256];
    struct dg_host host, again;
    struct dg_arena arena;
    struct dg_tree_writer writer;
    struct dg_error e;
    const char *source;
    cr_assert(mkdtemp(folder) != NULL);
    dg_arena_init(&arena);
    dg_host_system(&host, NULL);
    host.read_file = secret_file;
    host.read_folder = no_folder;
    cr_assert(dg_tree_create(&writer, &host, folder, &arena, &e), "%s", e.rule);
    dg_survey(&writer.host, &arena);
    cr_assert(dg_tree_finish(&writer), "%s: %s", e.where, e.rule);
    dg_format(command, sizeof command, "! { find %s; grep -r '' %s; } | grep SECRET", folder,
              folder);
    cr_expect_eq(system(command), 0);
    dg_host_system(&again, folder);
    again.limit = no_limit;
    cr_expect_eq(dg_host_memory(&again, &source), 1000u, "groups are found by their new names");
    cr_expect_str_eq(source, "control group v1");
    cr_expect(dg_host_cpu_key(&again, 0, "CPU part", text, sizeof text));
    remove_folder(folder);
    dg_arena_free(&arena);
}

Test(machines, files_that_are_no_machine)
{
    static const struct { const char *text, *where; } rows[] = {
        { "", "" }, { "deepgemm-machine/2\n", "" }, { "deepgemm-machine/1\nxcr0 7\n", "" },
        { "deepgemm-machine/1\narchitecture x\nnonsense\n", ":3" },
        { "deepgemm-machine/1\naffinity 3-1\n", ":2" },
        { "deepgemm-machine/1\nhwcap 7 1\n", ":2" },
    };
    char folder[] = "/tmp/dg-tree-XXXXXX", path[PATH];
    struct dg_host host;
    struct dg_arena arena;
    struct dg_error e;
    cr_assert(mkdtemp(folder) != NULL);
    dg_format(path, sizeof path, "%s/machine", folder);
    dg_arena_init(&arena);
    dg_host_system(&host, folder);
    cr_expect_not(dg_tree_words(&host, folder, &arena, &e));
    cr_expect_eq(e.exit_code, 0, "a tree without words is one all the same");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FILE *file = fopen(path, "w");
        fputs(rows[i].text, file);
        fclose(file);
        cr_expect_not(dg_tree_words(&host, folder, &arena, &e), "row %zu", i);
        cr_expect_eq(e.exit_code, DG_EXIT_INPUT, "row %zu", i);
        cr_expect(strstr(e.where, rows[i].where) != NULL, "row %zu: %s", i, e.where);
    }
    remove_folder(folder);
    dg_arena_free(&arena);
}
