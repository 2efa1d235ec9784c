/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of kernels to check, written by products_test.c and linked with runner.c. */
#ifndef DG_TESTS_E2E_RUNNER_H
#define DG_TESTS_E2E_RUNNER_H

#include <stddef.h>
#include <stdint.h>

struct row {
    const char *name, *dtype;              /* "f32", "f64", "bf16", "u8s8", "s8s8" */
    int64_t m, n, k, lda, ldb, ldc;
    int beta;
    void (*run)(const void *a, const void *b, void *c);
    size_t (*packed_size)(void);           /* NULL: B is taken as it is */
    void (*pack)(const void *b, void *packed);
};
extern const struct row rows[];
extern const size_t row_count;

#endif
