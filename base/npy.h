/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays in NumPy's .npy format (versions 1 to 3 read, 1 written), little endian, C order. */
#ifndef DG_BASE_NPY_H
#define DG_BASE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum dg_npy_type {
    DG_NPY_F16, DG_NPY_F32, DG_NPY_F64, DG_NPY_I8, DG_NPY_U8, DG_NPY_I16, DG_NPY_I32, DG_NPY_I64,
    DG_NPY_TYPE_COUNT
};

enum { DG_NPY_DIMENSIONS = 8 };

struct dg_npy {
    enum dg_npy_type type;
    unsigned dimension_count;                   /* 0: one value */
    uint64_t dimension[DG_NPY_DIMENSIONS];
    const void *data;                           /* C order; aligned to 16 bytes after reading */
    size_t size;                                /* bytes of data */
};

size_t dg_npy_type_size(enum dg_npy_type type);
const char *dg_npy_type_name(enum dg_npy_type type);    /* as NumPy writes it: "<f4" */

/* Refuses another dtype than `wanted` by name: floats that hold small integers are not integer
 * data. Fortran order and big endian are refused too. At most `limit` bytes. */
bool dg_npy_read(const char *path, enum dg_npy_type wanted, size_t limit, struct dg_arena *arena,
                 struct dg_npy *out, struct dg_error *e);
/* Atomic, as dg_file_write. array->size must be the size of its shape. */
bool dg_npy_write(const char *path, const struct dg_npy *array, struct dg_error *e);

#endif
