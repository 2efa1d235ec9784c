/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void dg_sort_doubles(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof *values, compare);
}
