/* SPDX-License-Identifier: Apache-2.0
 *
 * DeepGEMM: kernels for matrix products, planned from a measured profile of a chip.
 *
 *     struct dg_error e;
 *     struct dg_hardware *chip = dg_profile_read("hardware.json", &e);
 *     struct dg_product *product = dg_problem_read("gemm_config.yaml", NULL, &e);
 *     struct dg_planned *plan = dg_plan(product, chip, false, &e);
 *     bool ok = dg_emit(plan, "kernels", NULL, NULL, &e);
 *
 * Objects are opaque and freed by the function beside the one that made them; NULL may be freed.
 * A NULL object given to a function makes it fail with the error that is already in *e. */
#ifndef DEEPGEMM_DEEPGEMM_H
#define DEEPGEMM_DEEPGEMM_H

#include "deepgemm/emit.h"
#include "deepgemm/error.h"
#include "deepgemm/plan.h"
#include "deepgemm/problem.h"
#include "deepgemm/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

const char *dg_version(void);

#ifdef __cplusplus
}
#endif

#endif
