/* SPDX-License-Identifier: Apache-2.0
 *
 * Bandwidth of every level, one core and all allowed ones: footprints well inside each level. */
#include "probes/probe.h"

#include <math.h>

#include "probes/request.h"

enum level { L1, L2, L3, DRAM, LEVELS };
static const char *const level_names[LEVELS] = { "l1", "l2", "l3", "dram" };

struct sizes {
    double bytes[LEVELS];                        /* of one core; 0: no such level */
    double shared;                               /* last level, for all cores together */
    unsigned cpus;
    double limit;
};

/* Inside each level, and well beyond the one before. */
static struct sizes choose(struct dg_context *ctx)
{
    bool assumed;
    struct sizes s = { .cpus = ctx->bench->info->cpus > 0 ? ctx->bench->info->cpus : 1 };
    double l1 = dg_known_or_claimed(ctx, "l1_size", 32768, &assumed);
    double l2 = dg_known_or_claimed(ctx, "l2_size", 262144, &assumed);
    double l3 = dg_known(ctx, "l3_effective_size", 0);
    double beyond = fmax(4 * l2, 4 * l3);
    s.limit = (double)ctx->bench->info->memory_limit;
    s.bytes[L1] = l1 / 2;
    s.bytes[L2] = fmax(l2 / 2, fmin(2 * l1, 0.75 * l2));
    if (l3 > 4 * l2)
        s.bytes[L3] = sqrt(2 * l2 * l3);
    s.shared = 0.75 * l3;
    s.bytes[DRAM] = fmin(fmax(beyond, 32 * 1048576.0), s.limit);
    return s;
}

/* Per core when all of them stream. */
static double bytes_for(const struct sizes *s, enum level level, bool all)
{
    double bytes = s->bytes[level];
    if (!all)
        return bytes;
    if (level == L3 && bytes * s->cpus > s->shared)
        bytes = s->shared / s->cpus;
    return fmin(bytes, s->limit / s->cpus);
}

static void say(struct dg_context *ctx, const char *key, enum level level,
                const struct dg_measure *m)
{
    bool core_clocked = level == L1 || level == L2;
    const struct dg_stat *time = core_clocked ? &m->cycles : &m->ns;
    /* beyond the core's own caches a neighbour takes its share now and then: the better quarter
     * of the samples is what the machine sustains */
    double best = core_clocked ? time->median : time->low;
    if (best <= 0)
        return;
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = core_clocked ? "bytes/cycle" : "GB/s", .value = 1 / best,
        .low = 1 / time->high, .high = 1 / (core_clocked ? time->low : time->min),
        .confidence = 1, .samples = m->samples,
        .method = core_clocked ? "passes over arrays inside the level, core cycles"
                               : "passes over arrays inside the level, wall time" });
}

static void measure(struct dg_context *ctx, const struct sizes *s, enum level level,
                    enum dg_traffic kind, bool all)
{
    char key[64];
    struct dg_measure m;
    double bytes = bytes_for(s, level, all), work = level == L1 ? 1 << 20 : 4 << 20;
    struct dg_stream q = { .kind = kind, .bytes = (uint64_t)bytes / 12288 * 12288,
                           .threads = all ? 0 : 1 };
    q.passes = q.bytes > 0 ? (unsigned)fmax(1, work / (double)q.bytes) : 1;
    if (q.bytes == 0)
        return;
    dg_format(key, sizeof key, "bw.%s.%s.%s", level_names[level], dg_traffic_name(kind),
             all ? "all" : "1");
    if (dg_settled(ctx, key))
        return;
    if (dg_read_stream(ctx, &q, level == DRAM ? 7 : 11, &m))
        say(ctx, key, level, &m);
    else if (!ctx->stopped)
        dg_refused(ctx, key, level < L3 ? "bytes/cycle" : "GB/s");
}

/* --quick: what f32 planning reads. */
static bool asked(const struct dg_context *ctx, enum level level, enum dg_traffic kind, bool all)
{
    if (!ctx->quick)
        return true;
    if (all)
        return level == DRAM && kind == DG_TRIAD;
    return kind == DG_READ || kind == DG_WRITE || kind == DG_COPY;
}

void dg_probe_bandwidth(struct dg_context *ctx)
{
    struct sizes sizes = choose(ctx);
    for (int level = L1; level < LEVELS; level++)
        for (int kind = DG_READ; kind <= DG_TRIAD && sizes.bytes[level] > 0; kind++)
            for (int all = 0; all < 2 && !ctx->stopped; all++)
                if (asked(ctx, (enum level)level, (enum dg_traffic)kind, all))
                    measure(ctx, &sizes, (enum level)level, (enum dg_traffic)kind, all);
}
