/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel keeps nothing between calls and nothing below its stack: threads that call it at once
 * and signals that arrive meanwhile change no bit. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verify/runner/internal.h"

enum { THREADS = 8, MOST_CALLS = 20000, SIGNALS = 200, MOST_SENT = 6000 };

struct caller {
    pthread_t thread;
    atomic_bool *go;             /* all start at once */
    struct dg_trial *run;
    unsigned char *a, *c, *want; /* a: A at lda; c, want: C at ldc, and what it must become */
    const void *b;
    bool started, wrong;
    uint64_t calls;
};

static uint64_t calls_within(const struct dg_trial *run, uint64_t callers)
{
    const struct dg_run_kernel *p = run->kernel;
    uint64_t calls = run->options->work / callers / (p->m * p->n * (p->k + 1) + 1000);
    return calls < 1 ? 1 : calls > MOST_CALLS ? MOST_CALLS : calls;
}

static size_t c_size(const struct dg_run_kernel *p)
{
    return (size_t)((p->m - 1) * p->ldc + p->n) * p->dtype->c->bytes;
}

static void set_c(const struct caller *caller)
{
    const struct dg_run_kernel *p = caller->run->kernel;
    size_t bytes = p->dtype->c->bytes, row = p->n * bytes;
    for (uint64_t i = 0; i < p->m; i++) {
        unsigned char *to = caller->c + i * p->ldc * bytes;
        if (p->beta)
            memcpy(to, caller->run->c + i * row, row);
        else
            memset(to, 0xFF, row);
    }
}

static bool result_fits(const struct caller *caller)
{
    return memcmp(caller->c, caller->want, c_size(caller->run->kernel)) == 0;
}

static void *call_many(void *argument)
{
    struct caller *caller = argument;
    while (!atomic_load(caller->go))
        sched_yield();
    for (uint64_t i = 0; i < caller->calls && !caller->wrong; i++) {
        set_c(caller);
        caller->run->kernel->call(caller->a, caller->b, caller->c);
        caller->wrong = !result_fits(caller);
    }
    return NULL;
}

/* Callers have the elements of A at other places, `shift` further, and so other results: a single
 * call tells which. */
static bool caller_open(struct caller *caller, struct dg_trial *run, const void *b, uint64_t shift)
{
    const struct dg_run_kernel *p = run->kernel;
    size_t bytes = p->dtype->a->bytes;
    uint64_t count = p->m * p->k;
    *caller = (struct caller){.run = run, .b = b};
    caller->a = calloc((size_t)(p->m * p->lda) + 1, bytes);
    caller->c = calloc(c_size(p), 1);
    caller->want = calloc(c_size(p), 1);
    if (caller->a == NULL || caller->c == NULL || caller->want == NULL)
        return false;
    for (uint64_t at = 0; at < count; at++)
        memcpy(caller->a + (at / p->k * p->lda + at % p->k) * bytes,
               run->a + (at + shift) % count * bytes, bytes);
    set_c(caller);
    p->call(caller->a, b, caller->c);
    memcpy(caller->want, caller->c, c_size(p));
    return true;
}

static void caller_close(struct caller *caller)
{
    free(caller->a);
    free(caller->c);
    free(caller->want);
}

static bool start_together(struct caller *callers, atomic_bool *go)
{
    bool ok = true;
    for (int i = 0; i < THREADS && ok; i++) {
        callers[i].go = go;
        ok = pthread_create(&callers[i].thread, NULL, call_many, &callers[i]) == 0;
        callers[i].started = ok;
    }
    atomic_store(go, true);
    return ok;
}

static void check_threads(struct dg_trial *run, const void *b)
{
    struct caller callers[THREADS] = {{0}};
    uint64_t calls = calls_within(run, THREADS);
    bool ok = true;
    atomic_bool go = false;
    dg_trial_at(run, "threads");
    for (int i = 0; i < THREADS && ok; i++) {
        ok = caller_open(&callers[i], run, b, (uint64_t)i);
        callers[i].calls = calls;
    }
    ok = ok && start_together(callers, &go);
    for (int i = 0; i < THREADS; i++) {
        if (callers[i].started)
            pthread_join(callers[i].thread, NULL);
        if (callers[i].wrong)
            dg_trial_bad(run, "thread %d of %d got another result than a single thread", i,
                         THREADS);
        caller_close(&callers[i]);
    }
    if (!ok)
        dg_trial_skip(run, "no memory or no thread: %d are wanted", THREADS);
    else
        dg_trial_ok(run, "%d threads, %llu calls each, different data", THREADS,
              (unsigned long long)calls);
}

/* ---- signals ---- */

/* What the handler and the thread that sends share; a handler has no argument. */
static atomic_uint arrived;
static atomic_bool done;

/* Scribbles over all that the interrupted code may not count on below its stack pointer; runs on
 * the stack of the fault handler. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    enum { DEPTH = 4096 };
    unsigned char *top = (unsigned char *)dg_context_stack(context) - DG_RED_ZONE;
    memset(top - DEPTH, 0xE1, DEPTH);
    atomic_fetch_add(&arrived, 1);
}

/* Signals that arrive together count once, so more are sent than are waited for; where each has to
 * wait for the kernel's scheduler, MOST_SENT take about half a second. */
static void *send_signals(void *argument)
{
    const pthread_t *target = argument;
    struct timespec pause = {.tv_nsec = 20 * 1000};
    for (unsigned sent = 0; sent < MOST_SENT && !atomic_load(&done); sent++) {
        pthread_kill(*target, SIGUSR1);
        nanosleep(&pause, NULL);
    }
    atomic_store(&done, true);
    return NULL;
}

static void check_signals(struct dg_trial *run, const void *b)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK};
    struct caller caller;
    pthread_t self = pthread_self(), sender;
    dg_trial_at(run, "signals");
    atomic_store(&arrived, 0);
    atomic_store(&done, false);
    sigaction(SIGUSR1, &action, NULL);
    if (!caller_open(&caller, run, b, 0)
        || pthread_create(&sender, NULL, send_signals, &self) != 0) {
        dg_trial_skip(run, "no memory or no thread");
        caller_close(&caller);
        return;
    }
    do {
        set_c(&caller);
        for (int i = 0; i < 64 && run->kernel->beta == 0 && run->kernel->m < 64; i++)
            run->kernel->call(caller.a, caller.b, caller.c);
        run->kernel->call(caller.a, caller.b, caller.c);
        caller.wrong = !result_fits(&caller);
    } while (!caller.wrong && atomic_load(&arrived) < SIGNALS && !atomic_load(&done));
    atomic_store(&done, true);
    pthread_join(sender, NULL);
    signal(SIGUSR1, SIG_IGN);
    if (caller.wrong)
        dg_trial_bad(run, "the result changes when a signal arrives: it keeps data below the stack "
               "pointer");
    dg_trial_ok(run, "%u signals while it ran", atomic_load(&arrived));
    caller_close(&caller);
}

void dg_check_shared(struct dg_trial *run)
{
    struct dg_operands o = dg_run_place(run, DG_PLACE_END, NULL);
    check_threads(run, o.b);
    check_signals(run, o.b);
}
