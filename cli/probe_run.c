/* SPDX-License-Identifier: Apache-2.0
 *
 * deepgemm-probe run: engine, probes, profile, files. */
#include <math.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/report.h"
#include "cli/probe.h"
#include "microbench/engine/engine.h"
#include "microbench/host/tree.h"
#include "probes/claims/collect.h"
#include "probes/environment.h"
#include "probes/probe.h"
#include "probes/replay.h"
#include "probes/run.h"
#include "profile/samples.h"
#include "profile/reader.h"
#include "profile/writer.h"

/* Generous beside the quiet time of a run, so that a noisy machine has room to wait. */
static const double default_budget = 150, quick_budget = 60, thorough_budget = 900;

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
    struct dg_probe_options asked;
    struct dg_probe_part part;                   /* of an earlier run, with --resume */
    struct dg_replay replay;
    struct dg_bench resumed;
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
    if (s->part.file != NULL && !s->replay.live)
        return;                                  /* that wait is over */
    s->host.pause(&s->host, (uint64_t)(seconds * 1e9));
}

/* ---- progress ---- */

static void progress(void *self, const struct dg_probe_progress *p)
{
    const struct session *s = self;
    if (dg_option_given(s->options, "progress")) {
        if (p->repeat == 1)
            fprintf(stderr, "%s, about %.0f s left\n", p->title, ceil(p->seconds_left));
    } else if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%u of %u: %s, repeat %u, about %.0f s left", p->done, p->of,
                p->title, p->repeat, ceil(p->seconds_left));
}

static void progress_done(const struct session *s)
{
    if (!dg_option_given(s->options, "progress") && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* ---- steps ---- */

/* Before minutes are spent: both files. */
static bool check_output(const char *path, struct dg_arena *arena, struct dg_error *e)
{
    const char *samples = dg_samples_path(path, arena);
    struct stat about;
    if (samples == NULL)
        return dg_fail_memory(e, "");
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

static double budget_of(const struct session *s)
{
    return dg_option_double(s->options, "budget", s->asked.quick ? quick_budget :
                            s->asked.thorough ? thorough_budget : default_budget);
}

/* The bench that goes on where an earlier run was broken off. */
static bool resume(struct session *s, struct dg_error *e)
{
    if (!dg_probe_part_fits(&s->part, s->bench.info, s->host.machine, e))
        return false;
    if (!dg_replay_init(&s->replay, s->part.file->rows,
                        dg_replay_measured(s->part.file->rows, s->part.file->row_count), s->arena))
        return dg_fail_memory(e, "");
    s->replay.then = &s->bench;
    s->resumed = dg_replay_bench(&s->replay, &s->part.info);
    return true;
}

/* Whose machine it is and what the system says of it. A run that goes on has what it knew then. */
static void describe(struct session *s)
{
    unsigned cpu = s->bench.info->cpu;
    const char *perf_help = dg_engine_state(&s->bench)->perf_help;
    dg_identify(&s->described, cpu, &s->identity);
    if (s->part.file != NULL)
        dg_replay_claims(s->part.file, &s->claims);
    else
        dg_claims_collect(&s->claims, &s->described, cpu, s->kinds, s->kind_count);
    dg_conditions_read(&s->described, cpu, &s->before);
    if (perf_help != NULL && is_forbidden(s->bench.info->perf)) {
        char text[320];
        dg_format(text, sizeof text, "%s: %s", s->bench.info->perf, perf_help);
        dg_warning_print("deepgemm-probe", text);
    }
}

/* Or nothing at all, which is a system that hides everything. */
static bool states_something(const char *sysroot)
{
    bool found = false, other = false;
    DIR *folder = opendir(sysroot);
    for (struct dirent *d; folder != NULL && (d = readdir(folder)) != NULL;) {
        found |= strcmp(d->d_name, "proc") == 0 || strcmp(d->d_name, "sys") == 0;
        other |= d->d_name[0] != '.';
    }
    if (folder != NULL)
        closedir(folder);
    return found || !other;
}

static bool open_bench(struct session *s, int cpu, struct dg_error *e)
{
    const struct dg_options *o = s->options;
    const char *sysroot = dg_option_text(o, "sysroot");
    struct stat about;
    /* An empty folder is a system that states nothing; a path that is none is a slip of the pen. */
    if (sysroot != NULL && (stat(sysroot, &about) != 0 || !S_ISDIR(about.st_mode)))
        return dg_fail(e, DG_EXIT_USAGE, "--sysroot", "must be a folder that can be read", sysroot,
                       "give the path of the folder above proc and sys");
    if (sysroot != NULL && !states_something(sysroot))
        return dg_fail(e, DG_EXIT_USAGE, "--sysroot", "holds neither proc nor sys", sysroot,
                       "give the folder that they are in (an empty one states nothing)");
    dg_host_system(&s->host, sysroot);
    s->described = s->host;
    if (sysroot != NULL && !dg_tree_words(&s->described, sysroot, s->arena, e) && e->exit_code != 0)
        return false;
    struct dg_engine_options engine = {
        .host = &s->host,
        .cpu = cpu,
        .budget_seconds = budget_of(s),
        .progress = go_on,
    };
    /* asked for before the engine pins this process to one CPU */
    s->kind_count = dg_core_kinds(&s->host, s->kinds);
    if (!open_engine(s, &engine, e))
        return false;
    s->claims.arena = s->recording.arena = s->arena;
    s->recorder = (struct dg_recorder){
        .inner = &s->bench, .recording = &s->recording, .interrupted = interrupted };
    if (s->part.file != NULL) {
        if (!resume(s, e))
            return false;
        s->recorder.inner = &s->resumed;
    }
    describe(s);
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
    struct dg_bench bench = dg_recording_bench(&s->recorder);
    struct dg_probe_options *asked = &s->asked;
    uint64_t start = s->host.monotonic_ns(&s->host);
    asked->pause = nap;
    asked->pause_self = s;
    asked->progress = progress;
    asked->progress_self = s;
    if (s->part.file == NULL) {
        asked->architecture = s->host.machine;
        asked->patience = 0.6 * s->bench.time_left(s->bench.self);
        asked->seed = start % 1000000007;
    }
    bool ok = dg_probes_run(&bench, &s->claims, asked, s->arena, &s->result, e);
    progress_done(s);
    if (!ok)
        return false;
    s->result.interrupted |= interrupted(NULL);
    s->result.incomplete |= s->result.interrupted;
    s->told = s->result.facts.count;
    struct dg_conditions after;
    dg_conditions_read(&s->described, s->bench.info->cpu, &after);
    dg_environment(&s->result.facts, &s->described, s->bench.info, &s->identity, &s->before,
                   &after);
    dg_facts_flag(&s->result.facts, "quick", asked->quick);
    dg_facts_flag(&s->result.facts, "thorough", asked->thorough);
    dg_facts_flag(&s->result.facts, "resumed", s->part.file != NULL);
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
        return dg_fail_memory(e, "");
    dg_identity_slug(&s->identity, kind != NULL && kind->value.text != NULL ? kind->value.text
                                                                            : "core", name);
    return dg_probe_profile(&s->result, name, s->host.machine, s->arena, &s->profile, e);
}

static bool write_samples(struct session *s, const char *path, struct dg_error *e)
{
    struct dg_replay_header header = {
        .info = s->recorder.inner->info, .options = &s->asked,
        .name = dg_profile_text(&s->profile, "name"),
        .environment = s->result.facts.fact + s->told,
        .environment_count = s->result.facts.count - s->told };
    struct dg_samples_file file;
    if (!dg_replay_pack(&header, &s->claims, &s->recording, s->arena, &file))
        return dg_fail_memory(e, path);
    return dg_samples_write(path, &file, e);
}

/* Whether what was measured must not take the place of what is there: an interrupted run never
 * does, and one that the budget ended before every probe had run not where there is a file. */
static bool stands_beside(const struct session *s, const char *path)
{
    return s->result.interrupted || (s->result.incomplete && access(path, F_OK) == 0);
}

/* A file that its own reader refuses is of no use to anybody, and better told now than later. */
static bool reads_back(struct session *s, const char *path, struct dg_error *e)
{
    struct dg_profile again;
    if (dg_profile_load(path, s->arena, &again, e))
        return true;
    if (e != NULL) {
        e->exit_code = DG_EXIT_INTERNAL;
        dg_format(e->todo, sizeof e->todo, "the file and its samples were written all the same: "
                  "report them, this is a fault of the probe");
    }
    return false;
}

/* FILE is always whole: a part stands beside it. */
static bool write_files(struct session *s, const char *path, struct dg_error *e)
{
    const char *part = dg_probe_part_path(path, s->arena);
    bool beside = stands_beside(s, path);
    const char *to = beside ? part : path;
    const char *samples = to != NULL ? dg_samples_path(to, s->arena) : NULL;
    if (samples == NULL)
        return dg_fail_memory(e, "");
    if (!write_samples(s, samples, e) || !dg_profile_save(to, &s->profile, e) ||
        !reads_back(s, to, e))
        return false;
    if (s->result.interrupted)
        fprintf(stderr, "deepgemm-probe: interrupted: what was measured so far is in %s; "
                "--resume goes on from it\n", to);
    else if (beside)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, path,
                       "a run that its budget ended does not replace a file", to,
                       "give a larger --budget, or go on from the part with --resume");
    else if (s->part.file != NULL)
        dg_probe_part_remove(path, s->arena);
    return true;
}

/* One core, to one file; path may be NULL. */
static bool run_one(const struct dg_options *options, const struct dg_probe_options *asked,
                    const char *path, int cpu, struct dg_error *e)
{
    struct session *s = dg_alloc(options->arena, sizeof *s);
    if (s == NULL)
        return dg_fail_memory(e, "");
    s->options = options;
    s->arena = options->arena;
    s->asked = *asked;
    bool ok = (path == NULL || check_output(path, s->arena, e)) &&
              (!dg_option_given(options, "resume") ||
               dg_probe_part_load(path, s->arena, &s->part, &s->asked, e)) &&
              open_bench(s, s->part.file != NULL ? s->part.cpu : cpu, e) &&
              measure(s, e) && build(s, e) && (path == NULL || write_files(s, path, e)) &&
              dg_probe_print(&s->profile, options, e);
    if (s->open)
        dg_engine_close(&s->bench);
    if (ok && s->result.interrupted)
        return dg_fail(e, DG_EXIT_INTERRUPTED, "", "interrupted", "", "run it again to the end");
    return ok;
}

/* ---- the command ---- */

static bool run_kinds(const struct dg_options *options, const struct dg_probe_options *asked,
                      struct dg_error *e)
{
    struct dg_core_kind kinds[DG_KINDS_MAX];
    struct dg_host host;
    dg_host_system(&host, dg_option_text(options, "sysroot"));
    size_t count = dg_core_kinds(&host, kinds);
    for (size_t i = 0; i < count; i++) {
        const char *path = dg_probe_kind_path(dg_option_text(options, "output"), kinds[i].name,
                                              options->arena);
        if (path == NULL)
            return dg_fail_memory(e, "");
        if (!run_one(options, asked, path, (int)kinds[i].first, e))
            return false;
    }
    return true;
}

/* Options that say the opposite of each other, or nothing without another. */
static bool check_options(const struct dg_options *options, struct dg_error *e)
{
    static const struct { const char *one, *other; bool needs; } rows[] = {
        { "quick", "thorough", false }, { "all-kinds", "cpu", false },
        { "all-kinds", "output", true }, { "resume", "output", true },
        { "resume", "quick", false }, { "resume", "thorough", false }, { "resume", "only", false },
        { "resume", "skip", false }, { "resume", "dry-run", false }, { "resume", "cpu", false },
        { "all-kinds", "json", false }, { "all-kinds", "resume", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char where[32], value[32];
        if (!dg_option_given(options, rows[i].one) ||
            dg_option_given(options, rows[i].other) == rows[i].needs)
            continue;
        dg_format(where, sizeof where, "--%s", rows[i].one);
        dg_format(value, sizeof value, "--%s", rows[i].other);
        return rows[i].needs ?
            dg_fail(e, DG_EXIT_USAGE, where, "needs another option", value, "give it too") :
            dg_fail(e, DG_EXIT_USAGE, where, "does not go with another option", value,
                    "leave one of them out");
    }
    return true;
}

static void dry_run(const struct dg_probe_options *asked, const bool *wanted)
{
    double all = 0;
    for (size_t i = 0; i < DG_PROBE_COUNT; i++) {
        double seconds = dg_probe_repeats(asked, i) * dg_probes[i].seconds;
        if (!wanted[i])
            continue;
        printf("%-10s %6.2f s  %s\n", dg_probes[i].id, seconds, dg_probes[i].title);
        all += seconds;
    }
    printf("%-10s %6.2f s  of quiet time, %s; waiting for quiet comes on top, up to --budget\n",
           "all", all, asked->quick ? "less with --quick" : "typically");
}

bool dg_probe_command_run(const struct dg_options *options, struct dg_error *e)
{
    bool wanted[DG_PROBE_COUNT];
    struct dg_probe_options asked = { .quick = dg_option_given(options, "quick"),
                                      .thorough = dg_option_given(options, "thorough") };
    if (!check_options(options, e))
        return false;
    if (dg_option_given(options, "only"))
        asked.only = dg_option_list(options, "only", &asked.only_count);
    if (dg_option_given(options, "skip"))
        asked.skip = dg_option_list(options, "skip", &asked.skip_count);
    if (!dg_probes_wanted(&asked, wanted, e))
        return false;
    if (dg_option_given(options, "dry-run")) {
        dry_run(&asked, wanted);
        return true;
    }
    block_interrupts();
    if (dg_option_given(options, "all-kinds"))
        return run_kinds(options, &asked, e);
    return run_one(options, &asked, dg_option_text(options, "output"),
                   dg_option_given(options, "cpu") ? (int)dg_option_u64(options, "cpu", 0) : -1, e);
}
