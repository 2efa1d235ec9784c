/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/claims/collect.h"

#include "base/error.h"

static void add(struct dg_claims *claims, const char *source, const char *level, const char *field,
                double value)
{
    char key[32];
    if (value <= 0)
        return;
    dg_format(key, sizeof key, "%s_%s", level, field);
    dg_claims_add_number(claims, key, source, value);
}

void dg_claims_add_cache(struct dg_claims *claims, const char *source,
                         const struct dg_cache_claim *c)
{
    char level[8];
    if (c->level < 1 || c->level > 3 || (c->instruction && c->level != 1))
        return;
    dg_format(level, sizeof level, "l%u%s", c->level, c->instruction ? "i" : "");
    add(claims, source, level, "size", c->size);
    add(claims, source, level, "line_size", c->line);
    add(claims, source, level, "ways", c->ways);
    add(claims, source, level, "set_stride", c->sets * c->line);
    add(claims, source, level, "shared_by", c->shared_by);
    /* what one core can keep is measured; what the level is said to hold stands beside it */
    if (!c->instruction)
        add(claims, source, level, "effective_size", c->size);
}

/* DminLine of CTR_EL0: log2 of the words of the shortest data line. */
void dg_claims_register(struct dg_claims *claims, struct dg_host *host)
{
    enum { SHIFT = 16, MASK = 15, WORD = 4 };
    uint64_t value = host->cache_type(host);
    if (value != 0)
        dg_claims_add_number(claims, "l1_line_size", "ctr_el0",
                             (double)(WORD << (value >> SHIFT & MASK)));
}

void dg_claims_collect(struct dg_claims *claims, struct dg_host *host, unsigned cpu,
                       const struct dg_core_kind *kinds, size_t kind_count)
{
    dg_claims_cpuid(claims, host);
    dg_claims_register(claims, host);
    dg_claims_sysfs(claims, host, cpu);
    dg_claims_sysconf(claims, host);
    dg_claims_hwloc(claims, host, cpu);
    dg_claims_kinds(claims, cpu, kinds, kind_count);
    dg_claims_nodes(claims, host);
}
