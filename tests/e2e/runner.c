/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks every element of every kernel, and that the gaps of C keep their bytes. Inputs are
 * sixteenths of small integers, so that a right sum is exact and the reference needs no floating
 * point (which an emulator is slow at). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static int8_t whole(int64_t i, int64_t seed)
{
    return (int8_t)(((uint64_t)(i + seed) * 0x9E3779B97F4A7C15u >> 40) & 0xFF);
}

static float *fill(int64_t count, int64_t seed)
{
    float *out = malloc((size_t)(count + 1) * sizeof *out);
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)whole(i, seed) / 16;
    return out;
}

/* The float that C must hold at (i, j); before: what it held. */
static float expected(const struct row *r, int64_t i, int64_t j, float before)
{
    int64_t sum = 0;
    for (int64_t x = 0; x < r->k; x++)
        sum += (int64_t)whole(i * r->lda + x, 1) * whole(x * r->ldb + j, 2);
    return (float)sum / 256 + (r->beta != 0 ? before : 0);
}

static long compare(const struct row *r, const float *c, const float *before)
{
    long wrong = 0;
    for (int64_t i = 0; i < r->m; i++)
        for (int64_t j = 0; j < r->ldc && i * r->ldc + j < (r->m - 1) * r->ldc + r->n; j++) {
            int64_t at = i * r->ldc + j;
            float right = j < r->n ? expected(r, i, j, before[at]) : before[at];
            wrong += !(c[at] == right);
        }
    return wrong;
}

static long check(const struct row *r)
{
    int64_t elements = (r->m - 1) * r->ldc + r->n;
    float *a = fill(r->m * r->lda, 1), *b = fill(r->k * r->ldb, 2), *before = fill(elements, 3);
    float *c = malloc((size_t)elements * sizeof *c);
    void *packed = NULL;
    memcpy(c, before, (size_t)elements * sizeof *c);
    if (r->pack != NULL) {
        packed = aligned_alloc(64, (r->packed_size() + 64) / 64 * 64);
        r->pack(b, packed);
    }
    r->run(a, packed != NULL ? packed : b, c);
    long wrong = compare(r, c, before);
    free(a), free(b), free(c), free(before), free(packed);
    return wrong;
}

int main(void)
{
    long bad = 0;
    for (size_t i = 0; i < row_count; i++) {
        long wrong = check(&rows[i]);
        if (wrong != 0 && bad++ < 20)
            printf("%s: %ld elements wrong (%s%s)\n", rows[i].name, wrong,
                   rows[i].pack != NULL ? "packed" : "row-major", rows[i].beta ? ", beta" : "");
    }
    printf("%zu kernels, %ld wrong\n", row_count, bad);
    return bad != 0;
}
