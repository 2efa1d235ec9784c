/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/infer/like.h"

#include <math.h>

#include "probes/infer/stats.h"

enum { MOST = 64, FEWEST = 4, STRAYS = 8 };

bool dg_infer_like(const double *cycles, const double *other, size_t count)
{
    double apart[MOST];
    size_t used = 0, strays = 0;
    for (size_t i = 0; i < count && used < MOST; i++) {
        if (cycles[i] <= 0 || other[i] <= 0)
            continue;
        apart[used] = fabs(cycles[i] / other[i] - 1);
        strays += apart[used++] > 0.01;
    }
    return used >= FEWEST && dg_stat_of(apart, used).median <= 0.0025 && strays * STRAYS <= used;
}
