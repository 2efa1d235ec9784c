/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain reads by how many bytes a loop pass takes, how wide its loads are and how far ahead it
 * prefetches: hardware prefetchers care how far one load instruction steps. Copies of each loop at
 * other addresses of code are told apart by some of them. */
#include "probes/probe.h"

#include <math.h>

enum { LEVELS = 4, DISTANCES = 6, STEPS = 15, PLACES = 3 };

static const struct row {
    const char *name;
    bool memory, far;                            /* far: beyond L2; measured at several addresses */
    unsigned first, last;                        /* bytes a pass, inclusive */
    unsigned distance[DISTANCES];                /* up to the second 0 */
} rows[LEVELS] = {
    { "l1", false, false, 64, 1024, { 0 } },
    { "l2", false, false, 64, 4096, { 0, 512, 1024, 2048 } },
    { "l3", false, true, 256, 18432, { 0, 1024, 2048, 4096, 8192 } },
    { "dram", true, true, 256, 18432, { 0, 1024, 2048, 4096, 8192 } },
};
static const unsigned steps[STEPS] = {
    64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 4608, 6144, 8192, 9216, 12288, 18432,
};

/* Rate of one cell; 0: none. Over several addresses of code: the median, and the range. */
static double measure(struct dg_context *ctx, const struct row *row, double bytes, unsigned step,
                      unsigned distance, unsigned width)
{
    char key[64], by_width[16] = "";
    double best[PLACES];
    size_t places = 0;
    unsigned long samples = 0;
    struct dg_stream q = { .kind = DG_READ, .bytes = (uint64_t)bytes / 73728 * 73728,
                           .threads = 1, .step = step, .prefetch = distance, .width = width };
    if (q.bytes == 0)
        q.bytes = (uint64_t)bytes / 4096 * 4096;
    q.passes = q.bytes > 0 ? (unsigned)fmax(1, floor(2097152 / (double)q.bytes)) : 1;
    if (width > 0)
        dg_format(by_width, sizeof by_width, ".w%u", width);
    dg_format(key, sizeof key, "mix.stream.%s.b%u.d%u%s", row->name, step, distance, by_width);
    if (dg_settled(ctx, key))
        return dg_known(ctx, key, 0);
    for (; q.bytes > 0 && q.place < (row->far ? PLACES : 1); q.place++) {
        struct dg_measure m;
        if (!dg_read_stream(ctx, &q, row->far ? 4 : 7, &m))
            return 0;                            /* no such loop here: the cell is absent */
        const struct dg_stat *time = row->memory ? &m.ns : &m.cycles;
        if (time->low > 0)
            best[places++] = 1 / time->low;
        samples += m.samples;
    }
    struct dg_stat s = dg_stat_of(best, places);
    if (places == 0)
        return 0;
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = row->memory ? "GB/s" : "bytes/cycle", .value = s.median, .low = s.min,
        .high = s.max, .confidence = 1, .samples = samples,
        .method = row->far ? "plain read of an array inside the level; median and range over "
                             "copies of the loop at several addresses"
                           : "plain read of an array inside the level" });
    return s.median;
}

/* The distance that serves steps of some kilobytes best, when it gains 3 % over none. */
static void say_distance(struct dg_context *ctx, const struct row *row, const double *sum)
{
    char key[48];
    size_t best = 0;
    for (size_t d = 1; d < DISTANCES && row->distance[d] > 0; d++)
        if (sum[d] > sum[best])
            best = d;
    dg_format(key, sizeof key, "prefetch.software.%s", row->name);
    if (sum[0] == 0)
        return;
    if (best == 0 || sum[best] < 1.03 * sum[0])
        dg_cannot(ctx, key, "bytes", DG_UNAVAILABLE,
                  "no distance gains 3 % over the hardware's prefetchers alone",
                  "nothing: leave software prefetches out");
    else
        dg_say(ctx, &(struct dg_number){
            .key = key, .unit = "bytes", .value = row->distance[best],
            .low = row->distance[best - 1] > 0 ? row->distance[best - 1] : 64,
            .high = best + 1 < DISTANCES && row->distance[best + 1] > 0 ? row->distance[best + 1]
                                                                        : 2 * row->distance[best],
            .confidence = 0.8, .samples = STEPS,
            .method = "best mean rate over passes of 2 to 9 KB" });
}

static void one_level(struct dg_context *ctx, const struct row *row, double bytes)
{
    double sum[DISTANCES] = { 0 };
    for (size_t s = 0; s < STEPS; s++)
        for (size_t d = 0; d < DISTANCES && (d == 0 || row->distance[d] > 0); d++) {
            /* --quick: the hardware prefetcher alone */
            if (steps[s] < row->first || steps[s] > row->last || (ctx->quick && d > 0) ||
                (ctx->quick && steps[s] > 512) || ctx->stopped)
                continue;
            double rate = measure(ctx, row, bytes, steps[s], row->distance[d], 0);
            sum[d] += steps[s] >= 2048 && steps[s] <= 9216 ? rate : 0;
        }
    if (!ctx->quick && !ctx->stopped && row->distance[1] > 0)
        say_distance(ctx, row, sum);
}

/* Loads narrower than the widest: panels of few columns are read by them. */
static void by_width(struct dg_context *ctx, const struct row *row, double bytes)
{
    static const unsigned some[] = { 2048, 4608, 9216 };
    for (unsigned width = dg_kernel_bits(ctx) / 16; width >= 16; width /= 2)
        for (size_t s = 0; s < sizeof some / sizeof *some; s++)
            for (unsigned distance = 0; distance <= 4096 && !ctx->stopped; distance += 4096)
                measure(ctx, row, bytes, some[s], distance, width);
}

void dg_probe_stream(struct dg_context *ctx)
{
    bool assumed;
    double l1 = dg_known_or_claimed(ctx, "l1_size", 32768, &assumed);
    double l2 = dg_known_or_claimed(ctx, "l2_size", 262144, &assumed);
    double l3 = dg_known(ctx, "l3_effective_size", 0);
    double memory = fmin((double)ctx->bench->info->memory_limit / 2, fmax(4 * l3, 134217728));
    const double bytes[LEVELS] = { l1 / 2, fmin(fmax(l2 / 4, 4 * l1),
                                                fmax(l2 / 2, fmin(2 * l1, 0.75 * l2))),
                                   l3 > 4 * l2 ? sqrt(2 * l2 * l3) : 0, memory };
    for (size_t level = 0; level < LEVELS && !ctx->stopped; level++) {
        if (bytes[level] > 0)
            one_level(ctx, &rows[level], bytes[level]);
        if (bytes[level] > 0 && rows[level].far && !ctx->quick)
            by_width(ctx, &rows[level], bytes[level]);
    }
}
