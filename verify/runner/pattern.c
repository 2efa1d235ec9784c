/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs: random, exactly representable, at the limits of the format, and not finite. */
#include <float.h>
#include <math.h>

#include "verify/runner/internal.h"

/* splitmix64: any seed gives a good stream, the same on every machine */
uint64_t dg_trial_random(struct dg_trial *run)
{
    uint64_t z = run->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Four uniform 16-bit numbers: close to a normal distribution of variance 1, mean 0. */
static float normal(struct dg_trial *run)
{
    uint64_t bits = dg_trial_random(run);
    int sum = (int)(bits & 0xFFFF) + (int)(bits >> 16 & 0xFFFF) + (int)(bits >> 32 & 0xFFFF)
            + (int)(bits >> 48);
    return (float)((sum - 2 * 65535) * (1.7320508 / 65536));
}

/* The largest r for which every partial sum of k products of integers in [-r, r], and one more
 * integer, stays below 2^24: single precision then makes no rounding error in any order. */
static int integer_range(uint64_t k)
{
    int r = 1;
    while (r < 16 && (uint64_t)(r + 1) * (unsigned)(r + 1) * (k + 1) < (1u << 24))
        r++;
    return r;
}

static float integer(struct dg_trial *run, int range)
{
    return (float)((int)(dg_trial_random(run) % (unsigned)(2 * range + 1)) - range);
}

static float boundary(struct dg_trial *run)
{
    static const float values[] = {
        0.0f, -0.0f, 1.0f, -1.0f, FLT_MIN, -FLT_MIN, 0x1p-149f, -0x1p-149f, 0x1.fffffcp-127f,
        FLT_MAX, -FLT_MAX, 1.0f + FLT_EPSILON, 1.0f - FLT_EPSILON / 2, 0x1.555556p0f, 0x1p64f,
        -0x1p-75f, 0x1.8p-74f, 0x1.234568p100f, 3.0f, -0x1.fffffep-1f,
    };
    return values[dg_trial_random(run) % (sizeof values / sizeof *values)];
}

static void fill(struct dg_trial *run, float *out, uint64_t count, float (*one)(struct dg_trial *))
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = one(run);
}

static void fill_integers(struct dg_trial *run, float *out, uint64_t count, int range)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = integer(run, range);
}

/* Every row of A has one value that is not zero, so that each element of C is one product, rounded
 * once; its place moves on with the row and covers the first and the last step. */
static void one_product_a_row(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    for (uint64_t i = 0; i < p->m; i++) {
        for (uint64_t k = 0; k < p->k; k++)
            run->a[i * p->k + k] = 0.0f;
        if (p->k > 0) {
            uint64_t at = i + 1 == p->m && p->m > 1 ? p->k - 1 : i * 5 % p->k;
            run->a[i * p->k + at] = boundary(run);
        }
    }
}

/* A few values that are not finite, -0 and denormals: in single rows of A, columns of B, elements
 * of C, the last ones among them, so that most of C stays finite. */
static void sprinkle(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    static const float special[] = {NAN, INFINITY, -INFINITY};
    static const float small[] = {-0.0f, 0x1p-149f, -0x1.8p-130f, 0.0f};
    uint64_t a_count = p->m * p->k, b_count = run->b_rows * run->b_columns;
    if (p->k == 0)
        return;
    for (uint64_t i = 0; i < 8 + a_count / 16; i++)
        run->a[dg_trial_random(run) % a_count] = small[i % 4];
    for (uint64_t i = 0; i < 8 + b_count / 16; i++)
        run->b[dg_trial_random(run) % b_count] = small[i % 4];
    if (p->m > 1) {
        run->a[a_count - 1] = special[dg_trial_random(run) % 3];
        run->a[dg_trial_random(run) % a_count] = special[dg_trial_random(run) % 3];
    }
    if (p->n > 1) {
        run->b[b_count - 1] = special[dg_trial_random(run) % 3];
        run->b[dg_trial_random(run) % b_count] = special[dg_trial_random(run) % 3];
    }
    run->c[dg_trial_random(run) % (p->m * p->n)] = special[dg_trial_random(run) % 3];
    run->c[p->m * p->n - 1] = special[dg_trial_random(run) % 3];
}

void dg_pattern_fill(struct dg_trial *run, enum dg_pattern pattern)
{
    const struct dg_run_kernel *p = run->kernel;
    uint64_t a_count = p->m * p->k, b_count = run->b_rows * run->b_columns, c_count = p->m * p->n;
    run->tracked = pattern == DG_NORMAL;
    switch (pattern) {
    case DG_INTEGERS: {
        int range = integer_range(p->k);
        fill_integers(run, run->a, a_count, range);
        fill_integers(run, run->b, b_count, range);
        fill_integers(run, run->c, c_count, range);
        break;
    }
    case DG_BOUNDARY:
        one_product_a_row(run);
        fill(run, run->b, b_count, boundary);
        for (uint64_t i = 0; i < c_count; i++)
            run->c[i] = 0.0f;
        break;
    default:
        fill(run, run->a, a_count, normal);
        fill(run, run->b, b_count, normal);
        fill(run, run->c, c_count, normal);
        if (pattern == DG_SPECIAL)
            sprinkle(run);
        break;
    }
}
