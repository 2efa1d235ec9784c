/* SPDX-License-Identifier: Apache-2.0
 * Median and quartiles of accepted samples. */
#include "microbench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Between the two neighbours of a fractional rank. */
static double quantile(const double *sorted, size_t count, double q)
{
    double rank = q * (double)(count - 1);
    size_t i = (size_t)rank;
    double part = rank - (double)i;
    return i + 1 < count ? sorted[i] + part * (sorted[i + 1] - sorted[i]) : sorted[i];
}

static bool quartiles(const struct dg_sample *sample, size_t count, size_t field, double *median,
                      double *low, double *high)
{
    double *values = malloc(count * sizeof *values);
    if (values == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        memcpy(&values[i], (const char *)&sample[i] + field, sizeof values[i]);
    dg_sort_doubles(values, count);
    *median = quantile(values, count, 0.5);
    *low = quantile(values, count, 0.25);
    *high = quantile(values, count, 0.75);
    free(values);
    return true;
}

void dg_samples_summary(struct dg_samples *s)
{
    enum { ENOUGH = 5 };
    s->median = s->low = s->high = s->median_ns = s->low_ns = s->high_ns = 0;
    s->reliable = false;
    if (s->count == 0 ||
        !quartiles(s->sample, s->count, offsetof(struct dg_sample, cycles), &s->median, &s->low,
                   &s->high) ||
        !quartiles(s->sample, s->count, offsetof(struct dg_sample, ns), &s->median_ns, &s->low_ns,
                   &s->high_ns))
        return;
    s->reliable = s->count >= ENOUGH && s->median - s->low <= 0.005 * s->median;
}
