/* SPDX-License-Identifier: Apache-2.0
 *
 * Bandwidth of every level, one core and all allowed ones: footprints well inside each level. What
 * counts are the bytes that the program reads and writes. */
#include "probes/probe.h"

#include <math.h>

#include "probes/infer/steps.h"
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
    /* small pages fall on the sets of L2 by chance: a quarter of it fits them with any luck */
    s.bytes[L2] = fmin(fmax(l2 / 4, 4 * l1), fmax(l2 / 2, fmin(2 * l1, 0.75 * l2)));
    /* by the size, which runs agree on, where the part that neighbours leave allows it */
    if (l3 > 4 * l2)
        s.bytes[L3] = fmin(sqrt(2 * l2 * dg_known(ctx, "l3_size", l3)), l3 / 2);
    s.shared = 0.75 * l3;
    s.bytes[DRAM] = fmin(fmax(beyond, 128 * 1048576.0), s.limit);
    return s;
}

/* Per core when so many of them stream. */
static double bytes_for(const struct sizes *s, enum level level, unsigned cpus)
{
    double bytes = s->bytes[level];
    if (cpus == 1)
        return bytes;
    if (level == L3 && bytes * cpus > s->shared)
        bytes = s->shared / cpus;
    return fmin(bytes, 15 * s->limit / 16 / cpus);      /* the bench keeps them apart */
}

/* Ways to read. In the core's own caches a loop that takes more at once loses less where it ends;
 * beyond, prefetchers of one core like the one, those of another the other. What reading can reach
 * is the best of them. Steps that are 0 are the loops' own. */
static const struct { enum level first, last; struct dg_stream way; } forms[] = {
    { L1, L2, { .streams = 0 } }, { L1, L2, { .step = 4096 } },
    { L1, L2, { .step = 4096, .place = 1 } }, { L1, L1, { .step = 12288 } },
    { L3, DRAM, { .streams = 1 } }, { L3, L3, { .streams = 4 } },   /* side by side, places of more
                                    than a cache leave lines behind that the next walk would meet */
    { L3, DRAM, { .streams = 1, .step = 8192 } },
    { L3, DRAM, { .streams = 1, .step = 4096, .prefetch = 1024 } },
    { L3, DRAM, { .streams = 1, .step = 4096, .prefetch = 4096 } },
};

/* Time a byte that counts. In the core's own caches every disturbance makes a sample slower; the
 * better quarter is what is sustained there, as beyond, where neighbours take their share. */
static const struct dg_stat *time_of(const struct dg_measure *m, enum level level)
{
    return level < L3 ? &m->cycles : &m->ns;
}

/* Samples of one request in the core's own caches, if undisturbed, are alike. */
static bool is_even(const struct dg_measure *m, enum level level)
{
    return level >= L3 || m->cycles.median <= 1.015 * m->cycles.low;
}

static bool read_way(struct dg_context *ctx, const struct sizes *s, enum level level,
                     enum dg_traffic kind, unsigned cpus, const struct dg_stream *way,
                     struct dg_measure *out)
{
    double bytes = bytes_for(s, level, cpus), work = level == L1 ? 1 << 20 : 4 << 20;
    struct dg_stream q = *way;
    q.kind = kind;
    q.threads = cpus > 1 && cpus == s->cpus ? 0 : cpus;      /* 0: all */
    q.bytes = (uint64_t)bytes / 73728 * 73728;
    q.passes = q.bytes > 0 ? (unsigned)fmax(1, work / (double)q.bytes) : 1;
    if (q.bytes == 0)
        q.bytes = (uint64_t)bytes / 12288 * 12288;
    return q.bytes > 0 && dg_read_stream(ctx, &q, level == DRAM && cpus == 1 ? 9 : 15, out);
}

static bool read_level(struct dg_context *ctx, const struct sizes *s, enum level level,
                       enum dg_traffic kind, unsigned cpus, struct dg_measure *best)
{
    static const struct dg_stream plain;
    bool any = false;
    struct dg_measure m;
    if (kind != DG_READ || (ctx->quick && level >= L3))
        return read_way(ctx, s, level, kind, cpus, &plain, best) && time_of(best, level)->low > 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (level < forms[i].first || level > forms[i].last ||
            !read_way(ctx, s, level, kind, cpus, &forms[i].way, &m))
            continue;
        if (!any || time_of(&m, level)->low < time_of(best, level)->low)
            *best = m;
        any = true;
    }
    return any && time_of(best, level)->low > 0;
}

/* How, and which bytes count. */
static const char *method_of(enum level level, enum dg_traffic kind)
{
#define PASSES "better quarter of passes over arrays inside the level, "
#define READS "better quarter of the best of several plain reads of an array inside the level, "
    static const char *const methods[3][2] = {
        { READS "core cycles; bytes read count", READS "wall time; bytes read count" },
        { PASSES "core cycles; bytes read count", PASSES "wall time; bytes read count" },
        { PASSES "core cycles; bytes read and written count, lines fetched to be written do not",
          PASSES "wall time; bytes read and written count, lines fetched to be written do not" },
    };
    return methods[kind == DG_READ ? 0 : kind == DG_READ_FMA ? 1 : 2][level >= L3];
#undef PASSES
#undef READS
}

static void measure(struct dg_context *ctx, const struct sizes *s, enum level level,
                    enum dg_traffic kind, bool all)
{
    char key[64];
    struct dg_measure m;
    const char *unit = level < L3 ? "bytes/cycle" : "GB/s";
    dg_format(key, sizeof key, "bw.%s.%s.%s", level_names[level], dg_traffic_name(kind),
             all ? "all" : "1");
    if (dg_settled(ctx, key))
        return;
    if (read_level(ctx, s, level, kind, all ? s->cpus : 1, &m)) {
        const struct dg_stat *time = time_of(&m, level);
        if (!is_even(&m, level)) {
            dg_cannot(ctx, key, unit, DG_UNRELIABLE, "the samples of one request differ",
                      "run again on a quiet machine");
            return;
        }
        dg_say(ctx, &(struct dg_number){
            .key = key, .unit = unit, .value = 1 / time->low, .low = 1 / time->high,
            .high = 1 / time->min, .confidence = 1, .samples = m.samples,
            .method = method_of(level, kind) });
    } else if (!ctx->stopped && s->bytes[level] >= 12288) {
        dg_refused(ctx, key, unit);
    }
}

/* --quick: what f32 planning reads. Stores that go past the caches have no level but memory. */
static bool asked(const struct dg_context *ctx, enum level level, enum dg_traffic kind, bool all)
{
    bool past = kind == DG_NT_COPY || kind == DG_NT_WRITE || kind == DG_NT_TRIAD;
    if (!ctx->quick)
        return level == DRAM || !past;
    if (all)
        return level == DRAM && kind == DG_TRIAD;
    return kind == DG_READ || kind == DG_WRITE || kind == DG_COPY;
}

/* On 1, 2, 4 and so on CPUs up to all of them. */
static void knee(struct dg_context *ctx, const struct sizes *s, enum level level,
                 enum dg_traffic kind)
{
    enum { MOST = 16 };
    double rate[MOST];
    unsigned cpus[MOST];
    size_t count = 0;
    char key[64];
    dg_format(key, sizeof key, "bw.%s.%s.knee", level_names[level], dg_traffic_name(kind));
    if (s->cpus < 2) {
        dg_cannot(ctx, key, "count", DG_UNAVAILABLE, "only one CPU may be used",
                  "allow more CPUs (taskset, cpuset)");
        return;
    }
    if (dg_settled(ctx, key))
        return;
    for (unsigned n = 1; count < MOST; n = 2 * n < s->cpus ? 2 * n : s->cpus) {
        struct dg_measure m;
        if (!read_level(ctx, s, level, kind, n, &m)) {
            if (!ctx->stopped)
                dg_refused(ctx, key, "count");
            return;
        }
        cpus[count] = n;
        rate[count++] = 1 / time_of(&m, level)->low;
        if (n == s->cpus)
            break;
    }
    size_t at = dg_infer_knee(rate, count, 0.05);
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "count", .value = cpus[at], .low = at > 0 ? cpus[at - 1] : 1,
        .high = cpus[at], .confidence = 0.8, .samples = count,
        .method = "CPUs doubled up to all; the first within 5 % of the best" });
}

void dg_probe_bandwidth(struct dg_context *ctx)
{
    struct sizes sizes = choose(ctx);
    for (int level = L1; level < LEVELS; level++)
        for (int kind = DG_READ; kind < DG_TRAFFIC_COUNT && sizes.bytes[level] > 0; kind++)
            for (int all = 0; all < 2 && !ctx->stopped; all++)
                if (asked(ctx, (enum level)level, (enum dg_traffic)kind, all))
                    measure(ctx, &sizes, (enum level)level, (enum dg_traffic)kind, all);
    for (int level = L3; level < LEVELS && !ctx->quick; level++)
        for (int kind = DG_READ; kind <= DG_TRIAD && !ctx->stopped; kind += DG_TRIAD - DG_READ)
            if (sizes.bytes[level] > 0)
                knee(ctx, &sizes, (enum level)level, (enum dg_traffic)kind);
}
