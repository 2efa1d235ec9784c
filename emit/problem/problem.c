/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/problem/problem.h"

#define DTYPE(id, name, other, a, b, c, a_bytes, b_bytes, c_bytes, sum, built) [DG_##id] = name,
const char *const dg_dtype_names[DG_DTYPE_COUNT] = {
#include "emit/problem/dtypes.def"
};

#define DTYPE(id, name, other, a, b, c, a_bytes, b_bytes, c_bytes, sum, built) \
    [DG_##id] = { a, b, c, sum, a_bytes, b_bytes, c_bytes },
const struct dg_dtype_row dg_dtypes[DG_DTYPE_COUNT] = {
#include "emit/problem/dtypes.def"
};

uint64_t dg_k_most(enum dg_dtype dtype)
{
    switch (dtype) {
    case DG_U8S8: return INT32_MAX / (255 * 128);
    case DG_S8S8: return INT32_MAX / (128 * 128);
    default: return UINT64_MAX;
    }
}
