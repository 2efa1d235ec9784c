/* SPDX-License-Identifier: Apache-2.0
 *
 * Other programs: what they did, and that a late one ends with all it started. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/run.h"

enum { LONG_MS = 60000, START_MS = 1000, SHORT_MS = 50 };

Test(run, ends_of_programs)
{
    static const struct { const char *script; unsigned limit; bool late; int status; } cases[] = {
        { "echo hello; exit 3", LONG_MS, false, 3 },
        { "echo hello >&2", LONG_MS, false, 0 },
        { "echo hello; kill -9 $$", LONG_MS, false, 128 + 9 },
        { "exec yes hello", SHORT_MS, true, 128 + 9 },
        { "exec tail -f /dev/null", SHORT_MS, true, 128 + 9 },
        { "exec tail -f /dev/null >/dev/null 2>&1", SHORT_MS, true, 128 + 9 },
        /* the program is gone, what it started holds its output */
        { "echo hello; tail -f /dev/null & exit 4", START_MS, true, 4 },
        { "echo hello; cat", LONG_MS, false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const argv[] = { "sh", "-c", cases[i].script, NULL };
        struct dg_run out;
        struct dg_error e = { 0 };
        cr_assert(dg_run(argv, cases[i].limit, &out, &e), "%s: %s", cases[i].script, e.value);
        cr_expect_eq(out.late, cases[i].late, "%s", cases[i].script);
        cr_expect_eq(out.status, cases[i].status, "%s: %d", cases[i].script, out.status);
        cr_expect(strncmp(out.output, "hello\n", 6) == 0 || cases[i].limit == SHORT_MS, "%s: %s",
                  cases[i].script, out.output);
    }
}

Test(run, words)
{
    static const struct { struct dg_run run; const char *folder, *words; } cases[] = {
        { { .status = 1 }, NULL, "exit status 1 and it printed nothing" },
        { { .status = 1, .output = "\n\n" }, NULL, "exit status 1 and it printed nothing" },
        { { .status = 0, .output = "fine" }, NULL, "exit status 0: fine" },
        { { .status = 2, .output = "k.s: Messages:\nk.s:3: Error: no such\nError: two\n" }, "/tmp",
          "exit status 2: k.s:3: Error: no such" },
        { { .status = 1, .output = "/tmp/x/k.s:3: error: no" }, "/tmp/x",
          "exit status 1: k.s:3: error: no" },
        { { .status = 1, .output = "ld: cannot write\ncollect2: error: ld returned 1\n" }, NULL,
          "exit status 1: ld: cannot write" },
        { { .status = 139 }, NULL, "ended by signal 11 and it printed nothing" },
        { { .status = 137, .late = true, .output = "hello" }, NULL,
          "it did not end in time: hello" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[128];
        dg_run_words(&cases[i].run, cases[i].folder, words, sizeof words);
        cr_expect_str_eq(words, cases[i].words);
        dg_run_words(&cases[i].run, cases[i].folder, words, 8);
        cr_expect(strlen(words) == 7 && strncmp(words, cases[i].words, 7) == 0);
    }
}

Test(run, not_started)
{
    static const char *const names[] = { "no-such-program", "/", "/dev/null" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const argv[] = { names[i], NULL };
        struct dg_run out;
        struct dg_error e = { 0 };
        cr_expect_not(dg_run(argv, LONG_MS, &out, &e), "%s", names[i]);
        cr_expect(e.todo[0] != '\0', "%s", names[i]);
        cr_expect(e.exit_code == DG_EXIT_UNAVAILABLE && strcmp(e.where, names[i]) == 0, "%s",
                  e.where);
        cr_expect_not(dg_run_finds(names[i]), "%s", names[i]);
    }
}
