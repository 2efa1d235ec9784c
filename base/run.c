/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/run.h"

extern char **environ;

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int start(const char *const *argv, int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, output, 2);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    if (error == 0)
        error = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Takes what the child writes until it closes its end or time is up; keeps the start of it. */
static bool listen_until(int input, uint64_t end, struct dg_run *out)
{
    size_t kept = 0;
    char piece[1024];
    for (;;) {
        uint64_t now = now_ms();
        struct pollfd ready = { .fd = input, .events = POLLIN };
        int count = now < end ? poll(&ready, 1, (int)(end - now)) : 0;
        if (count == 0)
            return false;
        if (count < 0) {
            if (errno == EINTR)
                continue;
            return true;
        }
        ssize_t size = read(input, piece, sizeof piece);
        if (size <= 0)
            return true;
        size_t room = sizeof out->output - 1 - kept;
        size_t take = (size_t)size < room ? (size_t)size : room;
        memcpy(out->output + kept, piece, take);
        kept += take;
    }
}

/* A child may close its output and live on, so the wait has the same limit. */
static bool wait_until(pid_t pid, uint64_t end, int *status)
{
    for (;;) {
        pid_t done = waitpid(pid, status, WNOHANG);
        if (done == pid)
            return true;
        if (done < 0 && errno != EINTR) {
            *status = 255 << 8;
            return true;
        }
        if (now_ms() >= end)
            return false;
        poll(NULL, 0, 1);
    }
}

bool dg_run(const char *const *argv, unsigned limit_ms, struct dg_run *out, struct dg_error *e)
{
    int ends[2], status = 0;
    pid_t pid;
    *out = (struct dg_run){ 0 };
    if (pipe2(ends, O_CLOEXEC) != 0)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, argv[0], "needs a pipe", strerror(errno), NULL);
    uint64_t end = now_ms() + limit_ms;
    int error = start(argv, ends[1], &pid);
    close(ends[1]);
    if (error == 0) {
        bool closed = listen_until(ends[0], end, out);
        if (!closed || !wait_until(pid, end, &status)) {
            out->late = true;
            kill(-pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        }
        out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    close(ends[0]);
    if (error != 0)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, argv[0], "cannot be started", strerror(error),
                       NULL);
    return true;
}

static bool can_run(const char *path)
{
    struct stat status;
    return access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool dg_run_finds(const char *name)
{
    if (strchr(name, '/') != NULL)
        return can_run(name);
    for (const char *at = getenv("PATH"); at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ":");
        char path[4096];
        if (length > 0 && length < sizeof path) {
            dg_format(path + length, sizeof path - length, "/%s", name);
            memcpy(path, at, length);
            if (can_run(path))
                return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}
