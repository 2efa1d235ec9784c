/* SPDX-License-Identifier: Apache-2.0
 *
 * Caches as the C library states them; 0 and -1 mean that it does not know. */
#include "probes/claims/collect.h"

#include <unistd.h>

void dg_claims_sysconf(struct dg_claims *claims, struct dg_host *host)
{
#ifdef _SC_LEVEL1_DCACHE_SIZE
    static const struct {
        unsigned level;
        bool instruction;
        int size, ways, line;
    } rows[] = {
        { 1, false, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL1_DCACHE_LINESIZE },
        { 1, true, _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_ASSOC, _SC_LEVEL1_ICACHE_LINESIZE },
        { 2, false, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL2_CACHE_LINESIZE },
        { 3, false, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_ASSOC, _SC_LEVEL3_CACHE_LINESIZE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_cache_claim c = {
            .level = rows[i].level, .instruction = rows[i].instruction,
            .size = (double)host->sysconf(host, rows[i].size),
            .ways = (double)host->sysconf(host, rows[i].ways),
            .line = (double)host->sysconf(host, rows[i].line) };
        dg_claims_add_cache(claims, "sysconf", &c);
    }
#endif
}
