/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks every source of claims about one CPU. Whatever is missing, hidden or refused is no claim. */
#ifndef DG_PROBES_CLAIMS_COLLECT_H
#define DG_PROBES_CLAIMS_COLLECT_H

#include "microbench/host/host.h"
#include "probes/claims/claims.h"

struct dg_core_kind;
/* `kinds` as dg_core_kinds found them before the process was pinned. */
void dg_claims_collect(struct dg_claims *claims, struct dg_host *host, unsigned cpu,
                       const struct dg_core_kind *kinds, size_t kind_count);

/* The single sources. */
void dg_claims_cpuid(struct dg_claims *claims, struct dg_host *host);
void dg_claims_sysfs(struct dg_claims *claims, struct dg_host *host, unsigned cpu);
void dg_claims_register(struct dg_claims *claims, struct dg_host *host);
void dg_claims_sysconf(struct dg_claims *claims, struct dg_host *host);
void dg_claims_hwloc(struct dg_claims *claims, struct dg_host *host, unsigned cpu);
void dg_claims_kinds(struct dg_claims *claims, unsigned cpu, const struct dg_core_kind *kinds,
                     size_t kind_count);

/* CPUs of every node, as `numa.<n>.cpus`, where there are several. */
void dg_claims_nodes(struct dg_claims *claims, struct dg_host *host);

/* One cache as a source describes it; zero: not said. */
struct dg_cache_claim {
    unsigned level;
    bool instruction;
    double size, line, ways, sets, shared_by;
};
void dg_claims_add_cache(struct dg_claims *claims, const char *source,
                         const struct dg_cache_claim *cache);

/* Kinds of core among the allowed CPUs: same stated capacity, identification and class. */
enum { DG_KINDS_MAX = 16 };
struct dg_core_kind {
    char name[64];
    struct dg_cpus cpus;
    unsigned first;
};
size_t dg_core_kinds(struct dg_host *host, struct dg_core_kind out[DG_KINDS_MAX]);

#endif
