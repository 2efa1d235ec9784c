/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/keep.h"

uint64_t dg_infer_resident(const uint64_t *size, const double *ratio, size_t count, double part)
{
    uint64_t held = 0;
    for (size_t i = 0; i < count && ratio[i] <= 1 + part; i++)
        held = size[i];
    return held;
}

/* How often a line is lost whenever the lower cache is filled anew. Replacement by age loses each
 * once; what is lost for other reasons is in `near` as well. */
static double losses(const struct dg_keeps *k)
{
    return (k->far - k->near) * k->walks / (k->lost - k->hit) / k->turns;
}

enum dg_inclusion dg_infer_inclusion(const struct dg_keeps *k)
{
    const double still = 1.15, surely = 0.5, hardly = 0.2, clearly = 1.5;
    if (k->hit <= 0 || k->near > still * k->hit || k->lower < still * k->hit ||
        k->lost < clearly * k->lower || k->turns < 1)
        return DG_INCLUSION_UNKNOWN;
    double lost = losses(k);
    if (lost > hardly)
        return lost > surely ? DG_INCLUSIVE : DG_INCLUSION_UNKNOWN;
    double part = (k->pushed - k->lower) / (k->lost - k->lower);
    if (k->pushed < still * k->hit)
        return DG_KEPT;
    return part < 0.35 ? DG_VICTIM : part > 0.65 ? DG_NEITHER : DG_KEPT;
}
