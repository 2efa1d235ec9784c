/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/slices.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"

double dg_quantile(double *values, size_t count, double fraction)
{
    dg_sort_doubles(values, count);
    double at = fraction * (double)(count - 1);
    size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    return values[low] + (at - (double)low) * (values[high] - values[low]);
}

/* The cycles of slice i in every call that counts. */
static size_t gather(const struct dg_slices *s, size_t i, double *out, uint64_t *rejected)
{
    size_t count = 0;
    for (size_t call = 0; call < s->calls; call++) {
        const uint64_t *stamps = s->stamps + call * (s->slices + 1);
        if (!isfinite(s->per_tick[call]) || stamps[i + 1] <= stamps[i])
            (*rejected)++;
        else
            out[count++] = (double)(stamps[i + 1] - stamps[i]) * s->per_tick[call];
    }
    return count;
}

bool dg_slices_sum(const struct dg_slices *slices, struct dg_slice_sum *out)
{
    double *values = malloc((slices->calls + 1) * sizeof *values);
    bool ok = values != NULL && slices->slices > 0;
    *out = (struct dg_slice_sum){0};
    for (size_t i = 0; ok && i < slices->slices; i++) {
        size_t count = gather(slices, i, values, &out->rejected);
        ok = count >= DG_SLICE_CALLS_LEAST;
        if (!ok)
            break;
        out->accepted += count;
        out->cycles += dg_quantile(values, count, 0.5);
        out->low += dg_quantile(values, count, 0.25);
        out->high += dg_quantile(values, count, 0.75);
    }
    free(values);
    return ok;
}
