/* SPDX-License-Identifier: Apache-2.0
 *
 * Translations that stay, from what a load costs more in a page of its own. Pure. */
#ifndef DG_PROBES_INFER_TLB_H
#define DG_PROBES_INFER_TLB_H

#include <stddef.h>
#include <stdint.h>

/* Extra cycles a load by pages, rising. */
struct dg_tlb_reach { const uint32_t *pages; const double *extra; size_t count; };
struct dg_tlb {
    uint32_t first, first_next;                  /* most pages that cost nothing, next count seen */
    double cost;                                 /* of a hit in the second level; 0: no flat part */
    uint32_t second, second_next;                /* most pages at that cost, and half-way further */
    double walk;                                 /* extra when nothing holds the translation */
};
/* Members that are not seen are 0. */
struct dg_tlb dg_infer_tlb(const struct dg_tlb_reach *reach);

#endif
