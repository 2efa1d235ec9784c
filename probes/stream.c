/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain reads by how many bytes a loop pass takes and how far ahead it prefetches: hardware
 * prefetchers care how far one load instruction steps. */
#include "probes/probe.h"

#include <math.h>

static const unsigned steps[] = { 32, 64, 128, 256, 512 };
static const unsigned distances[] = { 0, 256, 512, 1024, 2048, 4096 };
enum { STEPS = sizeof steps / sizeof *steps, DISTANCES = sizeof distances / sizeof *distances };

static void measure(struct dg_context *ctx, const char *level, double bytes, unsigned step,
                    unsigned distance)
{
    char key[64];
    struct dg_measure m;
    struct dg_stream q = { .kind = DG_READ, .bytes = (uint64_t)bytes / 4096 * 4096, .threads = 1,
                           .step = step, .prefetch = distance };
    if (q.bytes == 0)
        return;
    bool memory = level[0] == 'd';
    q.passes = (unsigned)fmax(1, floor(2097152 / (double)q.bytes));
    dg_format(key, sizeof key, "mix.stream.%s.b%u.d%u", level, step, distance);
    if (dg_settled(ctx, key) || !dg_read_stream(ctx, &q, 7, &m))
        return;                                  /* no such loop here: the cell is absent */
    const struct dg_stat *time = memory ? &m.ns : &m.cycles;
    double best = memory ? time->low : time->median;
    if (best <= 0)
        return;
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = memory ? "GB/s" : "bytes/cycle", .value = 1 / best,
        .low = 1 / time->high, .high = 1 / (memory ? time->min : time->low), .confidence = 1,
        .samples = m.samples, .method = "plain vector read of an array inside the level" });
}

void dg_probe_stream(struct dg_context *ctx)
{
    bool assumed;
    double l1 = dg_known_or_claimed(ctx, "l1_size", 32768, &assumed);
    double l2 = dg_known_or_claimed(ctx, "l2_size", 262144, &assumed);
    double l3 = dg_known(ctx, "l3_effective_size", 0);
    double memory = fmin((double)ctx->bench->info->memory_limit / 2, fmax(4 * l3, 33554432));
    const struct { const char *name; double bytes; } levels[] = {
        { "l1", l1 / 2 }, { "l2", fmax(l2 / 2, fmin(2 * l1, 0.75 * l2)) },
        { "l3", l3 > 4 * l2 ? sqrt(2 * l2 * l3) : 0 }, { "dram", memory },
    };
    for (size_t level = 0; level < sizeof levels / sizeof *levels; level++)
        for (size_t s = 0; s < STEPS; s++)
            for (size_t d = 0; d < DISTANCES && !ctx->stopped; d++)
                /* --quick: the hardware prefetcher alone; L1 needs no prefetch at all */
                if (distances[d] == 0 || (!ctx->quick && level > 0))
                    measure(ctx, levels[level].name, levels[level].bytes, steps[s], distances[d]);
}
