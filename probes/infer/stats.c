/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/stats.h"

#include <math.h>

double dg_quantile(const double *sorted, size_t count, double q)
{
    if (count == 0)
        return 0;
    double at = q * (double)(count - 1);
    size_t i = (size_t)at;
    if (i + 1 >= count)
        return sorted[count - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

struct dg_stat dg_stat_of(double *values, size_t count)
{
    struct dg_stat s = { 0 };
    if (count == 0)
        return s;
    dg_sort_doubles(values, count);
    s.count = count;
    s.min = values[0];
    s.low = dg_quantile(values, count, 0.25);
    s.median = dg_quantile(values, count, 0.5);
    s.high = dg_quantile(values, count, 0.75);
    s.max = values[count - 1];
    return s;
}

struct dg_stat dg_stat_fastest(double *values, size_t count)
{
    const double one_state = 1.015;
    size_t first = 0;
    dg_sort_doubles(values, count);
    while (first < count && values[first] <= one_state * values[0])
        first++;
    return dg_stat_of(values, first);
}

void dg_stat_add(struct dg_stat *s, double value)
{
    double *const all[] = { &s->min, &s->low, &s->median, &s->high, &s->max };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] += value;
}

void dg_isotonic(double *values, size_t count)
{
    /* Blocks of equal values are kept implicitly: when a value falls below its predecessor, it is
     * averaged with the whole run before it, until the sequence rises again. */
    for (size_t i = 1; i < count; i++) {
        double sum = values[i];
        size_t length = 1, at = i;
        while (at > 0 && values[at - 1] > sum / (double)length) {
            double level = values[at - 1];
            while (at > 0 && values[at - 1] == level) {
                sum += level;
                length++;
                at--;
            }
        }
        for (size_t j = at; length > 1 && j <= i; j++)
            values[j] = sum / (double)length;
    }
}

bool dg_near(double a, double b, double part)
{
    return fabs(a - b) <= part * fmax(fabs(a), fabs(b));
}
