/* SPDX-License-Identifier: Apache-2.0
 * Opening and closing: host, CPU, clock, memory, chains, counters, in that order. */
#include "microbench/engine/engine.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "microbench/engine/internal.h"

/* The CPU asked for, or the one we are on, or the first allowed. */
static bool choose_cpu(struct engine *e, int wanted, struct dg_error *error)
{
    char value[16], list[128], todo[200];
    const char *source;
    dg_host_allowed(&e->host, &e->allowed, &source);
    e->info.cpus = dg_cpus_count(&e->allowed);
    dg_cpus_format(&e->allowed, e->cpu_list, sizeof e->cpu_list);
    if (strlen(e->cpu_list) + 1 == sizeof e->cpu_list)   /* cut: whole ranges only */
        *strrchr(e->cpu_list, ',') = '\0';
    e->info.cpu_list = e->cpu_list;
    int cpu = wanted >= 0 ? wanted : e->host.current_cpu(&e->host);
    if (wanted < 0 && (cpu < 0 || !dg_cpus_have(&e->allowed, (unsigned)cpu)))
        for (cpu = 0; !dg_cpus_have(&e->allowed, (unsigned)cpu);)
            cpu++;
    if (!dg_cpus_have(&e->allowed, (unsigned)cpu)) {
        snprintf(value, sizeof value, "%d", cpu);
        dg_cpus_format(&e->allowed, list, sizeof list);
        snprintf(todo, sizeof todo, "choose one of the CPUs this process may use: %s", list);
        return dg_fail(error, DG_EXIT_USAGE, "--cpu", "must be an allowed CPU", value, todo);
    }
    e->info.cpu = (unsigned)cpu;
    int failed = e->host.pin(&e->host, e->info.cpu);
    e->info.pinned = failed == 0;
    if (failed != 0 && wanted >= 0) {
        snprintf(value, sizeof value, "%d: %s", cpu, dg_errno_name(failed));
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "--cpu",
                       "must be a CPU that the system lets us pin to", value,
                       "choose another CPU that is online");
    }
    return true;
}

static void read_features(struct engine *e)
{
    struct dg_feature_words words;
    dg_features_read(&e->host, &words);
    e->info.feature_count = dg_features_decode(e->host.machine, &words, e->features);
    e->info.features = e->features;
    e->info.emulated = dg_host_emulated(&e->host, NULL);
}

/* 20 000 cycles, and a thousand clock steps as far as that stays short. */
static void choose_length(struct engine *e)
{
    const double cycles = 20000, steps = 1000, most_ns = 2e6;
    double step_ns = e->clock.step_ticks * e->clock.ns_per_tick;
    double by_steps = fmin(steps * step_ns, fmax(most_ns, 4 * step_ns));
    double ns_per_cycle = dg_chain_now(e) * e->clock.ns_per_tick;
    e->target_ns = fmax(cycles * ns_per_cycle, by_steps);
}

static void open_times(struct engine *e, const struct dg_engine_options *options)
{
    double patience = options->patience_seconds > 0 ? options->patience_seconds : 0.25;
    e->patience_ns = (uint64_t)(patience * 1e9);
    e->opened_ns = e->host.monotonic_ns(&e->host);
    if (options->budget_seconds > 0)
        e->deadline_ns = e->opened_ns + (uint64_t)(options->budget_seconds * 1e9);
    e->progress = options->progress;
    e->progress_context = options->progress_context;
}

static double time_left(void *self)
{
    const struct engine *e = self;
    struct dg_host *host = e->clock.host;
    if (e->deadline_ns == 0)
        return -1;
    return fmax(0, ((double)e->deadline_ns - (double)host->monotonic_ns(host)) * 1e-9);
}

static bool open_parts(struct engine *e, const struct dg_engine_options *options,
                       struct dg_error *error)
{
    if (!choose_cpu(e, options->cpu, error))
        return false;
    read_features(e);
    if (!dg_clock_open(&e->clock, &e->host, error) || !dg_arena_open(e, options, error) ||
        !dg_chains_open(e, error))
        return false;
    choose_length(e);
    e->info.time_source = e->clock.name;
    e->info.tick_ns = e->clock.step_ticks * e->clock.ns_per_tick;
    e->state.tick_hz = 1e9 / e->clock.ns_per_tick;
    e->info.cycle_source = "chains";
    e->info.perf = "not tried";
    if (!options->no_perf)
        dg_counter_open(e);
    return true;
}

bool dg_engine_open(const struct dg_engine_options *options, struct dg_bench *out,
                    struct dg_error *error)
{
    struct engine *e = calloc(1, sizeof *e);
    if (e == NULL)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "memory", "room for the engine", "none left",
                       "free memory");
    if (options->host != NULL)
        e->host = *options->host;
    else
        dg_host_system(&e->host, NULL);
    open_times(e, options);
    *out = (struct dg_bench){
        .self = e, .info = &e->info, .mix = dg_engine_mix, .time_left = time_left,
#define REQUEST(name) .name = dg_engine_##name,
#include "microbench/requests.def"
#undef REQUEST
    };
    if (!open_parts(e, options, error)) {
        dg_engine_close(out);
        return false;
    }
    return true;
}

void dg_engine_close(struct dg_bench *bench)
{
    struct engine *e = bench->self;
    if (e != NULL) {
        /* The next engine, and whatever this program starts, may use every CPU again. */
        if (e->info.pinned && e->host.unpin != NULL)
            e->host.unpin(&e->host, &e->allowed);
        dg_counter_close(e);
        dg_arena_close(e);
    }
    free(e);
    *bench = (struct dg_bench){0};
}

const struct dg_engine_state *dg_engine_state(const struct dg_bench *bench)
{
    const struct engine *e = bench->self;
    return &e->state;
}

struct outside { void (*work)(void *context); void *context; };

static void run_outside(void *context, uint64_t amount)
{
    const struct outside *o = context;
    (void)amount;
    o->work(o->context);
}

bool dg_engine_time(const struct dg_bench *bench, unsigned bits, void (*run)(void *context),
                    void *context, struct dg_sample *out)
{
    struct outside outside = {run, context};
    struct work work = {.run = run_outside, .context = &outside, .amount = 1, .bits = bits};
    return dg_sample_once(bench->self, &work, out);
}

/* Interruptions do not count: no usage is ever seen. */
static void no_usage(struct dg_host *host, struct dg_usage *out)
{
    (void)host;
    *out = (struct dg_usage){0};
}

bool dg_engine_time_long(const struct dg_bench *bench, unsigned bits, void (*run)(void *context),
                         void *context, struct dg_sample *out)
{
    struct engine *e = bench->self;
    void (*usage)(struct dg_host *, struct dg_usage *) = e->host.usage;
    e->host.usage = no_usage;
    e->long_work = true;
    bool quiet = dg_engine_time(bench, bits, run, context, out);
    e->long_work = false;
    e->host.usage = usage;
    return quiet;
}
