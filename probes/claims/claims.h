/* SPDX-License-Identifier: Apache-2.0
 *
 * What CPUID, /sys, hwloc, the C library and the kernel say about this machine. Claims only: they
 * stand beside what is measured, and a measured value never comes from them. */
#ifndef DG_PROBES_CLAIMS_CLAIMS_H
#define DG_PROBES_CLAIMS_CLAIMS_H

#include "base/arena.h"
#include "profile/profile.h"

struct dg_claim_row {
    const char *key;                             /* "l1_size" */
    struct dg_claim claim;
};
struct dg_claims {
    struct dg_arena *arena;
    struct dg_claim_row *row;
    size_t count, capacity;
};

void dg_claims_add(struct dg_claims *claims, const char *key, const struct dg_claim *claim);
void dg_claims_add_number(struct dg_claims *claims, const char *key, const char *source,
                          double value);
void dg_claims_add_text(struct dg_claims *claims, const char *key, const char *source,
                        const char *text);
/* The claim that most sources agree on, the smallest among equals; `otherwise` without any. */
double dg_claims_number(const struct dg_claims *claims, const char *key, double otherwise);
/* The claims of one key as an array in the arena; *count 0 when there are none. */
const struct dg_claim *dg_claims_of(const struct dg_claims *claims, const char *key,
                                    size_t *count);

#endif
