/* SPDX-License-Identifier: Apache-2.0
 *
 * Files whole or not at all: limits, links, devices, full disks, half-written sets, kill. */
#include "base/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/npy.h"

static char folder[64];

static void enter_folder(void)
{
    strcpy(folder, "/tmp/dg-file-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL && chdir(folder) == 0);
}

static unsigned count_entries(const char *path, const char *part)
{
    unsigned count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;)
        count += strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
                 strstr(d->d_name, part) != NULL;
    if (dir != NULL)
        closedir(dir);
    return count;
}

static void leave_folder(void)
{
    DIR *dir = opendir(".");
    for (struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;)
        if (unlink(d->d_name) != 0)
            rmdir(d->d_name);
    if (dir != NULL)
        closedir(dir);
    cr_assert(chdir("/") == 0);
    rmdir(folder);
}

static bool holds(const char *path, const char *text)
{
    struct dg_arena arena;
    struct dg_error e;
    dg_arena_init(&arena);
    char *got = dg_file_read(path, 1 << 20, &arena, NULL, &e);
    bool same = got != NULL && strcmp(got, text) == 0;
    dg_arena_free(&arena);
    return same;
}

Test(file, reads, .init = enter_folder, .fini = leave_folder)
{
    struct dg_arena arena;
    struct dg_error e = { 0 };
    size_t size = 0;
    dg_arena_init(&arena);
    cr_expect(dg_file_read("none", 100, &arena, &size, &e) == NULL);
    cr_expect(e.exit_code == DG_EXIT_INPUT && strcmp(e.where, "none") == 0 && e.todo[0] != 0);
    cr_expect(dg_file_read(".", 100, &arena, &size, &e) == NULL && e.value[0] != 0);
    cr_expect(dg_file_write("empty", "", 0, &e));
    char *text = dg_file_read("empty", 0, &arena, &size, &e);
    cr_expect(text != NULL && size == 0 && text[0] == '\0');
    cr_expect(dg_file_write("ten", "0123456789", 10, &e));
    cr_expect(dg_file_read("ten", 9, &arena, &size, &e) == NULL);
    text = dg_file_read("ten", 10, &arena, &size, &e);
    cr_expect(text != NULL && size == 10 && memcmp(text, "0123456789", 11) == 0);
    cr_expect(dg_file_read("/dev/zero", 1 << 20, &arena, &size, &e) == NULL);
    cr_expect(dg_file_write("zero", "a\0b", 3, &e));
    cr_expect(dg_file_read("zero", 10, &arena, NULL, &e) == NULL);
    cr_expect(dg_file_read("zero", 10, &arena, &size, &e) != NULL && size == 3);
    char *large = calloc(1, 1 << 20);
    memset(large, 'x', 1 << 20);
    cr_expect(dg_file_write("large", large, 1 << 20, &e));
    text = dg_file_read("large", 1 << 20, &arena, &size, &e);
    cr_expect(text != NULL && size == 1 << 20 && memcmp(text, large, size) == 0);
    free(large);
    dg_arena_free(&arena);
}

/* A pipe without a writer must not be waited for; with one, all of it is read. */
Test(file, pipes, .init = enter_folder, .fini = leave_folder)
{
    struct dg_arena arena;
    struct dg_error e = { 0 };
    int ends[2], status;
    char path[64];
    dg_arena_init(&arena);
    cr_assert(mkfifo("idle", 0600) == 0);
    cr_expect(dg_file_read("idle", 100, &arena, NULL, &e) == NULL);
    cr_expect(e.exit_code == DG_EXIT_INPUT && strstr(e.rule, "pipe") != NULL && e.todo[0] != 0);

    cr_assert(pipe(ends) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    pid_t writer = fork();
    if (writer == 0) {
        char block[1000];
        memset(block, 'x', sizeof block);
        for (unsigned i = 0; i < 200; i++)
            if (write(ends[1], block, sizeof block) != (ssize_t)sizeof block)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    size_t size = 0;
    const char *text = dg_file_read(path, 1 << 20, &arena, &size, &e);
    cr_expect(text != NULL && size == 200000, "%zu %s", size, e.rule);
    cr_expect(waitpid(writer, &status, 0) == writer && status == 0);
    close(ends[0]);
    dg_arena_free(&arena);
}

Test(file, writes, .init = enter_folder, .fini = leave_folder)
{
    struct dg_error e = { 0 };
    struct stat st;
    cr_expect(dg_file_write("f", "one", 3, &e) && holds("f", "one"));
    chmod("f", 0640);
    cr_expect(dg_file_write("f", "two", 3, &e) && holds("f", "two"));
    cr_expect(stat("f", &st) == 0 && (st.st_mode & 0777) == 0640);
    cr_expect(symlink("f", "link") == 0);
    cr_expect(dg_file_write("link", "three", 5, &e) && holds("f", "three"));
    cr_expect(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
    static const struct { const char *path, *todo; bool late; } refused[] = {
        { "", "give a path", false }, { "no/such/folder/f", "make its folder", false },
        { ".", "a folder is there", false }, { "f/", "a folder is there", false },
        { "f/g", "a part of the path is a file", false }, { "/dev/full", "free some space", true },
        { "pipe", "start what reads", true },
    };
    cr_assert_eq(mkfifo("pipe", 0600), 0);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        e = (struct dg_error){ 0 };
        cr_expect(!dg_file_write(refused[i].path, "x", 1, &e), "%s", refused[i].path);
        cr_expect(e.exit_code == DG_EXIT_UNAVAILABLE && e.rule[0] != 0, "%s", refused[i].path);
        cr_expect(strstr(e.todo, refused[i].todo) != NULL, "%s: %s", refused[i].path, e.todo);
        cr_expect_eq(dg_file_check(refused[i].path, &e), refused[i].late, "%s", refused[i].path);
    }
    cr_expect(dg_file_check("f", &e) && dg_file_check("new", &e) && access("new", F_OK) != 0);
    cr_expect(dg_file_same("f", "./link") && !dg_file_same("f", "."));
    cr_expect(!dg_file_same("new", "new"));
    cr_expect(dg_file_write("/dev/null", "x", 1, &e) && stat("/dev/null", &st) == 0 &&
              S_ISCHR(st.st_mode));
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    cr_expect(dg_file_write(name, "x", 1, &e) && holds(name, "x"));
    cr_expect(dg_folder_make("a", &e) && dg_folder_make("a", &e) && dg_folder_make(".", &e));
    cr_expect(!dg_folder_make("f", &e) && strcmp(e.value, "a file") == 0);
    cr_expect(!dg_folder_make("f/g", &e) && strstr(e.todo, "a part of the path") != NULL);
    cr_expect(!dg_folder_make("", &e));
    cr_expect(count_entries(".", ".tmp") == 0 && count_entries(".", ".old") == 0);
}

/* /dev/stdout is the descriptor: what was there before stays, and so does the file's name. */
Test(file, stdout_is_appended_to, .init = enter_folder, .fini = leave_folder)
{
    struct dg_error e;
    fflush(stdout);
    int kept = dup(1);
    FILE *file = fopen("out", "w");
    dup2(fileno(file), 1);
    printf("before ");
    bool ok = dg_file_write("/dev/stdout", "during ", 7, &e);
    printf("after");
    bool done = dg_stdout_done(&e);
    dup2(kept, 1);
    cr_expect(ok && done && holds("out", "before during after"));
    int full = fileno(freopen("/dev/full", "w", file));
    dup2(full, 1);
    bool lost = !dg_file_write("/dev/stdout", "x", 1, &e);
    printf("x");
    bool told = !dg_stdout_done(&e);
    clearerr(stdout);
    dup2(kept, 1);
    cr_expect(lost && told);
    fclose(file);
    close(kept);
}

/* A file size limit stands for a full disk: the same calls fail in the same places. */
Test(file, full_disk_leaves_the_old_file, .init = enter_folder, .fini = leave_folder)
{
    struct dg_error e = { 0 };
    static char large[1 << 16];
    struct dg_file_part parts[] = { { "a", "A", 1 }, { "b", "B", 1 },
                                    { "c", large, sizeof large } };
    cr_assert(dg_file_write("a", "old a", 5, &e) && dg_file_write("c", "old c", 5, &e));
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = { 4096, RLIM_INFINITY }, none;
    getrlimit(RLIMIT_FSIZE, &none);
    setrlimit(RLIMIT_FSIZE, &limit);
    bool one = dg_file_write("c", large, sizeof large, &e);
    bool all = dg_file_write_all(parts, 3, &e);
    limit.rlim_cur = none.rlim_cur;
    setrlimit(RLIMIT_FSIZE, &limit);
    cr_expect(!one && !all && e.exit_code == DG_EXIT_UNAVAILABLE && strcmp(e.where, "c") == 0);
    cr_expect(strstr(e.todo, "ulimit -f") != NULL, "%s", e.todo);
    cr_expect(holds("a", "old a") && holds("c", "old c") && access("b", F_OK) != 0);
    cr_expect(count_entries(".", "") == 2);
}

Test(file, sets_are_all_or_none, .init = enter_folder, .fini = leave_folder)
{
    struct dg_error e = { 0 };
    struct dg_file_part parts[] = { { "a", "A", 1 }, { "b", "B", 1 }, { "d", "D", 1 } };
    cr_assert(dg_file_write("a", "old a", 5, &e) && dg_folder_make("d", &e));
    cr_expect(!dg_file_write_all(parts, 3, &e) && strcmp(e.where, "d") == 0);
    cr_expect(holds("a", "old a") && access("b", F_OK) != 0 && count_entries(".", "") == 2);
    cr_expect(rmdir("d") == 0 && dg_file_write_all(parts, 3, &e));
    cr_expect(holds("a", "A") && holds("b", "B") && holds("d", "D"));
    cr_expect(count_entries(".", "") == 3);
    cr_expect(dg_file_write_all(parts, 0, &e));
}

/* Kills a writer again and again at random moments: the file is always one of the two versions, and
 * a signal that can be held leaves nothing beside it. */
Test(file, kill_leaves_old_or_new, .init = enter_folder, .fini = leave_folder)
{
    static char versions[2][20000];
    struct dg_error e;
    struct dg_arena arena;
    memset(versions[0], '0', sizeof versions[0]);
    memset(versions[1], '1', sizeof versions[1]);
    cr_assert(dg_file_write("f", versions[0], sizeof versions[0], &e));
    for (unsigned round = 0; round < 50; round++) {
        pid_t child = fork();
        if (child == 0)
            for (unsigned i = 0;; i++)
                dg_file_write("f", versions[i % 2], sizeof versions[0], &e);
        usleep(200 + round * 37 % 900);
        kill(child, round < 25 ? SIGTERM : SIGKILL);
        waitpid(child, NULL, 0);
        cr_assert(round >= 25 || count_entries(".", "") == 1);
        size_t size = 0;
        dg_arena_init(&arena);
        char *text = dg_file_read("f", 1 << 20, &arena, &size, &e);
        cr_assert(text != NULL && size == sizeof versions[0]);
        cr_assert(memcmp(text, versions[text[0] == '1'], size) == 0);
        dg_arena_free(&arena);
    }
}

/* ---- sets: killed and at once ---- */

enum { PARTS = 4, NONE = -1, MIXED = -2 };
static const char *const part_names[PARTS] = { "k.s", "k.h", "k.o", "k.json" };

static bool write_generation(const char *text)
{
    struct dg_error e;
    struct dg_file_part parts[PARTS];
    for (size_t i = 0; i < PARTS; i++)
        parts[i] = (struct dg_file_part){ part_names[i], text, strlen(text) };
    return dg_file_write_all(parts, PARTS, &e);
}

/* The generation of the files there are, NONE or MIXED; *whole: all of them are there. */
static int generation(bool *whole)
{
    struct dg_arena arena;
    struct dg_error e;
    int found = NONE;
    *whole = true;
    dg_arena_init(&arena);
    for (size_t i = 0; i < PARTS; i++) {
        const char *text = dg_file_read(part_names[i], 100, &arena, NULL, &e);
        *whole &= text != NULL;
        if (text != NULL && found == NONE)
            found = text[0];
        else if (text != NULL && text[0] != found)
            found = MIXED;
    }
    dg_arena_free(&arena);
    return found;
}

/* A child that writes the set, stopped at its system calls (in and out) and killed at the one
 * numbered `last`; false: it came to its end before. */
static bool killed_at(unsigned last, bool *traced)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        raise(SIGSTOP);
        _exit(write_generation("new") ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    *traced = WIFSTOPPED(status);
    for (unsigned i = 0; WIFSTOPPED(status) && i < last; i++)
        if (ptrace(PTRACE_SYSCALL, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child)
            cr_assert(false, "the writer is lost");
    bool stopped = WIFSTOPPED(status);
    if (stopped) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    cr_assert(stopped || !*traced || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    return stopped;
}

/* At whatever system call a writer is killed: never two generations, never the last file without
 * the others, and the next writer leaves nothing of it. */
Test(file, sets_are_never_mixed, .init = enter_folder, .fini = leave_folder, .timeout = 120)
{
    bool whole, traced = true, again = true;
    unsigned seen_old = 0, seen_none = 0, seen_new = 0, left = 0;
    for (unsigned last = 1; again; last++) {
        cr_assert(write_generation("old"));
        cr_assert(count_entries(".", "") == PARTS, "after %u: %u", last, count_entries(".", ""));
        again = killed_at(last, &traced);
        if (!traced)
            break;
        int found = generation(&whole);
        cr_expect(found == 'o' || found == 'n' || found == NONE, "call %u: mixed", last);
        cr_expect(whole || access("k.json", F_OK) != 0, "call %u: the last without others", last);
        left += count_entries(".", ".k.") > 0;
        seen_old += found == 'o' && whole;
        seen_new += found == 'n' && whole;
        seen_none += !whole;
    }
    if (!traced) {
        leave_folder();
        cr_skip_test("a process may not trace its child here");
    }
    cr_expect(seen_old > 10 && seen_none > 10 && seen_new > 1 && left > 10, "%u %u %u %u",
              seen_old, seen_none, seen_new, left);
}

Test(file, one_set_at_a_time, .init = enter_folder, .fini = leave_folder, .timeout = 120)
{
    static const char *const texts[] = { "1", "2", "3" };
    struct dg_error e = { 0 };
    int held, other = 0, status;
    bool whole, all = true;
    cr_assert(dg_folder_lock(".", 1, &held, &e) && held >= 0);
    cr_expect(!dg_folder_lock(".", 0.02, &other, &e) && other == -1);
    cr_expect(e.exit_code == DG_EXIT_UNAVAILABLE && strstr(e.todo, "another folder") != NULL);
    close(held);
    pid_t writers[3];
    for (size_t i = 0; i < 3; i++) {
        writers[i] = fork();
        for (unsigned n = 0; writers[i] == 0 && n < 40; n++)
            if (!write_generation(texts[i]))
                _exit(1);
        if (writers[i] == 0)
            _exit(0);
    }
    for (size_t i = 0; i < 3; i++)
        all &= waitpid(writers[i], &status, 0) == writers[i] && status == 0;
    int found = generation(&whole);
    cr_expect(all && whole && found >= '1' && found <= '3', "generation %d", found);
    cr_expect(count_entries(".", "") == PARTS);
}

/* Only what a writer that is no more left, and only of the names that are written. */
Test(file, sweeps_what_is_left, .init = enter_folder, .fini = leave_folder)
{
    static const struct { const char *format; bool swept; } rows[] = {
        { ".k.json.%d.0.tmp", true }, { ".k.json.%d.17.old", true }, { ".k.json.%d.0.txt", false },
        { ".k.json.%d.0", false }, { ".other.%d.0.tmp", false }, { "k.json.%d.0.tmp", false },
        { ".k.json.%d.0.tmp.more", false }, { ".k.json.x%d.0.tmp", false },
    };
    struct dg_error e;
    char name[64];
    int status;
    pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    cr_assert(waitpid(gone, &status, 0) == gone);
    snprintf(name, sizeof name, rows[0].format, (int)getppid());
    cr_assert(dg_file_write(name, "", 0, &e));             /* of one that lives */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, rows[i].format, (int)gone);
        cr_assert(dg_file_write(name, "", 0, &e));
    }
    cr_assert(dg_file_write("k.json", "", 0, &e));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, rows[i].format, (int)gone);
        cr_expect_eq(access(name, F_OK) != 0, rows[i].swept, "%s", name);
    }
    snprintf(name, sizeof name, rows[0].format, (int)getppid());
    cr_expect(access(name, F_OK) == 0, "%s is of a process that lives", name);
}

static void expect_refused(const char *name, const void *bytes, size_t size, const char *found)
{
    struct dg_arena arena;
    struct dg_npy out;
    struct dg_error e = { 0 };
    dg_arena_init(&arena);
    cr_assert(dg_file_write("x.npy", bytes, size, &e));
    cr_expect(!dg_npy_read("x.npy", DG_NPY_F32, 1 << 20, &arena, &out, &e), "%s", name);
    cr_expect(e.exit_code == DG_EXIT_INPUT && strstr(e.value, found) != NULL, "%s: %s", name,
              e.value);
    dg_arena_free(&arena);
}

/* The bytes that numpy.save() writes for float32 [[1, 2, 3], [4, 5, 6]]. */
static size_t numpy_file(char *out, const char *header)
{
    static const float values[] = { 1, 2, 3, 4, 5, 6 };
    memcpy(out, "\x93NUMPY\1\0\x76\0", 10);
    memset(out + 10, ' ', 0x76);
    memcpy(out + 10, header, strlen(header));
    out[127] = '\n';
    memcpy(out + 128, values, sizeof values);
    return 128 + sizeof values;
}

Test(file, npy, .init = enter_folder, .fini = leave_folder)
{
    static const char right[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    char file[256], again[256];
    struct dg_arena arena;
    struct dg_npy array;
    struct dg_error e = { 0 };
    dg_arena_init(&arena);
    size_t size = numpy_file(file, right);
    cr_assert(dg_file_write("x.npy", file, size, &e));
    cr_assert(dg_npy_read("x.npy", DG_NPY_F32, 1 << 20, &arena, &array, &e), "%s %s", e.rule,
              e.value);
    cr_expect(array.dimension_count == 2 && array.dimension[0] == 2 && array.dimension[1] == 3);
    cr_expect(((const float *)array.data)[5] == 6.0f && array.size == 24);
    cr_assert(dg_npy_write("y.npy", &array, &e));
    FILE *f = fopen("y.npy", "rb");
    cr_expect(fread(again, 1, sizeof again, f) == size && memcmp(file, again, size) == 0);
    fclose(f);
    dg_arena_free(&arena);

    static const struct { const char *name, *header, *found; } rows[] = {
        { "doubles", "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", "<f8" },
        { "big endian", "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", ">f4" },
        { "Fortran", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "" },
        { "shape", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }", "24 bytes" },
        { "overflow",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296),}",
          "24 bytes" },
        { "twice", "{'descr': '<f4', 'descr': '<f4', 'shape': (2, 3), }", "descr" },
        { "lacking", "{'descr': '<f4', 'shape': (2, 3), }", "few" },
        { "struct", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }", "" },
        { "negative", "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size = numpy_file(file, rows[i].header);
        expect_refused(rows[i].name, file, size, rows[i].found);
    }
    size = numpy_file(file, right);
    for (size_t cut = 0; cut < size; cut++)
        expect_refused("cut", file, cut, "");
}
