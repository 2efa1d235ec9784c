/* SPDX-License-Identifier: Apache-2.0
 * Cycles from perf_event, where there are any and a loop of known length agrees with them. The
 * trial counts instructions beside cycles, in one group: a counter on the wrong kind of core, one
 * that a hypervisor makes up and one that shares its register all fail it. Where the system
 * refuses, the errno's name says whether permission or the counter itself is missing. */
#include "microbench/engine/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <linux/perf_event.h>

#ifdef DG_HAVE_LIBPFM
#include <perfmon/pfmlib_perf_event.h>
#endif

enum event { CYCLES, INSTRUCTIONS, EVENTS };
static const struct {
    const char *name;            /* libpfm's, too */
    uint64_t generic, arm;       /* the kernel's number, and that of the Arm architecture */
} events[EVENTS] = {
    {"cycles", PERF_COUNT_HW_CPU_CYCLES, 0x11},
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS, 0x08},
};

static const char *help_for(int number)
{
    static const struct { int number; const char *help; } rows[] = {
#define FORBIDDEN "the setting kernel.perf_event_paranoid or a container's filter forbids it; " \
                  "2 or lower, or CAP_PERFMON, would allow it"
#define MISSING "no such counter is here, as in most guests; no setting changes that"
#define HELD "other programs hold the counters or files; end them, or raise ulimit -n"
        {EACCES, FORBIDDEN}, {EPERM, FORBIDDEN}, {ENOENT, MISSING}, {ENODEV, MISSING},
        {ENXIO, MISSING}, {EOPNOTSUPP, MISSING}, {ENOSYS, MISSING}, {EBUSY, HELD}, {ENOSPC, HELD},
        {EMFILE, HELD}, {ENFILE, HELD},
#undef FORBIDDEN
#undef MISSING
#undef HELD
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == number)
            return rows[i].help;
    return "the kernel does not take this request; cycles come from chains";
}

/* libpfm knows the core's own event; the generic one serves where its tables end. Chips with
 * several kinds of core have a unit for each: that of the pinned CPU, by its type. */
static void encode(struct engine *e, enum event event, struct perf_event_attr *attributes)
{
    enum { TYPE_SHIFT = 32, SEVERAL = 2 };
    struct dg_core_pmu pmu;
    *attributes = (struct perf_event_attr){
        .size = sizeof *attributes, .type = PERF_TYPE_HARDWARE, .config = events[event].generic,
    };
    if (dg_host_core_pmu(&e->host, e->info.cpu, &pmu) && pmu.count >= SEVERAL) {
        bool x86 = strcmp(e->host.machine, "x86_64") == 0;
        attributes->type = x86 ? PERF_TYPE_HARDWARE : (uint32_t)pmu.type;
        attributes->config = x86 ? events[event].generic | pmu.type << TYPE_SHIFT
                                 : events[event].arm;
    } else {
#ifdef DG_HAVE_LIBPFM
        struct perf_event_attr found = {.size = sizeof found};
        pfm_perf_encode_arg_t argument = {.attr = &found, .size = sizeof argument};
        if (pfm_initialize() == PFM_SUCCESS &&
            pfm_get_os_event_encoding(events[event].name, PFM_PLM3, PFM_OS_PERF_EVENT,
                                      &argument) == PFM_SUCCESS)
            *attributes = found;
#endif
    }
    attributes->exclude_kernel = 1;
    attributes->exclude_hv = 1;
    attributes->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

static int open_event(struct engine *e, enum event event, int group)
{
    struct perf_event_attr attributes;
    encode(e, event, &attributes);
    return e->host.perf_open(&e->host, &attributes, -1, group);
}

/* One reading; 0, or why not: an errno, -1 when the counter did not count all the time. */
enum { SHARED = -1 };
static int read_event(struct engine *e, int descriptor, double *value)
{
    const double whole = 0.99;
    uint64_t values[3] = {0};
    int failed = e->host.perf_read(&e->host, descriptor, values);
    if (failed != 0)
        return failed;
    if (values[1] == 0 || (double)values[2] < whole * (double)values[1])
        return SHARED;
    *value = (double)values[0];
    return 0;
}

bool dg_counter_read(struct engine *e, double *cycles)
{
    return read_event(e, e->counter.descriptor, cycles) == 0;
}

static int empty_pair(struct engine *e)
{
    double least = INFINITY;
    for (int i = 0; i < 16; i++) {
        double from, to;
        int failed = read_event(e, e->counter.descriptor, &from);
        if (failed == 0)
            failed = read_event(e, e->counter.descriptor, &to);
        if (failed != 0)
            return failed;
        least = fmin(least, to - from);
    }
    e->counter.overhead = least;
    return 0;
}

/* What a counter says of the chain, over what is known of it: the least of several runs. */
static int over_chain(struct engine *e, int descriptor, double overhead, double known,
                      double *ratio)
{
    double from, to, best = INFINITY;
    for (int i = 0; i < 8; i++) {
        int failed = read_event(e, descriptor, &from);
        if (failed != 0)
            return failed;
        e->width[0].chain.loop->run(e->width[0].chain.trips, e->block);
        if ((failed = read_event(e, descriptor, &to)) != 0)
            return failed;
        best = fmin(best, to - from - overhead);
    }
    *ratio = best / known;
    return 0;
}

/* Why a counter is not believed; false when there is nothing against it. */
static bool doubt(struct engine *e, enum event event, int failed, double ratio, double least,
                  double most)
{
    char *out = e->perf_text;
    size_t size = sizeof e->perf_text;
    if (failed == 0 && ratio >= least && ratio <= most)
        return false;
    if (failed == SHARED)
        snprintf(out, size, "%s: opened, but does not count all the time", events[event].name);
    else if (failed != 0)
        snprintf(out, size, "%s: opened, but reading fails: %s", events[event].name,
                 dg_errno_name(failed));
    else
        snprintf(out, size, "%s: opened, but counts %.3g of a chain of known length",
                 events[event].name, ratio);
    e->state.perf_help = "the counter is not used; cycles come from chains";
    return true;
}

static bool cycles_agree(struct engine *e)
{
    const double tolerance = 0.03;
    double known = (double)e->width[0].chain.trips * e->width[0].chain.cycles_per_trip, ratio = 0;
    int failed = empty_pair(e);
    if (failed == 0)
        failed = over_chain(e, e->counter.descriptor, e->counter.overhead, known, &ratio);
    return !doubt(e, CYCLES, failed, ratio, 1 - tolerance, 1 + tolerance);
}

/* One instruction an operation and a few around; an operation may be a pair of them. */
static bool instructions_agree(struct engine *e, int descriptor)
{
    const double least = 0.97, most = 2.3;
    double known = (double)e->width[0].chain.trips * e->width[0].chain.loop->per_trip, ratio = 0;
    int failed = over_chain(e, descriptor, 0, known, &ratio);
    return !doubt(e, INSTRUCTIONS, failed, ratio, least, most);
}

/* A group that opens by half, or whose members cannot run at once, is tried again as cycles alone:
 * a watchdog may hold the other counter. */
static bool try_alone(struct engine *e, const char *why)
{
    char text[sizeof e->perf_text];
    if (!cycles_agree(e))
        return false;
    snprintf(text, sizeof text, "open; instructions: %s", why);
    memcpy(e->perf_text, text, sizeof text);
    return true;
}

static bool try_group(struct engine *e)
{
    uint64_t values[3] = {0};
    int member = open_event(e, INSTRUCTIONS, e->counter.descriptor);
    if (member < 0)
        return try_alone(e, dg_errno_name(-member));
    e->width[0].chain.loop->run(e->width[0].chain.trips, e->block);
    int failed = e->host.perf_read(&e->host, member, values);
    bool idle = failed == 0 && values[2] == 0;
    bool good = !idle && cycles_agree(e) && instructions_agree(e, member);
    e->host.perf_close(&e->host, member);
    if (idle)
        return try_alone(e, "no counter is free for both at once");
    if (good)
        snprintf(e->perf_text, sizeof e->perf_text, "open");
    return good;
}

void dg_counter_open(struct engine *e)
{
    e->info.perf = e->perf_text;
    e->counter.descriptor = open_event(e, CYCLES, -1);
    if (e->counter.descriptor < 0) {
        snprintf(e->perf_text, sizeof e->perf_text, "cycles: %s",
                 dg_errno_name(-e->counter.descriptor));
        e->state.perf_help = help_for(-e->counter.descriptor);
        return;
    }
    if (!e->agree) {
        snprintf(e->perf_text, sizeof e->perf_text,
                 "cycles: opened, but no chain is known to try them on");
    } else if (try_group(e)) {
        e->counter.believed = true;
        e->info.cycle_source = "perf_event";
        return;
    }
    e->host.perf_close(&e->host, e->counter.descriptor);
    e->counter.descriptor = -1;
}

void dg_counter_close(struct engine *e)
{
    if (e->counter.believed)
        e->host.perf_close(&e->host, e->counter.descriptor);
    e->counter.believed = false;
}
