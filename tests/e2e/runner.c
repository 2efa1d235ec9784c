/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks every element of every kernel, and that the gaps of C keep their bytes. The reference
 * needs no floating point, which an emulator is slow at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "tests/elements.h"

static char *filled(enum kind kind, int64_t count, int64_t seed)
{
    char *out = malloc((size_t)(count + 1) * kind_size(kind));
    fill(kind, out, count, seed);
    return out;
}

/* What C must hold at (i, j), in units of 1/256 for floating point. */
static int64_t expected(const struct row *r, const struct type *t, int64_t i, int64_t j)
{
    int64_t old = whole(t->c, i * r->ldc + j, 3) * (kind_is_integer(t->c) ? 1 : 16);
    int64_t sum = r->beta != 0 ? old : 0;
    for (int64_t x = 0; x < r->k; x++)
        sum += whole(t->a, i * r->lda + x, 1) * whole(t->b, x * r->ldb + j, 2);
    return sum;
}

static long compare(const struct row *r, const struct type *t, const char *c, const char *before)
{
    long wrong = 0;
    size_t size = kind_size(t->c);
    for (int64_t i = 0; i < r->m; i++)
        for (int64_t j = 0; j < r->ldc && i * r->ldc + j < (r->m - 1) * r->ldc + r->n; j++) {
            size_t at = (size_t)(i * r->ldc + j) * size;
            char right[8];
            memcpy(right, before + at, size);
            if (j < r->n)
                put(t->c, right, expected(r, t, i, j), 256);
            wrong += memcmp(c + at, right, size) != 0;
        }
    return wrong;
}

static long check(const struct row *r)
{
    const struct type *t = type_of(r->dtype);
    int64_t elements = (r->m - 1) * r->ldc + r->n;
    char *a = filled(t->a, r->m * r->lda, 1), *b = filled(t->b, r->k * r->ldb, 2);
    char *before = filled(t->c, elements, 3), *c = filled(t->c, elements, 3);
    void *packed = NULL;
    if (r->pack != NULL) {
        packed = aligned_alloc(64, (r->packed_size() + 64) / 64 * 64);
        r->pack(b, packed);
    }
    r->run(a, packed != NULL ? packed : b, c);
    long wrong = compare(r, t, c, before);
    free(a), free(b), free(c), free(before), free(packed);
    return wrong;
}

int main(void)
{
    long bad = 0;
    for (size_t i = 0; i < row_count; i++) {
        long wrong = check(&rows[i]);
        if (wrong != 0 && bad++ < 20)
            printf("%s: %s, %ld elements wrong (%s%s)\n", rows[i].name, rows[i].dtype, wrong,
                   rows[i].pack != NULL ? "packed" : "row-major", rows[i].beta ? ", beta" : "");
    }
    printf("%zu kernels, %ld wrong\n", row_count, bad);
    return bad != 0;
}
