/* SPDX-License-Identifier: Apache-2.0
 *
 * Cores and caches of a profile as a drawing of characters: a column for each core, and under it
 * the caches, as wide as the cores that share them. */
#include <string.h>

#include "base/number.h"
#include "cli/probe.h"

enum { CELL = 12, CORES_SHOWN = 6 };

/* [    32 KiB    ], over `cores` columns */
static void add_box(struct dg_str *out, size_t cores, const char *text)
{
    size_t inner = cores * (CELL + 1) - 3, length = strlen(text);
    size_t before = length < inner ? (inner - length) / 2 : 0;
    dg_str_add(out, " [");
    for (size_t i = 0; i < inner; i++)
        dg_str_addc(out, i >= before && i - before < length ? text[i - before] : ' ');
    dg_str_addc(out, ']');
}

/* One level: boxes of as many cores as share it, the last one cut where the drawing ends. */
static void add_row(struct dg_str *out, const char *name, size_t cores, size_t span,
                    const char *text)
{
    dg_str_format(out, "  %-3s", name);
    for (size_t i = 0; i < cores; i += span)
        add_box(out, span < cores - i ? span : cores - i, text);
    dg_str_addc(out, '\n');
}

void dg_probe_map(const struct dg_profile *p, struct dg_str *out)
{
    static const struct { const char *name, *size, *shared; } levels[] = {
        { "L1", "l1_size", "l1_shared_by" }, { "L2", "l2_size", "l2_shared_by" },
        { "L3", "l3_size", "l3_shared_by" },
    };
    size_t cpus = (size_t)dg_profile_number(p, "cores", 0);
    size_t threads = (size_t)dg_profile_number(p, "l1_shared_by", 1);
    char text[64];
    if (cpus == 0)
        return;
    threads = threads > cpus ? cpus : threads;
    size_t cores = (cpus + threads - 1) / threads;
    size_t shown = cores < CORES_SHOWN ? cores : CORES_SHOWN;
    dg_format(text, sizeof text, threads == 1 ? "core" : "%zu CPUs", threads);
    add_row(out, "", shown, 1, text);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        double size = dg_profile_number(p, levels[i].size, 0);
        size_t by = (size_t)dg_profile_number(p, levels[i].shared, 0);
        size_t span = by > threads ? by / threads : 1;
        if (size == 0)
            continue;
        dg_probe_number(text, size, "bytes");
        size_t length = strlen(text);
        if (by == 0)
            dg_format(text + length, sizeof text - length, " ?");
        else if (span > shown)
            dg_format(text + length, sizeof text - length, " for %zu CPUs", by);
        add_row(out, levels[i].name, shown, span, text);
    }
    if (shown < cores)
        dg_str_format(out, "      ... %zu cores of this kind in all\n", cores);
}
