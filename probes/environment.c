/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/environment.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/number.h"

static const char *kept(struct dg_facts *f, const char *text)
{
    return text == NULL || text[0] == '\0' ? NULL : dg_strdup(f->arena, text);
}

static void file_fact(struct dg_facts *f, struct dg_host *host, const char *key, const char *path)
{
    char text[256];
    if (host->read_file(host, path, text, sizeof text) < 0)
        return;
    text[strcspn(text, "\n")] = '\0';
    dg_facts_text(f, key, kept(f, text));
}

static void time_facts(struct dg_facts *f, struct dg_host *host, const struct dg_bench_info *info)
{
    char text[32];
    time_t now = (time_t)host->calendar(host);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        dg_facts_text(f, "time", kept(f, text));
    dg_facts_text(f, "time_source", kept(f, info->time_source));
    dg_facts_number(f, "tick_ns", dg_round_digits(info->tick_ns, 3));
    dg_facts_number(f, "clock_hz", round(info->clock_hz));
    dg_facts_number(f, "clock_low_hz", round(info->clock_low_hz));
    dg_facts_number(f, "clock_high_hz", round(info->clock_high_hz));
    dg_facts_text(f, "chains", kept(f, info->chains));
    dg_facts_text(f, "cycle_source", kept(f, info->cycle_source));
    dg_facts_text(f, "perf", kept(f, info->perf));
}

static void load_facts(struct dg_facts *f, struct dg_host *host)
{
    char text[128];
    double load;
    if (host->read_file(host, "/proc/loadavg", text, sizeof text) < 0)
        return;
    text[strcspn(text, " ")] = '\0';
    /* "0.25": two decimals, as the kernel writes it */
    if (dg_parse_double(text, &load, NULL))
        dg_facts_number(f, "load", load);
}

void dg_environment(struct dg_facts *f, struct dg_host *host, const struct dg_bench_info *info,
                    const struct dg_identity *identity)
{
    dg_facts_text(f, "tool", "deepgemm-probe " DG_VERSION);
    dg_facts_text(f, "vendor", kept(f, identity->vendor));
    dg_facts_text(f, "family", kept(f, identity->family));
    dg_facts_text(f, "model", kept(f, identity->model));
    dg_facts_text(f, "model_name", kept(f, identity->text));
    dg_facts_flag(f, "hypervisor", identity->hypervisor);
    dg_facts_flag(f, "emulated", info->emulated);
    file_fact(f, host, "kernel", "/proc/sys/kernel/osrelease");
    time_facts(f, host, info);
    load_facts(f, host);
    dg_facts_number(f, "page_bytes", info->page_bytes);
    dg_facts_flag(f, "huge_pages", info->huge_pages);
    dg_facts_number(f, "memory_limit", (double)info->memory_limit);
    dg_facts_flag(f, "memory_short", info->memory_short);
    dg_facts_number(f, "cpu", info->cpu);
    dg_facts_number(f, "allowed_cpus", info->cpus);
    dg_facts_flag(f, "pinned", info->pinned);
    double quota = dg_host_quota(host);
    if (quota > 0)
        dg_facts_number(f, "cpu_quota", quota);
}
