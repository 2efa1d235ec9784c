/* SPDX-License-Identifier: Apache-2.0
 * Cycles from perf_event, where there are any and a loop of known length agrees with them. Where
 * the system refuses, the errno's name says whether permission or the counter itself is missing. */
#include "microbench/engine/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <linux/perf_event.h>

#ifdef DG_HAVE_LIBPFM
#include <perfmon/pfmlib_perf_event.h>
#endif

const char *dg_errno_name(int number)
{
    static const struct { int number; const char *name; } names[] = {
        {EACCES, "EACCES"}, {EPERM, "EPERM"}, {ENOENT, "ENOENT"}, {ENOSYS, "ENOSYS"},
        {ENODEV, "ENODEV"}, {ENXIO, "ENXIO"}, {EOPNOTSUPP, "EOPNOTSUPP"}, {EMFILE, "EMFILE"},
        {ENFILE, "ENFILE"}, {EINVAL, "EINVAL"}, {EBUSY, "EBUSY"}, {ENOMEM, "ENOMEM"},
        {ENOSPC, "ENOSPC"}, {EIO, "EIO"}, {EINTR, "EINTR"}, {ESRCH, "ESRCH"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return "another error";
}

/* libpfm knows the core's own event; the generic one serves where its tables end. */
static void encode(struct perf_event_attr *attributes)
{
    *attributes = (struct perf_event_attr){
        .size = sizeof *attributes, .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_CPU_CYCLES,
    };
#ifdef DG_HAVE_LIBPFM
    struct perf_event_attr found = {.size = sizeof found};
    pfm_perf_encode_arg_t argument = {.attr = &found, .size = sizeof argument};
    if (pfm_initialize() == PFM_SUCCESS &&
        pfm_get_os_event_encoding("cycles", PFM_PLM3, PFM_OS_PERF_EVENT, &argument) == PFM_SUCCESS)
        *attributes = found;
#endif
    attributes->exclude_kernel = 1;
    attributes->exclude_hv = 1;
    attributes->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

/* On chips with several kinds of core each kind has its own PMU: the one of the pinned CPU. */
static void choose_pmu(struct engine *e, struct perf_event_attr *attributes)
{
    static const char *const pmus[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};
    enum { TYPE_SHIFT = 32 };
    for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++) {
        char path[128], text[1024];
        struct dg_cpus cpus;
        uint64_t type;
        snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/cpus", pmus[i]);
        if (e->host.read_file(&e->host, path, text, sizeof text) <= 0 ||
            !dg_cpus_parse(text, &cpus) || !dg_cpus_have(&cpus, e->info.cpu))
            continue;
        snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/type", pmus[i]);
        if (dg_host_number(&e->host, path, &type) && attributes->type == PERF_TYPE_HARDWARE)
            attributes->config = PERF_COUNT_HW_CPU_CYCLES | type << TYPE_SHIFT;
    }
}

bool dg_counter_read(struct engine *e, double *cycles)
{
    uint64_t values[3] = {0};
    if (e->host.perf_read(&e->host, e->counter.descriptor, values) != 0 || values[1] == 0 ||
        (double)values[2] < 0.99 * (double)values[1])
        return false;
    *cycles = (double)values[0];
    return true;
}

static bool empty_pair(struct engine *e)
{
    double least = INFINITY;
    for (int i = 0; i < 16; i++) {
        double from, to;
        if (!dg_counter_read(e, &from) || !dg_counter_read(e, &to))
            return false;
        least = fmin(least, to - from);
    }
    e->counter.overhead = least;
    return true;
}

/* A chain's cycles are known: a counter that says otherwise counts something else. */
static bool agrees(struct engine *e, double *ratio)
{
    const double tolerance = 0.03;
    double known = (double)e->chain.trips * e->chain.cycles_per_trip;
    double from, to, best = INFINITY;
    for (int i = 0; i < 8; i++) {
        if (!dg_counter_read(e, &from))
            return false;
        e->chain.loop->run(e->chain.trips, e->block);
        if (!dg_counter_read(e, &to))
            return false;
        best = fmin(best, to - from - e->counter.overhead);
    }
    *ratio = best / known;
    return fabs(*ratio - 1) <= tolerance;
}

static void try_counter(struct engine *e)
{
    double ratio = 0;
    if (!empty_pair(e)) {
        snprintf(e->perf_text, sizeof e->perf_text,
                 "cycles: opened, but does not count all the time");
    } else if (!agrees(e, &ratio)) {
        snprintf(e->perf_text, sizeof e->perf_text,
                 "cycles: opened, but counts %.3g of a chain of known length", ratio);
    } else {
        snprintf(e->perf_text, sizeof e->perf_text, "open");
        e->counter.believed = true;
        e->info.cycle_source = "perf_event";
    }
}

void dg_counter_open(struct engine *e)
{
    struct perf_event_attr attributes;
    encode(&attributes);
    choose_pmu(e, &attributes);
    e->info.perf = e->perf_text;
    e->counter.descriptor = e->host.perf_open(&e->host, &attributes, -1);
    if (e->counter.descriptor < 0) {
        snprintf(e->perf_text, sizeof e->perf_text, "cycles: %s",
                 dg_errno_name(-e->counter.descriptor));
        return;
    }
    if (e->agree)
        try_counter(e);
    if (!e->counter.believed) {
        e->host.perf_close(&e->host, e->counter.descriptor);
        e->counter.descriptor = -1;
    }
}

void dg_counter_close(struct engine *e)
{
    if (e->counter.believed)
        e->host.perf_close(&e->host, e->counter.descriptor);
    e->counter.believed = false;
}
