/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_BASE_SORT_H
#define DG_BASE_SORT_H

#include <stddef.h>

/* Ascending; where a NaN lies is not defined. */
void dg_sort_doubles(double *values, size_t count);

#endif
