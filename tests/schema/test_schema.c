/* SPDX-License-Identifier: Apache-2.0
 *
 * The committed schema is what the tables give, and the reader judges its cases alike. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "profile/reader.h"
#include "profile/schema.h"

Test(schema, committed_copy_is_current)
{
    struct dg_arena arena;
    struct dg_error e;
    struct dg_str made;
    dg_arena_init(&arena);
    dg_str_init(&made, NULL);
    dg_schema_render(&made);
    char *committed = dg_file_read(SOURCE_ROOT "/profile/hardware.schema.json", 1 << 20, &arena,
                                   NULL, &e);
    cr_assert_not_null(committed);
    cr_expect(strcmp(committed, dg_str_text(&made)) == 0,
              "run hardware-schema > profile/hardware.schema.json");
    dg_str_free(&made);
    dg_arena_free(&arena);
}

static void judge(const char *folder, unsigned *good, unsigned *bad)
{
    char path[512];
    DIR *dir = opendir(folder);
    cr_assert_not_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const char *end = strrchr(entry->d_name, '.');
        if (end == NULL || strcmp(end, ".json") != 0)
            continue;
        struct dg_arena arena;
        struct dg_profile p;
        struct dg_error e;
        bool expected = strncmp(entry->d_name, "bad-", 4) != 0;
        dg_arena_init(&arena);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        bool ok = dg_profile_load(path, &arena, &p, &e);
        cr_expect_eq(ok, expected, "%s: %s", path, ok ? "accepted" : e.rule);
        ++*(expected ? good : bad);
        dg_arena_free(&arena);
    }
    closedir(dir);
}

Test(schema, reader_judges_alike)
{
    unsigned good = 0, bad = 0;
    judge(SOURCE_ROOT "/tests/schema/cases", &good, &bad);
    cr_expect(good >= 6 && bad >= 25, "%u good, %u bad", good, bad);
    judge(SOURCE_ROOT "/tests/profiles", &good, &bad);
}
