/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/claims/survey.h"

#include "microbench/host/conditions.h"
#include "probes/claims/collect.h"
#include "microbench/host/identity.h"

unsigned dg_survey(struct dg_host *host, struct dg_arena *arena)
{
    struct dg_core_kind kinds[DG_KINDS_MAX];
    struct dg_cpus allowed;
    const char *source;
    dg_core_kinds(host, kinds);
    dg_host_allowed(host, &allowed, &source);
    dg_host_emulated(host, NULL);
    dg_claims_nodes(&(struct dg_claims){ .arena = arena }, host);
    for (unsigned cpu = 0; cpu < DG_CPUS_MAX; cpu++) {
        struct dg_claims claims = { .arena = arena };
        struct dg_conditions conditions;
        struct dg_feature_words words;
        struct dg_identity identity;
        struct dg_core_pmu pmu;
        if (!dg_cpus_have(&allowed, cpu))
            continue;
        dg_features_read(host, &words);
        dg_identify(host, cpu, &identity);
        dg_claims_cpuid(&claims, host);
        dg_claims_sysfs(&claims, host, cpu);
        dg_conditions_read(host, cpu, &conditions);
        dg_host_last_level(host, cpu);
        dg_host_core_pmu(host, cpu, &pmu);
    }
    return dg_cpus_count(&allowed);
}
