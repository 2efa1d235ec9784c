/* SPDX-License-Identifier: Apache-2.0
 *
 * deepgemm-probe run: engine, probes, profile, files. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/probe.h"
#include "base/report.h"
#include "microbench/engine/engine.h"
#include "microbench/host/tree.h"
#include "probes/claims/collect.h"
#include "probes/environment.h"
#include "probes/replay.h"
#include "probes/run.h"
#include "profile/samples.h"
#include "profile/writer.h"

/* Generous beside the quiet time of a run, so that a noisy machine has room to wait. */
static const double default_budget = 150, quick_budget = 60;

struct session {
    const struct dg_options *options;
    struct dg_arena *arena;
    struct dg_host host;
    struct dg_host described;                    /* whose machine the claims are about */
    struct dg_conditions before;
    struct dg_bench bench;
    struct dg_claims claims;
    struct dg_recording recording;
    struct dg_recorder recorder;
    struct dg_identity identity;
    struct dg_probe_result result;
    size_t told;                                 /* facts of the result that its samples tell */
    struct dg_profile profile;
    uint64_t seed;                               /* of the order of probes */
    double patience;
    struct dg_core_kind kinds[DG_KINDS_MAX];
    size_t kind_count;
    bool open;
};

/* ---- interrupts: blocked, and looked for between and within requests ---- */

static void block_interrupts(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static bool interrupted(void *self)
{
    sigset_t set;
    (void)self;
    return sigpending(&set) == 0 &&
           (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1);
}

static bool go_on(void *self, double seconds)
{
    (void)seconds;
    return !interrupted(self);
}

static void nap(void *self, double seconds)
{
    struct session *s = self;
    s->host.pause(&s->host, (uint64_t)(seconds * 1e9));
}

/* ---- progress ---- */

static void progress(void *self, const char *title, unsigned repeat, unsigned done, unsigned of)
{
    (void)self;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%u of %u: %s, repeat %u", done, of, title, repeat);
}

static void progress_done(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* ---- steps ---- */

/* Before minutes are spent: both files. */
static bool check_output(const char *path, struct dg_arena *arena, struct dg_error *e)
{
    const char *samples = dg_samples_path(path, arena);
    struct stat about;
    if (samples == NULL)
        return dg_fail(e, DG_EXIT_INTERNAL, "", "out of memory", "", "free some memory");
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return dg_fail(e, DG_EXIT_USAGE, "--output", "must be a file that others can stand beside",
                       path, "to print the profile use --json");
    return dg_file_check(path, e) && dg_file_check(samples, e);
}

/* The next CPU of the same kind that this process may use. */
static int next_cpu(const struct session *s, unsigned cpu)
{
    for (size_t k = 0; k < s->kind_count; k++) {
        const struct dg_cpus *cpus = &s->kinds[k].cpus;
        if (!dg_cpus_have(cpus, cpu))
            continue;
        for (unsigned n = 1; n <= DG_CPUS_MAX; n++)
            if (dg_cpus_have(cpus, (cpu + n) % DG_CPUS_MAX))
                return (int)((cpu + n) % DG_CPUS_MAX);
    }
    return (int)cpu;
}

/* Share of samples that are accepted: what others leave of this core. */
static double quiet_share(const struct dg_bench *bench)
{
    enum { SAMPLES = 24 };
    struct dg_sample sample[SAMPLES];
    struct dg_samples s = { .sample = sample, .capacity = SAMPLES };
    struct dg_loop loop = { .kind = DG_LOOP_LATENCY, .op = "ref.multiply" };
    if (!bench->loop(bench->self, &loop, &s, NULL) || s.count == 0)
        return 0;
    return (double)s.count / (double)(s.count + s.rejected);
}

/* Opens the engine on the asked CPU, or on the quieter of the allowed ones: other tenants disturb
 * one core and not the next. A core that is disturbed from the first moment on gives chains that do
 * not agree, and nothing can be measured then: try again for a while. */
static bool open_engine(struct session *s, struct dg_engine_options *options, struct dg_error *e)
{
    enum { TRIES = 6 };
    const double good = 0.7;
    const uint64_t nap_ns = 1000000000;
    bool asked = options->cpu >= 0;
    double best = -1;
    int best_cpu = options->cpu;
    for (int i = 0; i < TRIES; i++) {
        s->open = dg_engine_open(options, &s->bench, e);
        if (!s->open || s->bench.info->emulated || interrupted(NULL))
            return s->open;
        double share = dg_engine_state(&s->bench)->agree ? quiet_share(&s->bench) : 0;
        if (share >= good || i + 1 == TRIES)
            break;
        if (share > best) {
            best = share;
            best_cpu = (int)s->bench.info->cpu;
        }
        int next = asked ? options->cpu : next_cpu(s, s->bench.info->cpu);
        /* all have been looked at: the best of them, later */
        if (i == TRIES - 2)
            next = best_cpu;
        dg_engine_close(&s->bench);
        s->open = false;
        options->cpu = next;
        if (i % 2 == 1)
            s->host.pause(&s->host, nap_ns);
    }
    return s->open;
}

/* A setting that the user may change; that nothing counts here is no news to him. */
static bool is_forbidden(const char *perf)
{
    return strstr(perf, "EACCES") != NULL || strstr(perf, "EPERM") != NULL;
}

static bool open_bench(struct session *s, struct dg_error *e)
{
    const struct dg_options *o = s->options;
    bool quick = dg_option_given(o, "quick");
    const char *sysroot = dg_option_text(o, "sysroot");
    struct stat about;
    /* An empty folder is a system that states nothing; a path that is none is a slip of the pen. */
    if (sysroot != NULL && (stat(sysroot, &about) != 0 || !S_ISDIR(about.st_mode)))
        return dg_fail(e, DG_EXIT_USAGE, "--sysroot", "must be a folder that can be read", sysroot,
                       "give the folder above proc and sys");
    dg_host_system(&s->host, sysroot);
    s->described = s->host;
    if (sysroot != NULL && !dg_tree_words(&s->described, sysroot, s->arena, e) && e->exit_code != 0)
        return false;
    struct dg_engine_options engine = {
        .host = &s->host,
        .cpu = dg_option_given(o, "cpu") ? (int)dg_option_u64(o, "cpu", 0) : -1,
        .budget_seconds = dg_option_double(o, "budget", quick ? quick_budget : default_budget),
        .progress = go_on,
    };
    /* asked for before the engine pins this process to one CPU */
    s->kind_count = dg_core_kinds(&s->host, s->kinds);
    if (!open_engine(s, &engine, e))
        return false;
    s->claims.arena = s->recording.arena = s->arena;
    s->recorder = (struct dg_recorder){
        .inner = &s->bench, .recording = &s->recording, .interrupted = interrupted };
    unsigned cpu = s->bench.info->cpu;
    const char *perf_help = dg_engine_state(&s->bench)->perf_help;
    dg_identify(&s->described, cpu, &s->identity);
    dg_claims_collect(&s->claims, &s->described, cpu, s->kinds, s->kind_count);
    dg_conditions_read(&s->described, cpu, &s->before);
    if (perf_help != NULL && is_forbidden(s->bench.info->perf)) {
        char text[320];
        dg_format(text, sizeof text, "%s: %s", s->bench.info->perf, perf_help);
        dg_warning_print("deepgemm-probe", text);
    }
    return true;
}

/* What the checks around every sample say about who shares this core. */
static void engine_facts(struct session *s)
{
    const double quiet = 5, busy = 50;
    struct dg_facts *f = &s->result.facts;
    const struct dg_engine_state *state = dg_engine_state(&s->bench);
    double shared = (double)(state->rejected_peak + state->rejected_wide + state->rejected_delay);
    double other = (double)(state->rejected_clock + state->rejected_usage);
    double all = (double)state->accepted + shared + other;
    double percent = all > 0 ? 100 * shared / all : 0;
    dg_facts_number(f, "waited_seconds", (double)(long)(state->waited_seconds * 10 + 0.5) / 10);
    dg_facts_number(f, "accepted", (double)state->accepted);
    dg_facts_number(f, "rejected", shared + other);
    dg_facts_number(f, "shared_percent", (double)(long)(percent * 10 + 0.5) / 10);
    dg_facts_text(f, "core_state", all <= 0 || !state->agree ? NULL : percent < quiet ? "quiet" :
                  percent < busy ? "shared at times" : "shared most of the time");
    dg_facts_text(f, "perf_help", state->perf_help);
}

static bool measure(struct session *s, struct dg_error *e)
{
    size_t only_count = 0;
    struct dg_bench bench = dg_recording_bench(&s->recorder);
    struct dg_probe_options options = {
        .architecture = s->host.machine, .quick = dg_option_given(s->options, "quick"),
        .pause = nap, .pause_self = s, .progress = progress };
    s->patience = options.patience = 0.6 * s->bench.time_left(s->bench.self);
    uint64_t start = s->host.monotonic_ns(&s->host);
    if (dg_option_given(s->options, "only")) {
        options.only = dg_option_list(s->options, "only", &only_count);
        options.only_count = only_count;
    }
    s->seed = options.seed = start % 1000000007;
    bool ok = dg_probes_run(&bench, &s->claims, &options, s->arena, &s->result, e);
    progress_done();
    if (!ok)
        return false;
    s->result.interrupted |= interrupted(NULL);
    s->result.incomplete |= s->result.interrupted;
    s->told = s->result.facts.count;
    struct dg_conditions after;
    dg_conditions_read(&s->described, s->bench.info->cpu, &after);
    dg_environment(&s->result.facts, &s->described, s->bench.info, &s->identity, &s->before,
                   &after);
    dg_facts_flag(&s->result.facts, "quick", options.quick);
    dg_facts_flag(&s->result.facts, "incomplete", s->result.incomplete);
    double seconds = (double)(s->host.monotonic_ns(&s->host) - start) / 1e9;
    dg_facts_number(&s->result.facts, "seconds", (double)(long)(seconds * 10 + 0.5) / 10);
    engine_facts(s);
    return true;
}

static bool build(struct session *s, struct dg_error *e)
{
    char *name = dg_alloc(s->arena, DG_IDENTITY_SIZE);
    const struct dg_answer *kind = dg_answers_find(&s->result.answers, "core_kind");
    if (name == NULL)
        return dg_fail(e, DG_EXIT_INTERNAL, "", "out of memory", "", "free some memory");
    dg_identity_slug(&s->identity, kind != NULL && kind->value.text != NULL ? kind->value.text
                                                                            : "core", name);
    return dg_probe_profile(&s->result, name, s->host.machine, s->arena, &s->profile, e);
}

/* hardware.json gives hardware.incomplete.json. */
static const char *incomplete_path(const char *path, struct dg_arena *arena)
{
    size_t length = strlen(path);
    char *out = dg_alloc(arena, length + 24);
    if (out == NULL)
        return NULL;
    if (length > 5 && strcmp(path + length - 5, ".json") == 0)
        length -= 5;
    memcpy(out, path, length);
    strcpy(out + length, ".incomplete.json");
    return out;
}

static bool write_samples(struct session *s, const char *path, struct dg_error *e)
{
    struct dg_replay_header header = {
        .info = s->bench.info, .architecture = s->host.machine, .seed = s->seed,
        .patience = s->patience, .quick = dg_option_given(s->options, "quick"),
        .name = dg_profile_text(&s->profile, "name"),
        .environment = s->result.facts.fact + s->told,
        .environment_count = s->result.facts.count - s->told };
    struct dg_samples_file file;
    if (dg_option_given(s->options, "only"))
        header.only = dg_option_list(s->options, "only", &header.only_count);
    if (!dg_replay_pack(&header, &s->claims, &s->recording, s->arena, &file))
        return dg_fail(e, DG_EXIT_INTERNAL, path, "out of memory", "", "free some memory");
    return dg_samples_write(path, &file, e);
}

/* An interrupted run never takes the place of a whole file. */
static bool write_files(struct session *s, const char *path, struct dg_error *e)
{
    if (s->result.interrupted && access(path, F_OK) == 0)
        path = incomplete_path(path, s->arena);
    const char *samples = path != NULL ? dg_samples_path(path, s->arena) : NULL;
    if (samples == NULL)
        return dg_fail(e, DG_EXIT_INTERNAL, "", "out of memory", "", "free some memory");
    if (!write_samples(s, samples, e) ||
        !dg_profile_save(path, &s->profile, e))
        return false;
    if (s->result.interrupted)
        fprintf(stderr, "deepgemm-probe: interrupted: what was measured so far is in %s\n", path);
    return true;
}

bool dg_probe_command_run(const struct dg_options *options, struct dg_error *e)
{
    struct session *s = dg_alloc(options->arena, sizeof *s);
    const char *path = dg_option_text(options, "output");
    if (s == NULL)
        return dg_fail(e, DG_EXIT_INTERNAL, "", "out of memory", "", "free some memory");
    s->options = options;
    s->arena = options->arena;
    bool ok = (path == NULL || check_output(path, s->arena, e)) &&
              (block_interrupts(), open_bench(s, e)) &&
              measure(s, e) && build(s, e) && (path == NULL || write_files(s, path, e)) &&
              dg_probe_print(&s->profile, options, e);
    if (s->open)
        dg_engine_close(&s->bench);
    if (ok && s->result.interrupted)
        return dg_fail(e, DG_EXIT_INTERRUPTED, "", "interrupted", "", "run it again to the end");
    return ok;
}
