/* SPDX-License-Identifier: Apache-2.0
 * Streams on several CPUs at once: one thread on each, whose rates add up. */
#include "microbench/engine/stream.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Of longer arrays, a sample: while one member reads its clock, the others have all the memory. */
enum { SLICES = 8 };

struct crew {
    struct engine *e;
    unsigned threads, wanted;
    atomic_uint ready, done;
    atomic_bool stop;
};

struct member {
    struct crew *crew;
    struct stream_run *run;
    unsigned clock_moves;
    pthread_t thread;
    unsigned cpu, count;
    size_t rejected;
    double least[2][CHECKS];             /* of the scalar, the wide checks so far; 0: none yet */
    struct dg_sample *sample;            /* per byte */
};

/* What a check reads on a quiet core is known of the engine's own CPU only: here the least reading
 * of this request stands for it, and what is slower than that was disturbed. */
static bool is_quiet(struct member *m, bool wide, const struct checks *now)
{
    static const double limit[CHECKS] = {
        [CHECK_WIDE] = 1.04, [CHECK_PEAK] = 1.02, [CHECK_DELAY] = 1.02,
    };
    bool quiet = true;
    for (int i = 0; i < CHECKS; i++) {
        if (m->least[wide][i] == 0 || now->trip[i] < m->least[wide][i])
            m->least[wide][i] = now->trip[i];
        quiet = quiet && now->trip[i] <= limit[i] * m->least[wide][i];
    }
    return quiet;
}

/* Work between two chains of this core. What shares memory is no matter of the core's state, and
 * checks behind each sample would leave the memory to the others for so long. */
static bool member_sample(struct member *m, const struct work *work, struct dg_sample *out)
{
    struct engine *e = m->crew->e;
    const struct width *width = dg_width_in_turn(e, m->run->entry->bits, m->clock_moves);
    bool own_caches = m->run->walk.slice == 0;
    struct dg_host *host = e->clock.host;
    struct dg_usage before, after;
    dg_stream_move(e, m->run);
    host->usage(host, &before);
    double first = dg_wake(e, width), ticks = dg_work_ticks(e, work);
    double second = dg_chain_of(e, width);
    struct checks checks = {0};
    if (own_caches)
        checks = dg_checks_now(e, width, second);
    host->usage(host, &after);
    double bytes = dg_stream_bytes(m->run) * (double)work->amount;
    out->cycles = ticks / (0.5 * (first + second)) / bytes;
    out->ns = ticks * e->clock.ns_per_tick / bytes;
    bool stood = fabs(first - second) <= 0.01 * first;
    m->clock_moves = stood ? m->clock_moves - m->clock_moves % DG_CLOCK_MOVES : m->clock_moves + 1;
    return stood && before.switches == after.switches &&
           before.faults == after.faults && ticks > 0 && e->agree &&
           (!own_caches || is_quiet(m, width != &e->width[0], &checks));
}

/* Everybody goes on until everybody has enough, so that the load stays the same; bounded. */
static void *member_run(void *context)
{
    struct member *m = context;
    struct crew *crew = m->crew;
    struct engine *e = crew->e;
    struct dg_host *host = e->clock.host;
    struct work work = {.run = dg_stream_run, .context = m->run, .amount = 1};
    bool told = false;
    if (m->cpu != e->info.cpu)
        host->pin(host, m->cpu);
    dg_stream_warm(m->run);
    work.amount = m->run->walk.slice == 0 ? dg_stream_amount(e, &work, 1) : SLICES;
    atomic_fetch_add(&crew->ready, 1);
    while (atomic_load(&crew->ready) < crew->threads && !atomic_load(&crew->stop))
        sched_yield();
    for (unsigned i = 0; !atomic_load(&crew->stop); i++) {
        bool keep = m->count < crew->wanted;
        struct dg_sample sample;
        if (!member_sample(m, &work, &sample))
            m->rejected++;
        else if (keep)
            m->sample[m->count++] = sample;
        if (!told && (m->count >= crew->wanted || i > 8 * crew->wanted + 64 || !e->agree)) {
            told = true;
            atomic_fetch_add(&crew->done, 1);
        }
        if (atomic_load(&crew->done) >= crew->threads)
            break;
    }
    return NULL;
}

static int faster_first(const void *a, const void *b)
{
    const struct dg_sample *x = a, *y = b;
    return (x->cycles > y->cycles) - (x->cycles < y->cycles);
}

/* Rates add up: 1 / sum of 1 / (time per byte). In caches of their own nothing ties the samples of
 * two members together, so that the best of one belong to the best of the others. */
static void combine(struct member *members, unsigned threads, struct dg_samples *out)
{
    size_t count = out->capacity;
    for (unsigned t = 0; t < threads; t++) {
        count = members[t].count < count ? members[t].count : count;
        out->rejected += members[t].rejected;
        if (members[t].run->walk.slice == 0)
            qsort(members[t].sample, members[t].count, sizeof *members[t].sample, faster_first);
    }
    for (size_t i = 0; i < count; i++) {
        double cycles = 0, ns = 0;
        for (unsigned t = 0; t < threads; t++) {
            size_t at = i * members[t].count / count;
            cycles += 1 / members[t].sample[at].cycles;
            ns += 1 / members[t].sample[at].ns;
        }
        out->sample[i] = (struct dg_sample){1 / cycles, 1 / ns};
    }
    out->count = count;
    dg_samples_summary(out);
}

unsigned dg_next_cpu(const struct engine *e, unsigned *from)
{
    while (*from < DG_CPUS_MAX && (!dg_cpus_have(&e->allowed, *from) || *from == e->info.cpu))
        ++*from;
    return (*from)++;
}

/* This thread is the last member; the others start first. */
static bool run_crew(struct engine *e, struct crew *crew, struct member *members,
                     struct dg_error *error)
{
    unsigned started = 0, cpu = 0;
    bool ok = true;
    for (; started + 1 < crew->threads && ok; started += ok) {
        members[started].cpu = dg_next_cpu(e, &cpu);
        ok = pthread_create(&members[started].thread, NULL, member_run, &members[started]) == 0;
    }
    if (ok)
        member_run(&members[started]);
    else
        dg_fail(error, DG_EXIT_UNAVAILABLE, "stream", "a thread for each allowed CPU",
                "pthread_create failed", "raise the limit on processes (ulimit -u)");
    atomic_store(&crew->stop, true);
    for (unsigned i = 0; i < started; i++)
        pthread_join(members[i].thread, NULL);
    return ok;
}

bool dg_stream_crew(struct engine *e, const struct dg_stream *stream, unsigned threads,
                    struct dg_samples *out, struct dg_error *error)
{
    struct crew crew = {.e = e, .threads = threads, .wanted = (unsigned)out->capacity};
    dg_request_begin(e, out, 1);
    if (dg_request_next(e, 0, 0, out->capacity, error) == GO_FAIL)
        return false;
    struct stream_run *runs = calloc(threads, sizeof *runs);
    struct member *members = calloc(threads, sizeof *members);
    struct dg_sample *samples = calloc(threads * out->capacity, sizeof *samples);
    bool ok = runs != NULL && members != NULL && samples != NULL;
    if (!ok)
        dg_fail(error, DG_EXIT_UNAVAILABLE, "stream", "memory for the threads", "none left",
                "free memory");
    ok = ok && dg_stream_prepare(e, stream, threads, runs, error);
    for (unsigned i = 0; ok && i < threads; i++)
        members[i] = (struct member){.crew = &crew, .run = &runs[i], .cpu = e->info.cpu,
                                     .sample = samples + i * out->capacity};
    ok = ok && run_crew(e, &crew, members, error);
    if (ok)
        combine(members, threads, out);
    free(samples);
    free(members);
    free(runs);
    return ok;
}
