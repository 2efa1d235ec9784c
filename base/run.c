/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/run.h"

/* What the child does before it becomes the program: a group of its own to be killed with, no
 * longer than its parent lives. */
static _Noreturn void become(const char *const *argv, int output, int told, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    int input = open("/dev/null", O_RDONLY);
    if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
        dup2(input, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2 &&
        sigprocmask(SIG_SETMASK, &none, NULL) == 0)
        execvp(argv[0], (char *const *)argv);
    int number = errno;
    (void)!write(told, &number, sizeof number);
    _exit(127);
}

/* 0 or an errno. */
static int start(const char *const *argv, int output, pid_t *pid)
{
    int told[2], number = 0;
    pid_t parent = getpid();
    if (pipe2(told, O_CLOEXEC) != 0)
        return errno;
    *pid = fork();
    if (*pid == 0)
        become(argv, output, told[1], parent);
    if (*pid < 0)
        number = errno;
    close(told[1]);
    if (*pid > 0 && read(told[0], &number, sizeof number) > 0)
        waitpid(*pid, NULL, 0);
    close(told[0]);
    return number;
}

/* Takes what the child writes until it closes its end or time is up; keeps the start of it. */
static void listen_until(int deadline, int input, struct dg_run *out)
{
    size_t kept = 0;
    char piece[1024];
    while (dg_deadline_read(deadline, input)) {
        ssize_t size = read(input, piece, sizeof piece);
        if (size <= 0)
            return;
        size_t room = sizeof out->output - 1 - kept;
        size_t take = (size_t)size < room ? (size_t)size : room;
        memcpy(out->output + kept, piece, take);
        kept += take;
    }
}

/* A child may close its output and live on, so the wait for its end has the same limit. */
static int run_until(int deadline, const char *const *argv, const int ends[2], struct dg_run *out)
{
    int status;
    pid_t pid = -1;
    int error = start(argv, ends[1], &pid);
    close(ends[1]);
    if (error == 0) {
        listen_until(deadline, ends[0], out);
        out->late = !dg_deadline_reap(deadline, pid, &status);
        out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    close(ends[0]);
    return error;
}

bool dg_run(const char *const *argv, unsigned limit_ms, struct dg_run *out, struct dg_error *e)
{
    int ends[2], deadline = dg_deadline_open(limit_ms / 1000.0);
    *out = (struct dg_run){ 0 };
    if (deadline < 0)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, argv[0], "needs a timer", strerror(errno),
                       "raise the limit of open files (ulimit -n)");
    if (pipe2(ends, O_CLOEXEC) != 0) {
        dg_fail(e, DG_EXIT_UNAVAILABLE, argv[0], "needs a pipe", strerror(errno),
                "raise the limit of open files (ulimit -n)");
        close(deadline);
        return false;
    }
    int error = run_until(deadline, argv, ends, out);
    close(deadline);
    return error == 0 || dg_fail(e, DG_EXIT_UNAVAILABLE, argv[0], "cannot be started",
                                 strerror(error), "install it, or name another program");
}

/* The first line that names an error, else the first with something in it. What a driver adds when
 * its linker failed says nothing. */
static const char *telling_line(const char *output, size_t *length)
{
    const char *best = NULL;
    size_t size;
    *length = 0;
    for (const char *line = output; *line != '\0'; line += size + (line[size] == '\n')) {
        size = strcspn(line, "\n");
        const char *found = strstr(line, "rror");
        bool tells = found != NULL && found < line + size &&
                     strncmp(line, "collect2:", sizeof "collect2:" - 1) != 0;
        if (size > 0 && (tells || best == NULL)) {
            best = line;
            *length = size;
        }
        if (tells)
            break;
    }
    return best;
}

void dg_run_words(const struct dg_run *run, const char *folder, char *out, size_t size)
{
    char text[256];
    size_t length, skip = folder != NULL ? strlen(folder) : 0;
    const char *line = telling_line(run->output, &length);
    if (line == NULL) {
        dg_format(text, sizeof text, "and it printed nothing");
    } else {
        if (skip > 0 && length > skip + 1 && strncmp(line, folder, skip) == 0) {
            line += skip + 1;
            length -= skip + 1;
        }
        length = length < sizeof text ? length : sizeof text - 1;
        memcpy(text, line, length);
        text[length] = '\0';
    }
    if (run->late)
        dg_format(out, size, "it did not end in time: %s", text);
    else if (run->status > 128)
        dg_format(out, size, "ended by signal %d%s%s", run->status - 128,
                  line != NULL ? ": " : " ", text);
    else
        dg_format(out, size, "exit status %d%s%s", run->status, line != NULL ? ": " : " ", text);
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
