/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/groups.h"

#include "probes/infer/stats.h"

size_t dg_infer_groups(const double *distance, size_t n, double near, double far, unsigned *group)
{
    size_t groups = 0;
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (first < i && distance[i * n + first] > near)
            first++;
        group[i] = first < i ? group[first] : (unsigned)groups++;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double d = distance[i * n + j];
            if (i != j && !(group[i] == group[j] ? d <= near : d >= far))
                return 0;
        }
    return groups;
}

size_t dg_infer_levels(const double *distance, size_t n, double gap,
                       struct dg_grouping out[DG_GROUP_LEVELS])
{
    double sorted[DG_GROUP_MOST * DG_GROUP_MOST / 2];
    size_t pairs = 0, levels = 0;
    if (n > DG_GROUP_MOST)
        return 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            sorted[pairs++] = distance[i * n + j];
    dg_sort_doubles(sorted, pairs);
    for (size_t k = 0; k + 1 < pairs && levels < DG_GROUP_LEVELS; k++) {
        struct dg_grouping *g = &out[levels];
        g->near = sorted[k];
        g->far = sorted[k + 1];
        if (!(g->far >= gap * g->near))
            continue;
        g->groups = dg_infer_groups(distance, n, g->near, g->far, g->group);
        levels += g->groups > 1;
    }
    return levels;
}
