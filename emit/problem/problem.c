/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/problem/problem.h"

const char *const dg_dtype_names[DG_DTYPE_COUNT] = {
#define DTYPE(id, name, other, bytes, built) [DG_##id] = name,
#include "emit/problem/dtypes.def"
};

unsigned dg_dtype_bytes(enum dg_dtype dtype)
{
    static const unsigned char bytes[DG_DTYPE_COUNT] = {
#define DTYPE(id, name, other, bytes, built) [DG_##id] = bytes,
#include "emit/problem/dtypes.def"
    };
    return bytes[dtype];
}
