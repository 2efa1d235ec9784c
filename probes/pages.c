/* SPDX-License-Identifier: Apache-2.0
 *
 * Fresh pages: what the first write costs, and whether huge ones are given. */
#include "probes/probe.h"

static void one_size(struct dg_context *ctx, const char *page, bool huge)
{
    struct dg_measure m;
    char key[64], granted[64];
    struct dg_fresh q = { .bytes = 8 << 20, .huge = huge };
    dg_format(key, sizeof key, "memory.page.%s.first_touch", page);
    dg_format(granted, sizeof granted, "memory.page.%s.granted", page);
    bool ok = dg_read_fresh(ctx, &q, 7, &m);
    if (ctx->stopped)
        return;
    if (ok || huge)
        dg_say_text(ctx, granted, "where fresh memory that asked for such pages has them",
                    ok ? "yes" : "no");
    if (ok)
        dg_say_stat(ctx, key, "ns", "first write to each page of 8 MiB of fresh memory, by wall "
                    "time; the system clears the page meanwhile", &m.ns, 1);
    else
        dg_refused(ctx, key, "ns");
}

void dg_probe_pages(struct dg_context *ctx)
{
    char page[16];
    if (ctx->quick)
        return;
    dg_format(page, sizeof page, "%uk", ctx->bench->info->page_bytes / 1024);
    one_size(ctx, page, false);
    if (ctx->bench->info->page_bytes == 4096 && !ctx->stopped)
        one_size(ctx, "2m", true);
}
