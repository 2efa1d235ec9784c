/* SPDX-License-Identifier: Apache-2.0
 *
 * Which product is wanted: C[m,n] = A[m,k] * B[k,n] (+ C). */
#ifndef DEEPGEMM_PROBLEM_H
#define DEEPGEMM_PROBLEM_H

#include "deepgemm/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dg_product;                      /* a checked problem */

/* From a YAML file (NULL: none) and settings, which win over it: an array of "key=value" texts
 * with NULL behind the last (NULL: none), keys as in the file: "m=64", "layout.b=row_major",
 * "codegen.kernel_name=mine" (what --name is on the command line).
 * Required are m, n, k and dtype. NULL with *e filled: DG_EXIT_INPUT for the file, DG_EXIT_USAGE
 * for the settings. */
struct dg_product *dg_problem_read(const char *path, const char *const *settings,
                                   struct dg_error *e);
void dg_problem_free(struct dg_product *product);

/* The prefix of the kernel's symbols, given or the default one. */
const char *dg_problem_name(const struct dg_product *product);

#ifdef __cplusplus
}
#endif

#endif
