/* SPDX-License-Identifier: Apache-2.0
 *
 * Caches as hwloc states them. Only for the machine that this runs on: hwloc can be pointed at
 * another one by its environment variables, and says so; a --sysroot is not looked at by it. */
#include "probes/claims/collect.h"

#ifdef DG_HAVE_HWLOC
#include <hwloc.h>

static void add_cache(struct dg_claims *claims, hwloc_obj_t o)
{
    if (!hwloc_obj_type_is_cache(o->type))
        return;
    struct dg_cache_claim c = {
        .level = o->attr->cache.depth, .instruction = hwloc_obj_type_is_icache(o->type),
        .size = (double)o->attr->cache.size, .line = o->attr->cache.linesize,
        .ways = o->attr->cache.associativity,
        .shared_by = hwloc_bitmap_weight(o->cpuset) };
    dg_claims_add_cache(claims, "hwloc", &c);
}

void dg_claims_hwloc(struct dg_claims *claims, struct dg_host *host, unsigned cpu)
{
    hwloc_topology_t topology;
    if (host->sysroot != NULL && host->sysroot[0] != '\0')
        return;
    if (hwloc_topology_init(&topology) != 0)
        return;
    hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) == 0 && hwloc_topology_is_thissystem(topology))
        for (hwloc_obj_t o = hwloc_get_pu_obj_by_os_index(topology, cpu); o != NULL; o = o->parent)
            add_cache(claims, o);
    hwloc_topology_destroy(topology);
}
#else
void dg_claims_hwloc(struct dg_claims *claims, struct dg_host *host, unsigned cpu)
{
    (void)claims, (void)host, (void)cpu;
}
#endif
