/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/deadline.h"

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

/* Until the child closes its end, or time is up. */
static void listen(int deadline, int input, struct splitter *s)
{
    char piece[4096];
    while (dg_deadline_read(deadline, input)) {
        ssize_t size = read(input, piece, sizeof piece);
        if (size == 0 || (size < 0 && errno != EINTR))
            return;
        if (size > 0)
            split(s, piece, (size_t)size);
    }
}

static bool needs(const char *rule, const char *todo, struct dg_error *e)
{
    return dg_fail(e, DG_EXIT_UNAVAILABLE, "verify", rule, strerror(errno), todo);
}

static bool run_until(int deadline, dg_child_start *start, void *argument,
                      struct splitter *splitter, struct dg_child_end *end, struct dg_error *e)
{
    int ends[2], status;
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return needs("needs a pipe", NULL, e);
    pid_t pid = fork();
    if (pid < 0) {
        needs("needs a child process", "raise the limit of processes (ulimit -u)", e);
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (pid == 0) {
        close(deadline);
        close(ends[0]);
        be_child(start, argument, ends[1], parent);
    }
    close(ends[1]);
    listen(deadline, ends[0], splitter);
    close(ends[0]);
    end->late = !dg_deadline_reap(deadline, pid, &status);
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return true;
}

bool dg_child_run(dg_child_start *start, void *argument, double limit_seconds, dg_child_line *line,
                  void *context, struct dg_child_end *end, struct dg_error *e)
{
    struct splitter splitter = {.line = line, .context = context};
    int deadline = dg_deadline_open(limit_seconds);
    *end = (struct dg_child_end){0};
    if (deadline < 0)
        return needs("needs a timer", NULL, e);
    bool ok = run_until(deadline, start, argument, &splitter, end, e);
    close(deadline);
    return ok;
}
