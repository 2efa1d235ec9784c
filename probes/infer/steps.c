/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/steps.h"

#include <math.h>
#include <string.h>

#include "probes/infer/cache.h"
#include "probes/infer/stats.h"

size_t dg_infer_knee(const double *rate, size_t count, double part)
{
    double best = 0;
    size_t i = 0;
    for (size_t k = 0; k < count; k++)
        best = fmax(best, rate[k]);
    while (i + 1 < count && rate[i] < (1 - part) * best)
        i++;
    return i;
}

struct dg_reach dg_infer_reach(const double *cycles, size_t count, double l1, double memory)
{
    struct dg_reach reach = { 0, 0 };
    while (reach.any < count && cycles[reach.any] < 0.5 * (l1 + memory))
        reach.any++;
    if (reach.any == 0)
        return reach;
    /* the level behind L1 is what the farthest of them show; none there: all are in L1 */
    double rest[4];
    size_t tail = reach.any < 4 ? reach.any : 4;
    memcpy(rest, cycles + reach.any - tail, tail * sizeof *rest);
    double far = dg_stat_of(rest, tail).median;
    if (far <= 1.5 * l1) {
        reach.l1 = reach.any;
        return reach;
    }
    while (reach.l1 < reach.any && cycles[reach.l1] < 0.5 * (l1 + far))
        reach.l1++;
    return reach;
}

size_t dg_infer_misses(const double *cycles, size_t count)
{
    enum { BESIDE = 3 };
    const double least = 0.3;                    /* of the latency of one */
    for (size_t i = BESIDE; i + BESIDE < count; i++) {
        double before = 0, after = INFINITY;
        for (size_t k = i - BESIDE; k < i; k++)
            before = fmax(before, cycles[k]);
        for (size_t k = i; k < i + BESIDE; k++)
            after = fmin(after, cycles[k]);
        if (after - before > least * cycles[0])
            return i;
    }
    return 0;
}

uint64_t dg_infer_window(const uint64_t *size, const double *rate, size_t count, double part)
{
    double best = 0;
    size_t i = count;
    for (size_t k = 0; k < count; k++)
        best = fmax(best, rate[k]);
    while (i > 0 && rate[i - 1] < part * best)
        i--;
    return i == 0 || i == count ? 0 : size[i - 1];
}

uint64_t dg_infer_code_cache(const uint64_t *low, const uint64_t *high, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (low[i] == 0 || low[i] != low[0] || high[i] != high[0])
            return 0;
    return count < 2 ? 0 : dg_roundest((double)low[0], (double)high[0]);
}

struct dg_conflicts_seen dg_infer_conflicts(const double *cycles, size_t count)
{
    enum { MOST = 256 };
    const double over = 1.15;
    double sorted[MOST], sum = 0;
    size_t hits = 0;
    count = count < MOST ? count : MOST;
    if (count == 0)
        return (struct dg_conflicts_seen){ 0, 0, 0 };
    memcpy(sorted, cycles, count * sizeof *sorted);
    struct dg_stat s = dg_stat_of(sorted, count);
    for (size_t i = 0; i < count; i++)
        if (cycles[i] > over * s.median) {
            hits++;
            sum += cycles[i] - s.median;
        }
    return (struct dg_conflicts_seen){ s.median, (double)hits / (double)count,
                                       hits > 0 ? sum / (double)hits : 0 };
}
