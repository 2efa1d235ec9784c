/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 4096 };

const char *dg_signal_name(int number)
{
    static const struct { int number; const char *name; } names[] = {
        {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"}, {SIGFPE, "SIGFPE"},
        {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}, {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"},
        {SIGINT, "SIGINT"}, {SIGSYS, "SIGSYS"}, {SIGXCPU, "SIGXCPU"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return "signal";
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static _Noreturn void be_child(dg_child_start *start, void *argument, int out, pid_t parent)
{
    struct rlimit no_core = {0, 0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)     /* it went away before the line above */
        _exit(DG_EXIT_INTERRUPTED);
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    _exit(start(argument, out));
}

struct splitter {
    char text[LINE];
    size_t length;
    dg_child_line *line;
    void *context;
};

/* Hands on whole lines; one that is longer than the buffer is cut. */
static void split(struct splitter *s, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            s->text[s->length] = '\0';
            s->line(s->context, s->text);
            s->length = 0;
        } else if (s->length + 1 < sizeof s->text) {
            s->text[s->length++] = bytes[i];
        }
    }
}

/* True when the child closed its end in time. */
static bool listen(int input, double deadline, struct splitter *s)
{
    char piece[4096];
    for (;;) {
        double left = deadline - now();
        if (left <= 0)
            return false;
        struct pollfd ready = {.fd = input, .events = POLLIN};
        int count = poll(&ready, 1, left > 3600 ? 3600 * 1000 : (int)(left * 1000) + 1);
        if (count < 0 && errno != EINTR)
            return true;
        if (count <= 0)
            continue;
        ssize_t size = read(input, piece, sizeof piece);
        if (size == 0 || (size < 0 && errno != EINTR))
            return true;
        if (size > 0)
            split(s, piece, (size_t)size);
    }
}

static int reap(pid_t pid, double deadline, bool *late)
{
    int status = 0;
    while (!*late) {
        pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid || (done < 0 && errno != EINTR))
            return status;
        *late = now() >= deadline;
        poll(NULL, 0, 1);
    }
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

bool dg_child_run(dg_child_start *start, void *argument, double limit_seconds, dg_child_line *line,
                  void *context, struct dg_child_end *end, struct dg_error *e)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "verify", "needs a pipe", strerror(errno), NULL);
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return dg_fail(e, DG_EXIT_UNAVAILABLE, "verify", "needs a child process", strerror(errno),
                       "raise the limit of processes (ulimit -u)");
    }
    if (pid == 0) {
        close(ends[0]);
        be_child(start, argument, ends[1], parent);
    }
    close(ends[1]);
    struct splitter splitter = {.line = line, .context = context};
    double deadline = now() + limit_seconds;
    *end = (struct dg_child_end){.late = !listen(ends[0], deadline, &splitter)};
    close(ends[0]);
    int status = reap(pid, deadline, &end->late);
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return true;
}
