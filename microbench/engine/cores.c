/* SPDX-License-Identifier: Apache-2.0
 * Other CPUs than the measured one: a line handed back and forth, a chain on another kind of core,
 * memory that another node holds. The checks of the core's state do not apply to them; samples with
 * a context switch, a fault or a clock that moved are thrown away all the same. */
#include "microbench/engine/internal.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static bool is_allowed(const struct engine *e, unsigned cpu, const char *where,
                       struct dg_error *error)
{
    char value[32];
    if (dg_cpus_have(&e->allowed, cpu) && (e->info.pinned || cpu == e->info.cpu))
        return true;
    snprintf(value, sizeof value, "%u", cpu);
    return dg_fail(error, DG_EXIT_UNAVAILABLE, where, "a CPU that this process may be pinned to",
                   value, "run with more CPUs allowed");
}

static bool move_to(struct engine *e, unsigned cpu, struct dg_error *error)
{
    char value[64];
    int failed = cpu == e->info.cpu ? 0 : e->host.pin(&e->host, cpu);
    if (failed == 0)
        return true;
    snprintf(value, sizeof value, "%u: %s", cpu, dg_errno_name(failed));
    return dg_fail(error, DG_EXIT_UNAVAILABLE, "cores", "a CPU that can be pinned to", value,
                   "choose CPUs that are online");
}

static void move_back(struct engine *e, unsigned cpu)
{
    if (cpu != e->info.cpu)
        e->host.pin(&e->host, e->info.cpu);
    for (size_t i = 0; i < e->widths; i++)
        e->width[i].last.at_ns = 0;      /* the last checks are of another time */
}

/* One run between two chains of the CPU it runs on. */
static bool sample_here(struct engine *e, const struct work *work, double units,
                        struct dg_sample *out)
{
    const double clock_moved = 0.02;
    struct dg_usage usage[2];
    e->host.usage(&e->host, &usage[0]);
    double first = dg_chain_now(e), ticks = dg_work_ticks(e, work), second = dg_chain_now(e);
    e->host.usage(&e->host, &usage[1]);
    out->cycles = ticks / (0.5 * (first + second)) / units;
    out->ns = ticks * e->clock.ns_per_tick / units;
    return usage[0].switches == usage[1].switches && usage[0].faults == usage[1].faults &&
           fabs(first - second) <= clock_moved * first && ticks > 0;
}

static bool collect_here(struct engine *e, const struct work *work, double units,
                         struct dg_samples *out, struct dg_error *error)
{
    unsigned failures = 0;
    for (unsigned attempts = 0; out->count < out->capacity; attempts++) {
        enum go_on go = dg_request_next(e, attempts, failures, out->capacity, error);
        if (go == GO_FAIL)
            return false;
        if (go == GO_STOP)
            break;
        bool good = sample_here(e, work, units, &out->sample[out->count]);
        failures = good ? 0 : failures + 1;
        out->count += good;
        out->rejected += !good;
    }
    dg_samples_summary(out);
    return true;
}

/* ---- one line back and forth ---- */

enum { STOP = -1, ROUNDS = 256, PATIENT_SPINS = 1 << 26 };

struct pair {
    _Alignas(256) atomic_int turn;       /* odd: the partner's; even: ours; alone in its lines */
    _Alignas(256) struct dg_host *host;
    unsigned cpu;
    atomic_int pinned;                   /* 0 not yet, 1 yes, -errno */
    bool broken;                         /* the partner did not answer in time */
};

static void *partner(void *context)
{
    struct pair *p = context;
    int failed = p->host->pin(p->host, p->cpu);
    atomic_store(&p->pinned, failed != 0 ? -failed : 1);
    for (int turn = 0; failed == 0 && turn != STOP;) {
        turn = atomic_load_explicit(&p->turn, memory_order_acquire);
        if (turn > 0 && turn % 2 == 1)
            atomic_store_explicit(&p->turn, turn + 1, memory_order_release);
    }
    return NULL;
}

/* Both hand over once a round. A partner that is not running is not waited for without end. */
static void run_rounds(void *context, uint64_t rounds)
{
    struct pair *p = context;
    atomic_store_explicit(&p->turn, 0, memory_order_release);
    for (int i = 0; i < (int)rounds && !p->broken; i++) {
        int spins = 0;
        atomic_store_explicit(&p->turn, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(&p->turn, memory_order_acquire) != 2 * i + 2 &&
               ++spins < PATIENT_SPINS)
            continue;
        p->broken = spins >= PATIENT_SPINS;
    }
}

static bool hand_over(struct engine *e, struct pair *p, struct dg_samples *out,
                      struct dg_error *error)
{
    struct work work = {.run = run_rounds, .context = p, .amount = ROUNDS};
    run_rounds(p, ROUNDS);                       /* warm */
    bool ok = p->broken || collect_here(e, &work, 2.0 * ROUNDS, out, error);
    if (p->broken)
        ok = dg_fail(error, DG_EXIT_UNAVAILABLE, "handoff", "two threads that run at once",
                     "one does not answer", "run on a machine with both CPUs free");
    return ok;
}

static bool with_partner(struct engine *e, struct pair *p, struct dg_samples *out,
                         struct dg_error *error)
{
    pthread_t thread;
    char value[64];
    if (pthread_create(&thread, NULL, partner, p) != 0)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "handoff", "a second thread",
                       "pthread_create failed", "raise the limit on processes (ulimit -u)");
    int pinned;
    while ((pinned = atomic_load(&p->pinned)) == 0)
        e->host.pause(&e->host, 1000);
    bool ok = pinned > 0 && hand_over(e, p, out, error);
    if (pinned < 0) {
        snprintf(value, sizeof value, "%u: %s", p->cpu, dg_errno_name(-pinned));
        dg_fail(error, DG_EXIT_UNAVAILABLE, "handoff", "a CPU that can be pinned to", value,
                "choose CPUs that are online");
    }
    atomic_store(&p->turn, STOP);
    pthread_join(thread, NULL);
    return ok;
}

bool dg_engine_handoff(void *self, const struct dg_handoff *q, struct dg_samples *out,
                       struct dg_error *error)
{
    struct engine *e = self;
    dg_request_begin(e, out, 1);
    if (!is_allowed(e, q->a, "handoff", error) || !is_allowed(e, q->b, "handoff", error))
        return false;
    if (q->a == q->b)
        return dg_fail(error, DG_EXIT_INTERNAL, "handoff", "two different CPUs", "one", "");
    struct pair *p = aligned_alloc(_Alignof(struct pair), sizeof *p);
    if (p == NULL)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "handoff", "memory for a pair", "none left",
                       "free memory");
    *p = (struct pair){.host = e->clock.host, .cpu = q->b};
    bool ok = move_to(e, q->a, error) && with_partner(e, p, out, error);
    move_back(e, q->a);
    free(p);
    return ok;
}

/* ---- a chain on another CPU ---- */

struct visit_run { const struct dg_loop_entry *entry; void *block; };

static void run_loop(void *context, uint64_t trips)
{
    const struct visit_run *r = context;
    r->entry->run(trips, r->block);
}

bool dg_engine_visit(void *self, const struct dg_visit *q, struct dg_samples *out,
                     struct dg_error *error)
{
    struct engine *e = self;
    struct visit_run run = {.block = e->block};
    struct work work = {.run = run_loop, .context = &run, .amount = 1};
    dg_request_begin(e, out, 1);
    run.entry = dg_loop_find(&q->loop, e->info.features, e->info.feature_count);
    if (run.entry == NULL || q->loop.kind != DG_LOOP_LATENCY)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "visit", "a latency loop that runs here",
                       q->loop.op, "leave the operation out");
    if (!is_allowed(e, q->cpu, "visit", error) || !move_to(e, q->cpu, error))
        return false;
    run_loop(&run, 64);
    work.amount = dg_sample_amount(e, &work, UINT64_C(1) << 40);
    double units = (double)work.amount * run.entry->per_trip;
    bool ok = collect_here(e, &work, units, out, error);
    move_back(e, q->cpu);
    return ok;
}

/* ---- memory of another node ---- */

struct home {
    struct dg_host *host;
    unsigned cpu;
    unsigned char *at;
    uint64_t bytes;
    uint64_t loads;
    int failed;
};

enum { LINE_STEP = 256 };                /* loads are so far apart: no line takes two */

/* A ring through all places in random order (Sattolo), by the thread that thereby places them. */
static void *write_home(void *context)
{
    struct home *h = context;
    uint64_t random = 88172645463325252u;
    uint32_t *next;
    if ((h->failed = h->host->pin(h->host, h->cpu)) != 0)
        return NULL;
    h->loads = h->bytes / LINE_STEP;
    next = malloc(h->loads * sizeof *next);
    if (next == NULL) {
        h->failed = ENOMEM;
        return NULL;
    }
    for (uint64_t i = 0; i < h->loads; i++)
        next[i] = (uint32_t)i;
    for (uint64_t i = h->loads - 1; i > 0; i--) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t k = random % i;
        uint32_t kept = next[i];
        next[i] = next[k];
        next[k] = kept;
    }
    for (uint64_t i = 0; i < h->loads; i++)
        *(void **)(void *)(h->at + i * LINE_STEP) = h->at + (uint64_t)next[i] * LINE_STEP;
    free(next);
    return NULL;
}

struct remote_run { const struct dg_chase_entry *entry; void *at; };

static void run_chase(void *context, uint64_t trips)
{
    struct remote_run *r = context;
    r->at = r->entry->run(r->at, trips);
}

/* Never the same loads twice in a row: the ring is longer than all samples. */
static bool load_home(struct engine *e, const struct home *h, struct dg_samples *out,
                      struct dg_error *error)
{
    struct remote_run run = {
        dg_chase_find(false, e->info.features, e->info.feature_count), h->at};
    struct work work = {.run = run_chase, .context = &run, .amount = 1};
    if (run.entry == NULL)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "remote", "a load that runs here", "none",
                       "leave it out");
    work.amount = dg_sample_amount(e, &work, 64);
    return collect_here(e, &work, (double)work.amount * DG_CHASE_LOADS, out, error);
}

static bool fill_home(struct engine *e, struct home *h, struct dg_samples *out,
                      struct dg_error *error)
{
    pthread_t thread;
    char value[64];
    madvise(h->at, h->bytes, MADV_HUGEPAGE);
    if (pthread_create(&thread, NULL, write_home, h) != 0)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "remote", "a second thread",
                       "pthread_create failed", "raise the limit on processes (ulimit -u)");
    pthread_join(thread, NULL);
    if (h->failed == 0)
        return load_home(e, h, out, error);
    snprintf(value, sizeof value, "%u: %s", h->cpu, dg_errno_name(h->failed));
    return dg_fail(error, DG_EXIT_UNAVAILABLE, "remote", "a CPU and memory there", value,
                   "free memory, or choose CPUs that are online");
}

bool dg_engine_remote(void *self, const struct dg_remote *q, struct dg_samples *out,
                      struct dg_error *error)
{
    struct engine *e = self;
    const char *source;
    struct home h = {.host = e->clock.host, .cpu = q->home, .bytes = q->bytes / 4096 * 4096};
    dg_request_begin(e, out, 1);
    if (!is_allowed(e, q->home, "remote", error))
        return false;
    if (h.bytes < 1048576 || h.bytes > e->info.memory_limit ||
        h.bytes > dg_host_memory(&e->host, &source) / 2)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "remote", "new memory within the limits",
                       "too much", "allow more memory");
    h.at = mmap(NULL, h.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (h.at == MAP_FAILED)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "remote", "new memory", "none left",
                       "free memory");
    bool ok = fill_home(e, &h, out, error);
    munmap(h.at, h.bytes);
    return ok;
}
