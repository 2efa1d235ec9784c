/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of operands: which kinds there are, and how one is read and written. Every value of
 * every kind is a double. */
#ifndef DG_VERIFY_RUNNER_ELEMENTS_H
#define DG_VERIFY_RUNNER_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of KIND in elements.def. */
struct dg_kind {
    unsigned bytes;
    int precision;                        /* 0: an integer */
    int low, high;
};

/* A row of DTYPE in elements.def. */
struct dg_run_dtype {
    const char *name;
    const struct dg_kind *a, *b, *c, *sum;
    bool flushes;
};

extern const struct dg_run_dtype dg_run_dtypes[];
extern const size_t dg_run_dtype_count;

/* NULL: not one of the table. */
const struct dg_run_dtype *dg_run_dtype_named(const char *name);
/* The names of the table, apart by ", ". */
void dg_run_dtype_list(char *out, size_t size);
/* The longest K whose sums of products C can hold whatever A and B are; UINT64_MAX: any. */
uint64_t dg_run_dtype_most_k(const struct dg_run_dtype *dtype);

double dg_element_get(const struct dg_kind *kind, const void *array, uint64_t at);
/* Rounds to the nearest, ties to even; an integer must fit. */
void dg_element_put(const struct dg_kind *kind, void *array, uint64_t at, double value);
/* What put would leave to get. */
double dg_element_round(const struct dg_kind *kind, double value);
/* Half the distance between neighbours at a finite value of a float: the most that one rounding
 * changes it by. */
double dg_element_half_step(const struct dg_kind *kind, double value);

#endif
