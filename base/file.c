/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/number.h"

enum { LOCK_SECONDS = 10 };

static bool failed(struct dg_error *e, enum dg_exit code, const char *path, const char *rule,
                   int number, const char *todo)
{
    return dg_fail(e, code, path, rule, number == 0 ? "" : strerror(number), todo);
}

static const char *advice(int number, const char *otherwise)
{
    static const struct { int number; const char *todo; } rows[] = {
        { ENOENT, "make its folder first, or give another path" },
        { ENOTDIR, "a part of the path is a file: give another path" },
        { EISDIR, "a folder is there: give the path of a file" },
        { ENXIO, "start what reads from it first, or give another path" },
        { ENAMETOOLONG, "give a shorter name" },
        { ENOSPC, "free some space or write elsewhere; an existing file was left as it was" },
        { EDQUOT, "free some space or write elsewhere; an existing file was left as it was" },
        { EFBIG, "raise the limit of file sizes (ulimit -f); an existing file was left as it was" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == number)
            return rows[i].todo;
    return otherwise;
}

static bool not_written(struct dg_error *e, const char *path, const char *rule, int number)
{
    return failed(e, DG_EXIT_UNAVAILABLE, path, rule, number,
                  advice(number, "give a path that can be written; an existing file was left as it "
                                 "was"));
}

/* Reads to the end of fd into a buffer that doubles; NULL with errno, or with *too_large. fd does
 * not block until a writer of a pipe is known to be there: without one, the pipe reads as empty. */
static char *read_all(int fd, size_t limit, size_t *size, bool *too_large)
{
    size_t capacity = 4096, length = 0;
    char *out = malloc(capacity);
    while (out != NULL) {
        ssize_t got = read(fd, out + length, capacity - 1 - length);
        if (got == 0)
            break;
        if (got < 0 && (errno == EINTR || (errno == EAGAIN && fcntl(fd, F_SETFL, 0) == 0)))
            continue;
        length += got > 0 ? (size_t)got : 0;
        if (got < 0 || length > limit) {
            *too_large = got >= 0;
            free(out);
            return NULL;
        }
        if (length == capacity - 1) {
            char *grown = realloc(out, capacity *= 2);
            if (grown == NULL)
                free(out);
            out = grown;
        }
    }
    *size = length;
    return out;
}

char *dg_file_read(const char *path, size_t limit, struct dg_arena *arena, size_t *size,
                   struct dg_error *e)
{
    char *raw = NULL, *out = NULL;
    size_t length = 0;
    bool too_large = false;
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        failed(e, DG_EXIT_INPUT, path, "cannot be opened", errno, "give a file that can be read");
        return NULL;
    }
    raw = read_all(fd, limit, &length, &too_large);
    if (raw == NULL && too_large) {
        char text[DG_NUMBER_SIZE];
        dg_format(text, sizeof text, "more than %zu", limit);
        dg_fail(e, DG_EXIT_INPUT, path, "is larger than any file of this kind (bytes)", text,
                "give the right file");
    } else if (raw == NULL) {
        failed(e, DG_EXIT_INPUT, path, "cannot be read", errno, "give a file that can be read");
    } else if (length == 0 && fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode)) {
        dg_fail(e, DG_EXIT_INPUT, path, "is a pipe that nothing writes to", "",
                "give a file, or start the writer first");
    } else if (size == NULL && memchr(raw, '\0', length) != NULL) {
        dg_fail(e, DG_EXIT_INPUT, path, "must be a text", "a zero byte",
                "give a text file, saved as UTF-8");
    } else if ((out = dg_alloc(arena, length + 1)) == NULL) {
        dg_fail_memory(e, path);
    } else {
        memcpy(out, raw, length);
        if (size != NULL)
            *size = length;
    }
    free(raw);
    close(fd);
    return out;
}

/* 0 or an errno. */
static int write_all(int fd, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t done = write(fd, from, size < (1u << 30) ? size : (1u << 30));
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno;
        if (done == 0)
            return EIO;
        from += done;
        size -= (size_t)done;
    }
    return 0;
}

/* The descriptor that a path like /dev/stdout or /dev/fd/3 names, or -1. Opening such a path again
 * would lose the position and, with a rename, the file itself. */
static int descriptor_of(const char *path)
{
    static const char *const prefixes[] = { "/dev/fd/", "/proc/self/fd/" };
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        uint64_t fd;
        size_t length = strlen(prefixes[i]);
        if (strncmp(path, prefixes[i], length) == 0 &&
            dg_parse_u64_in(path + length, 0, INT_MAX, &fd, NULL))
            return (int)fd;
    }
    return -1;
}

static bool write_straight(const char *path, const void *bytes, size_t size, struct dg_error *e)
{
    int named = descriptor_of(path);
    if (named == STDOUT_FILENO)
        fflush(stdout);
    /* a pipe that nobody reads would be waited for without end */
    int fd = named >= 0 ? dup(named) : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return not_written(e, path, "cannot be opened for writing", errno);
    if (named < 0)
        fcntl(fd, F_SETFL, 0);
    int number = write_all(fd, bytes, size);
    if (close(fd) != 0 && number == 0)
        number = errno;
    return number == 0 || not_written(e, path, "cannot be written", number);
}

/* One file of a set on its way: the final path (links followed), the temporary beside it, and the
 * old file kept under another name until all renames are done. */
struct pending {
    char *target, *temporary, *kept;
    bool straight, old, removed, renamed;
    mode_t mode;
};

/* In the folder of the target, since rename needs the same file system. */
static char *beside(const char *target, const char *end, unsigned number)
{
    assert(target != NULL && "only files that are not written straight get here");
    const char *slash = strrchr(target, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - target) + 1;
    size_t size = strlen(target) + 64;
    char *out = malloc(size);
    if (out == NULL)
        return NULL;
    memcpy(out, target, folder);
    dg_folder_beside(target + folder, number, end, out + folder, size - folder);
    return out;
}

/* Follows links to the file that is meant; it need not exist, its folder must. */
static bool find_target(struct pending *p, const char *path, struct dg_error *e)
{
    struct stat st;
    if (path[0] == '\0' || path[strlen(path) - 1] == '/')
        return not_written(e, path, "must name a file", path[0] == '\0' ? 0 : EISDIR);
    if (descriptor_of(path) >= 0) {
        p->straight = true;
        return true;
    }
    p->old = stat(path, &st) == 0;
    if (p->old && S_ISDIR(st.st_mode))
        return not_written(e, path, "must name a file", EISDIR);
    p->straight = p->old && !S_ISREG(st.st_mode);
    if (p->straight)
        return true;
    if (!p->old && errno != ENOENT)
        return not_written(e, path, "cannot be written", errno);
    p->mode = p->old ? st.st_mode & 07777 : 0;
    if (p->old && access(path, W_OK) != 0)       /* a rename would get round a read-only file */
        return not_written(e, path, "cannot be written", errno);
    p->target = p->old ? realpath(path, NULL) : strdup(path);
    return p->target != NULL || not_written(e, path, "cannot be written", errno);
}

static int create_temporary(struct pending *p)
{
    for (unsigned number = 0; number < 1000; number++) {
        free(p->temporary);
        p->temporary = beside(p->target, "tmp", number);
        if (p->temporary == NULL)
            return -1;
        int fd = open(p->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static bool write_temporary(struct pending *p, const struct dg_file_part *part,
                            struct dg_error *e)
{
    int fd = create_temporary(p);
    if (fd < 0) {
        int number = errno;
        free(p->temporary);
        p->temporary = NULL;
        return not_written(e, part->path, "cannot be created", number);
    }
    int number = write_all(fd, part->bytes, part->size);
    if (number == 0 && p->mode != 0 && fchmod(fd, p->mode) != 0)
        number = errno;
    if (number == 0 && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        number = errno;
    if (close(fd) != 0 && number == 0)
        number = errno;
    return number == 0 || not_written(e, part->path, "cannot be written", number);
}

/* A second name for the old file, to put it back; not needed when it is the only one written. */
static bool keep_old(struct pending *p, const char *path, struct dg_error *e)
{
    for (unsigned number = 0; p->old && number < 1000; number++) {
        free(p->kept);
        p->kept = beside(p->target, "old", number);
        if (p->kept != NULL && link(p->target, p->kept) == 0)
            return true;
        if (p->kept == NULL || errno != EEXIST)
            break;
    }
    if (!p->old)
        return true;
    int number = errno;
    free(p->kept);
    p->kept = NULL;
    return not_written(e, path, "cannot be replaced", number);
}

/* The folder of a target; NULL: out of memory, or there is no target. */
static char *folder_of(const char *target)
{
    char *copy = target == NULL ? NULL : strdup(target);
    char *slash = copy == NULL ? NULL : strrchr(copy, '/');
    if (slash != NULL)
        slash[slash == copy] = '\0';
    else if (copy != NULL)
        dg_format(copy, 2, ".");
    return copy;
}

/* After a crash of the machine the folder must name the new file; not every file system can. */
static void flush_folder(const char *target)
{
    char *folder = folder_of(target);
    int fd = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

/* The last one first: it names the others, and without it they are no set. */
static bool remove_old(struct pending *p, const struct dg_file_part *parts, size_t count,
                       struct dg_error *e)
{
    for (size_t i = count; i-- > 0;) {
        if (p[i].straight || !p[i].old)
            continue;
        if (unlink(p[i].target) != 0)
            return not_written(e, parts[i].path, "cannot be replaced", errno);
        p[i].removed = true;
        flush_folder(p[i].target);
    }
    return true;
}

static bool rename_all(struct pending *p, const struct dg_file_part *parts, size_t count,
                       struct dg_error *e)
{
    for (size_t i = 0; i < count; i++) {
        if (p[i].straight)
            continue;
        if (rename(p[i].temporary, p[i].target) != 0)
            return not_written(e, parts[i].path, "cannot be replaced", errno);
        p[i].renamed = true;
        flush_folder(p[i].target);
    }
    return true;
}

static void put_back(struct pending *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((p[i].renamed || p[i].removed) && p[i].kept != NULL)
            (void)!rename(p[i].kept, p[i].target);
        else if (p[i].renamed && !p[i].old)
            unlink(p[i].target);
    }
}

static void sweep(const struct pending *p)
{
    if (p->target == NULL)                        /* not a file, or not found */
        return;
    char *folder = folder_of(p->target);
    const char *slash = strrchr(p->target, '/');
    if (folder != NULL)
        dg_folder_sweep(folder, slash == NULL ? p->target : slash + 1);
    free(folder);
}

/* A set is locked where its last file goes; a file alone is replaced in one step anyway. */
static bool lock_set(const struct dg_file_part *last, int *lock, struct dg_error *e)
{
    struct pending p = { 0 };
    bool ok = find_target(&p, last->path, e);
    if (ok && !p.straight) {
        char *folder = folder_of(p.target);
        ok = folder != NULL ? dg_folder_lock(folder, LOCK_SECONDS, lock, e)
                            : dg_fail_memory(e, last->path);
        free(folder);
    }
    free(p.target);
    return ok;
}

static void drop(struct pending *p)
{
    if (p->temporary != NULL && !p->renamed)
        unlink(p->temporary);
    if (p->kept != NULL)
        unlink(p->kept);
    free(p->temporary);
    free(p->kept);
    free(p->target);
}

/* The usual signals wait until no temporary file is left; not where a write may take long. */
static bool hold_signals(const struct pending *p, size_t count, sigset_t *before)
{
    sigset_t set;
    for (size_t i = 0; i < count; i++)
        if (p[i].straight)
            return false;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return pthread_sigmask(SIG_BLOCK, &set, before) == 0;
}

static bool write_parts(struct pending *p, const struct dg_file_part *parts, size_t count,
                        struct dg_error *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        if (!p[i].straight)
            ok = write_temporary(&p[i], &parts[i], e);
    for (size_t i = 0; ok && count > 1 && i < count; i++)
        if (!p[i].straight)
            ok = keep_old(&p[i], parts[i].path, e);
    for (size_t i = 0; ok && i < count; i++)
        if (p[i].straight)
            ok = write_straight(parts[i].path, parts[i].bytes, parts[i].size, e);
    if (ok && !((count < 2 || remove_old(p, parts, count, e)) && rename_all(p, parts, count, e))) {
        put_back(p, count);
        ok = false;
    }
    for (size_t i = 0; i < count; i++)
        drop(&p[i]);
    return ok;
}

/* Looks for what is there only when no other writer of the set can change it any more. */
bool dg_file_write_all(const struct dg_file_part *parts, size_t count, struct dg_error *e)
{
    int lock = -1;
    sigset_t before;
    struct pending *p = calloc(count == 0 ? 1 : count, sizeof *p);
    if (p == NULL)
        return dg_fail_memory(e, "");
    bool ok = count < 2 || lock_set(&parts[count - 1], &lock, e);
    for (size_t i = 0; ok && i < count; i++)
        ok = find_target(&p[i], parts[i].path, e);
    for (size_t i = 0; ok && i < count; i++)
        sweep(&p[i]);
    bool held = ok && hold_signals(p, count, &before);
    if (ok)
        ok = write_parts(p, parts, count, e);
    else
        for (size_t i = 0; i < count; i++)
            drop(&p[i]);
    if (held)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (lock >= 0)
        close(lock);
    free(p);
    return ok;
}

bool dg_file_write(const char *path, const void *bytes, size_t size, struct dg_error *e)
{
    struct dg_file_part part = { path, bytes, size };
    return dg_file_write_all(&part, 1, e);
}

bool dg_file_check(const char *path, struct dg_error *e)
{
    struct pending p = { 0 };
    bool ok = find_target(&p, path, e);
    if (ok && p.target != NULL) {                /* else written straight */
        char *slash = strrchr(p.target, '/');
        if (slash != NULL)
            slash[slash == p.target] = '\0';
        /* a file is replaced by another beside it, so its folder counts */
        ok = access(slash == NULL ? "." : p.target, W_OK | X_OK) == 0 ||
             not_written(e, path, "cannot be written", errno);
    }
    free(p.target);
    return ok;
}

bool dg_file_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool dg_folder_make(const char *path, struct dg_error *e)
{
    struct stat st;
    char *copy = strdup(path);
    if (copy == NULL)
        return dg_fail_memory(e, path);
    for (char *c = copy + (copy[0] != '\0'); *c != '\0'; c++) {
        if (*c == '/') {
            *c = '\0';
            mkdir(copy, 0777);               /* the last call below tells whether all went well */
            *c = '/';
        }
    }
    int number = mkdir(copy, 0777) == 0 ? 0 : errno;
    free(copy);
    /* "." and ".." and "/" say EEXIST, a trailing slash is fine */
    if (number == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return true;
    if (number == EEXIST)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, path, "must be a folder", "a file",
                       "choose another folder, or remove the file");
    return number == 0 || failed(e, DG_EXIT_UNAVAILABLE, path, "the folder cannot be made", number,
                                 advice(number, "give a folder that can be written"));
}

bool dg_stdout_done(struct dg_error *e)
{
    errno = 0;
    int number = ferror(stdout) ? EIO : 0;
    if (fflush(stdout) != 0)
        number = errno;
    if (number == 0 && fcntl(STDOUT_FILENO, F_GETFD) < 0)
        number = errno;                      /* closed before we began */
    /* closing shows what a network file system held back; dup keeps stdout usable for atexit */
    int copy = number == 0 ? dup(STDOUT_FILENO) : -1;
    if (copy >= 0 && close(copy) != 0)
        number = errno;
    return number == 0 || failed(e, DG_EXIT_UNAVAILABLE, "stdout", "cannot be written", number,
                                 "free some space or send the output elsewhere");
}
