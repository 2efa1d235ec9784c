/* SPDX-License-Identifier: Apache-2.0
 *
 * CPUs of the pinned one's kind, and the cache facts that only the system can state: they are
 * given as claims, not as measurements. */
#include "probes/probe.h"

#include <string.h>

static const char *claimed_text(const struct dg_context *ctx, const char *key)
{
    size_t count;
    const struct dg_claim *claims = dg_claims_of(ctx->claims, key, &count);
    return claims != NULL && claims[0].value.kind == DG_VALUE_TEXT ? claims[0].value.text : NULL;
}

void dg_probe_topology(struct dg_context *ctx)
{
    static const struct { const char *key, *unit; } rows[] = {
        { "l1_shared_by", "count" }, { "l2_shared_by", "count" }, { "l3_shared_by", "count" },
        { "l1i_line_size", "bytes" }, { "l1i_ways", "count" }, { "l1i_set_stride", "bytes" },
        { "l1i_shared_by", "count" },
    };
    const char *kind = claimed_text(ctx, "core_kind"), *cpus = claimed_text(ctx, "cpus");
    double cores = dg_claims_number(ctx->claims, "cores", ctx->bench->info->cpus);
    dg_say_exact(ctx, "cores", "count", "allowed CPUs of the pinned CPU's kind", cores, 1);
    if (cpus != NULL)
        dg_say_text(ctx, "cpus", "allowed CPUs of the pinned CPU's kind", cpus);
    else
        dg_cannot(ctx, "cpus", "", DG_UNAVAILABLE, "the system lists no CPUs",
                  "nothing: one CPU is measured");
    dg_say_text(ctx, "core_kind", "capacity or identification of the pinned CPU",
                kind != NULL ? kind : "core");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        dg_say_claim(ctx, rows[i].key, rows[i].unit);
}
