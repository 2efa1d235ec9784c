/* SPDX-License-Identifier: Apache-2.0
 * Hardware counters: which one is asked for, on trial, refused or nonsense. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/perf_event.h>

#include "opened.h"

/* A chip with two kinds of core; the process runs on CPU 5. */
static long two_pmus(struct dg_host *host, const char *path, char *out, size_t size)
{
    static const struct { const char *path, *text; } files[] = {
        {"/sys/bus/event_source/devices/cpu_core/cpus", "0-3\n"},
        {"/sys/bus/event_source/devices/cpu_core/type", "4\n"},
        {"/sys/bus/event_source/devices/cpu_atom/cpus", "4-7\n"},
        {"/sys/bus/event_source/devices/cpu_atom/type", "10\n"},
    };
    (void)host;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].path, path) == 0)
            return snprintf(out, size, "%s", files[i].text);
    return -ENOENT;
}

static long event_sources(struct dg_host *host, const char *path, char *out, size_t size)
{
    (void)host;
    return strcmp(path, "/sys/bus/event_source/devices") == 0
               ? snprintf(out, size, "software\ncpu_core\nuncore_imc_0\ncpu_atom\n") : -ENOENT;
}

static uint64_t asked_config;
static uint32_t asked_type;

static int look(struct dg_host *host, struct perf_event_attr *attributes, int cpu, int group)
{
    (void)host, (void)cpu, (void)group;
    asked_config = attributes->config;
    asked_type = attributes->type;
    return -ENOENT;
}

static int pin_nowhere(struct dg_host *host, unsigned cpu)
{
    (void)host, (void)cpu;
    return 0;
}

static void unpin_nowhere(struct dg_host *host, const struct dg_cpus *cpus)
{
    (void)host, (void)cpus;
}

Test(counters, the_counter_of_the_pinned_kind)
{
    static const struct { const char *machine; uint32_t type; uint64_t config; } rows[] = {
        {"x86_64", PERF_TYPE_HARDWARE, UINT64_C(10) << 32 | PERF_COUNT_HW_CPU_CYCLES},
        {"aarch64", 10, 0x11},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_host host;
        struct dg_bench bench;
        struct dg_error error = {0};
        struct dg_engine_options options = {.host = &host, .cpu = 5, .memory = SMALL};
        dg_host_system(&host, NULL);
        if (strcmp(host.machine, rows[i].machine) != 0)
            continue;                    /* the loops are those of this machine */
        host.read_file = two_pmus;
        host.read_folder = event_sources;
        host.get_affinity = fake_mask;
        host.pin = pin_nowhere;
        host.unpin = unpin_nowhere;
        host.perf_open = look;
        cr_assert(dg_engine_open(&options, &bench, &error), "%s", error.rule);
        cr_expect_eq(asked_type, rows[i].type);
        cr_expect_eq(asked_config, rows[i].config);
        dg_engine_close(&bench);
    }
}

/* A kernel that opens and reads counters as the row says. Descriptor 7 leads, 8 is its member. */
enum { LEADER = 7, MEMBER = 8 };
struct counters {
    int open_leader, open_member;        /* errno, 0: opened */
    int read_error;
    double cycles_factor;                /* over what a chain of known length takes */
    uint64_t running;                    /* parts of a hundred of the time */
    bool idle_member;                    /* the group never runs */
    const char *text;                    /* that info.perf must hold */
};
static struct counters counters;
static int open_now;
static bool member_open;

static int open_counter(struct dg_host *host, struct perf_event_attr *attributes, int cpu,
                        int group)
{
    (void)host, (void)attributes;
    cr_expect_eq(cpu, -1);
    int refused = group < 0 ? counters.open_leader : counters.open_member;
    if (refused != 0)
        return -refused;
    open_now++;
    member_open |= group == LEADER;
    return group < 0 ? LEADER : MEMBER;
}

static int read_counter(struct dg_host *host, int descriptor, uint64_t out[3])
{
    (void)host;
    cr_assert(descriptor == LEADER || (descriptor == MEMBER && member_open));
    if (counters.read_error != 0)
        return counters.read_error;
    uint64_t now = real_ns();
    out[0] = (uint64_t)(counters.cycles_factor * (double)(now % 1000000000000));
    out[1] = now;
    out[2] = counters.idle_member && member_open ? 0 : now / 100 * counters.running;
    return 0;
}

static void close_counter(struct dg_host *host, int descriptor)
{
    (void)host;
    open_now--;
    member_open &= descriptor != MEMBER;
}

/* Refusals, shares and nonsense: named, survived, nothing left open, cycles from chains. */
Test(counters, counters_by_name_and_by_trial)
{
    static const struct counters rows[] = {
#define REFUSED(name) {.open_leader = name, .text = "cycles: " #name}
        REFUSED(EACCES), REFUSED(EPERM), REFUSED(ENOENT), REFUSED(ENOSYS), REFUSED(EOPNOTSUPP),
        REFUSED(EMFILE), REFUSED(ENFILE), REFUSED(ENODEV), REFUSED(ENXIO), REFUSED(EINVAL),
        REFUSED(E2BIG), REFUSED(EBUSY), REFUSED(ENOSPC), REFUSED(EBADF), REFUSED(EFAULT),
        REFUSED(EINTR), REFUSED(ENOMEM), REFUSED(ESRCH), REFUSED(EOVERFLOW), REFUSED(EAGAIN),
#undef REFUSED
        {.open_leader = 999, .text = "errno 999"},
        {.cycles_factor = 1e-3, .running = 100, .text = "counts"},       /* something else */
        {.cycles_factor = 0, .running = 100, .text = "cycles: opened, but counts 0 of"},
        {.cycles_factor = 3, .running = 50, .text = "does not count all the time"},
        {.cycles_factor = 3, .running = 0, .text = "does not count all the time"},
        {.read_error = EIO, .text = "reading fails: EIO"},
        {.open_member = ENOSPC, .cycles_factor = 1e-3, .running = 100, .text = "counts"},
        {.open_member = EINVAL, .read_error = ENODEV, .text = "reading fails: ENODEV"},
        {.idle_member = true, .cycles_factor = 1e-3, .running = 100, .text = "counts"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_host host;
        dg_host_system(&host, NULL);
        counters = rows[i];
        open_now = 0;
        host.perf_open = open_counter;
        host.perf_read = read_counter;
        host.perf_close = close_counter;
        struct dg_bench bench = open_with(&host, 0);
        const struct dg_engine_state *state = dg_engine_state(&bench);
        cr_expect_str_eq(bench.info->cycle_source, "chains", "row %zu", i);
        if (state->agree || rows[i].open_leader != 0)
            cr_expect(strstr(bench.info->perf, rows[i].text) != NULL, "row %zu: %s", i,
                      bench.info->perf);
        if (state->agree || rows[i].open_leader != 0)
            cr_expect(state->perf_help != NULL && state->perf_help[0] != '\0', "row %zu", i);
        cr_expect_eq(open_now, 0, "row %zu leaves %d open", i, open_now);
        dg_engine_close(&bench);
    }
}

/* A missing counter is no matter of permission, and no advice to change a setting. */
Test(counters, advice_about_counters)
{
    static const struct { int number; const char *has, *lacks; } rows[] = {
        {EACCES, "perf_event_paranoid", "guest"}, {EPERM, "perf_event_paranoid", "guest"},
        {ENOENT, "no such counter", "paranoid"}, {ENODEV, "no such counter", "paranoid"},
        {ENXIO, "no such counter", "paranoid"}, {EMFILE, "ulimit -n", "paranoid"},
        {ENOSPC, "hold the counters", "paranoid"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_host host;
        dg_host_system(&host, NULL);
        counters = (struct counters){.open_leader = rows[i].number};
        host.perf_open = open_counter;
        struct dg_bench bench = open_with(&host, 0);
        const char *help = dg_engine_state(&bench)->perf_help;
        cr_expect(help != NULL && strstr(help, rows[i].has) != NULL, "row %zu: %s", i, help);
        cr_expect(help != NULL && strstr(help, rows[i].lacks) == NULL, "row %zu: %s", i, help);
        dg_engine_close(&bench);
    }
}
