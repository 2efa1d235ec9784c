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

/* ---- conditions ---- */

struct unknowns {                                /* "governor: /sys/...: ENOENT" */
    const char *list[2 * DG_CONDITION_COUNT];
    size_t count;
};

static void condition_fact(struct dg_facts *f, const char *key, enum dg_condition_id id,
                           const struct dg_condition *c, struct unknowns *unknown)
{
    if (!c->known) {
        dg_facts_text(f, key, NULL);
        unknown->list[unknown->count++] = dg_text(f->arena, "%s: %s", key, c->text);
        return;
    }
    switch (dg_condition_rows[id].type) {
    case DG_CONDITION_TEXT: dg_facts_text(f, key, kept(f, c->text)); break;
    case DG_CONDITION_FLAG: dg_facts_flag(f, key, c->number != 0); break;
    case DG_CONDITION_NUMBER: dg_facts_number(f, key, dg_round_digits(c->number, 4)); break;
    }
}

static void condition_facts(struct dg_facts *f, const struct dg_conditions *before,
                            const struct dg_conditions *after)
{
    struct unknowns unknown = { .count = 0 };
    for (int i = 0; i < DG_CONDITION_COUNT; i++) {
        enum dg_condition_id id = (enum dg_condition_id)i;
        const struct dg_condition_row *row = &dg_condition_rows[i];
        struct dg_condition rate;
        switch (row->when) {
        case DG_CONDITION_ONCE:
            condition_fact(f, row->key, id, &after->at[i], &unknown);
            break;
        case DG_CONDITION_RATE:
            rate = dg_condition_rate(before, after, id);
            condition_fact(f, row->key, id, &rate, &unknown);
            break;
        case DG_CONDITION_STATE:
            condition_fact(f, dg_text(f->arena, "%s_before", row->key), id, &before->at[i],
                           &unknown);
            condition_fact(f, dg_text(f->arena, "%s_after", row->key), id, &after->at[i],
                           &unknown);
            break;
        }
    }
    const char **list = dg_alloc_array(f->arena, unknown.count + 1, sizeof *list);
    if (list == NULL) {
        f->failed = true;
        return;
    }
    memcpy(list, unknown.list, unknown.count * sizeof *list);
    dg_facts_add(f, &(struct dg_fact){ .key = "unknown", .value = {
        .kind = DG_VALUE_LIST, .list = list, .list_count = unknown.count } });
}

void dg_environment(struct dg_facts *f, struct dg_host *host, const struct dg_bench_info *info,
                    const struct dg_identity *identity, const struct dg_conditions *before,
                    const struct dg_conditions *after)
{
    dg_facts_text(f, "tool", "deepgemm-probe " DG_VERSION);
    dg_facts_text(f, "vendor", kept(f, identity->vendor));
    dg_facts_text(f, "family", kept(f, identity->family));
    dg_facts_text(f, "model", kept(f, identity->model));
    dg_facts_text(f, "model_name", kept(f, identity->text));
    dg_facts_flag(f, "hypervisor", identity->hypervisor);
    dg_facts_flag(f, "emulated", info->emulated);
    time_facts(f, host, info);
    dg_facts_number(f, "page_bytes", info->page_bytes);
    dg_facts_flag(f, "huge_pages", info->huge_pages);
    dg_facts_number(f, "memory_limit", (double)info->memory_limit);
    dg_facts_flag(f, "memory_short", info->memory_short);
    dg_facts_number(f, "cpu", info->cpu);
    dg_facts_number(f, "allowed_cpus", info->cpus);
    dg_facts_flag(f, "pinned", info->pinned);
    condition_facts(f, before, after);
}
