/* SPDX-License-Identifier: Apache-2.0
 *
 * The best way to compute a product on a chip, by the profile alone. */
#ifndef DEEPGEMM_PLAN_H
#define DEEPGEMM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deepgemm/error.h"
#include "deepgemm/problem.h"
#include "deepgemm/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dg_planned;                      /* a plan, with what was read and assumed for it */

/* strict: an absent or null field of the profile is an error, not its named default. Product and
 * hardware must live as long as the plan. */
struct dg_planned *dg_plan(const struct dg_product *product, const struct dg_hardware *hardware,
                           bool strict, struct dg_error *e);
void dg_plan_free(struct dg_planned *planned);

struct dg_plan_facts {
    size_t size;                        /* set by the caller: sizeof(struct dg_plan_facts) */
    const char *isa;                    /* "x86_64-avx2" */
    uint32_t mr, nr;                    /* rows and columns of the register tile */
    uint64_t mc, nc, kc;                /* block sizes */
    double predicted_cycles;            /* core cycles of one call */
    double runner_up_cycles;            /* of the second best plan; 0: there is no other */
    double peak;                        /* operations (2 per multiply-add) a cycle of this body */
    const char *binding;                /* the constraint or resource that binds */
    size_t assumed;                     /* fields that the profile had not */
};
/* The texts live as long as the plan. */
void dg_plan_describe(const struct dg_planned *planned, struct dg_plan_facts *out);
/* The fields that were assumed, 0 .. assumed - 1, and the value used; NULL behind the last. */
const char *dg_plan_assumed(const struct dg_planned *planned, size_t index, double *used);

#ifdef __cplusplus
}
#endif

#endif
