/* SPDX-License-Identifier: Apache-2.0
 *
 * The product in double precision, and how far a single-precision kernel may be from it.
 *
 * Let u = 2^-24 and gamma(n) = n u / (1 - n u). An element is a sum of K products, plus beta * c.
 * In whatever order a kernel adds, and whether it multiplies and adds apart or fused, each product
 * is rounded at most once as a product and at most K times as a part of a sum (K - 1 additions of
 * products, one of c), and c at most K times. So each term is off by a factor within
 * 1 +- gamma(K + 1), and
 *
 *     |error| <= gamma(K + 1) * (sum |a||b| + beta |c|)
 *
 * as long as nothing overflows. A product below the normal range is off by up to 2^-150 besides
 * (sums of denormals are exact), K of them by K * 2^-150. The reference itself keeps the same bound
 * with u = 2^-53: products of two floats are exact in double, K additions are not. The sum of
 * magnitudes is computed in double too, so its own error is covered by the same term, doubled.
 *
 * Where the reference is NaN or infinite the kernel must be so too, with the same sign of infinity:
 * with finite sums far from the limits, a NaN or an infinity can only come from the inputs, in any
 * order of summation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/runner/internal.h"

enum { ROWS = 4, COLUMNS = 4 };   /* of a block kept in registers */

float dg_b_at(const struct dg_trial *run, uint64_t k, uint64_t j)
{
    return run->kernel->layout_b == DG_RUN_COL_MAJOR ? run->b[j * run->kernel->k + k]
                                                     : run->b[k * run->kernel->n + j];
}

/* B in panels of COLUMNS columns, as doubles; columns beyond n are zero. */
static void make_panels(const struct dg_trial *run, double *panels)
{
    const struct dg_run_kernel *p = run->kernel;
    for (uint64_t j0 = 0; j0 < p->n; j0 += COLUMNS)
        for (uint64_t k = 0; k < p->k; k++)
            for (uint64_t j = j0; j < j0 + COLUMNS; j++)
                *panels++ = j < p->n ? (double)dg_b_at(run, k, j) : 0.0;
}

static inline void block(const double *a, const double *panel, uint64_t depth, bool magnitudes,
                         double out[ROWS][COLUMNS])
{
    double sum[ROWS][COLUMNS] = {{0}};
    for (uint64_t k = 0; k < depth; k++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                double x = a[k * ROWS + i], y = panel[k * COLUMNS + j];
                sum[i][j] += magnitudes ? fabs(x) * fabs(y) : x * y;
            }
    memcpy(out, sum, sizeof sum);
}

static __attribute__((noinline)) void block_sum(const double *a, const double *panel,
                                                uint64_t depth, double out[ROWS][COLUMNS])
{
    block(a, panel, depth, false, out);
}

static __attribute__((noinline)) void block_magnitude(const double *a, const double *panel,
                                                      uint64_t depth, double out[ROWS][COLUMNS])
{
    block(a, panel, depth, true, out);
}

static double gamma_of(double n, double unit)
{
    return n * unit / (1 - n * unit);
}

static void finish_block(struct dg_trial *run, uint64_t i0, uint64_t j0,
                         double sum[ROWS][COLUMNS], double magnitude[ROWS][COLUMNS])
{
    const struct dg_run_kernel *p = run->kernel;
    double n = (double)p->k + 1;
    double relative = gamma_of(n, 0x1p-24) + 2 * gamma_of(n + 1, 0x1p-53);
    for (uint64_t i = i0; i < i0 + ROWS && i < p->m; i++)
        for (uint64_t j = j0; j < j0 + COLUMNS && j < p->n; j++) {
            double c = p->beta ? (double)run->c[i * p->n + j] : 0.0;
            double s = magnitude[i - i0][j - j0] + fabs(c);
            run->reference.value[i * p->n + j] = sum[i - i0][j - j0] + c;
            run->reference.bound[i * p->n + j] = relative * s + (double)p->k * 0x1p-150;
        }
}

bool dg_reference_make(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    uint64_t panels = (p->n + COLUMNS - 1) / COLUMNS;
    double *b = calloc((size_t)(panels * p->k * COLUMNS) + 1, sizeof *b);
    double *a = calloc((size_t)(p->k * ROWS) + 1, sizeof *a);
    bool ok = a != NULL && b != NULL;
    if (ok)
        make_panels(run, b);
    for (uint64_t i0 = 0; ok && i0 < p->m; i0 += ROWS) {
        for (uint64_t k = 0; k < p->k; k++)
            for (uint64_t i = 0; i < ROWS; i++)
                a[k * ROWS + i] = i0 + i < p->m ? (double)run->a[(i0 + i) * p->k + k] : 0.0;
        for (uint64_t j = 0; j < panels; j++) {
            double sum[ROWS][COLUMNS], magnitude[ROWS][COLUMNS];
            block_sum(a, b + j * p->k * COLUMNS, p->k, sum);
            block_magnitude(a, b + j * p->k * COLUMNS, p->k, magnitude);
            finish_block(run, i0, j * COLUMNS, sum, magnitude);
        }
    }
    free(a);
    free(b);
    return ok;
}

/* -0 is right only where every term is -0: a sum with one +0, or one that cancels, is +0. */
static bool zero_sign_fits(const struct dg_trial *run, uint64_t i, uint64_t j, float got)
{
    const struct dg_run_kernel *p = run->kernel;
    if (!signbit(got))
        return true;
    bool all_negative = !p->beta || signbit(run->c[i * p->n + j]);
    for (uint64_t k = 0; k < p->k && all_negative; k++)
        all_negative = signbit(run->a[i * p->k + k] * dg_b_at(run, k, j));
    return all_negative && (p->k > 0 || p->beta);
}

static bool element_fits(struct dg_trial *run, uint64_t i, uint64_t j, bool exact)
{
    uint64_t at = i * run->kernel->n + j;
    double want = run->reference.value[at], bound = run->reference.bound[at];
    float got = run->result[at];
    if (isnan(want))
        return isnan(got);
    if (isinf(want))
        return (double)got == want;
    if (want == 0 && got == 0)
        return zero_sign_fits(run, i, j, got);
    if (exact)
        return got == (float)want;
    double error = fabs((double)got - want);
    if (!(error <= bound))     /* written so that a NaN on either side fails */
        return false;
    if (run->tracked && error * run->worst_bound >= run->worst * bound) {
        run->worst = error;
        run->worst_bound = bound;
    }
    return true;
}

bool dg_reference_compare(struct dg_trial *run, bool exact)
{
    const struct dg_run_kernel *p = run->kernel;
    uint64_t wrong = 0, lost = 0, first = 0;
    for (uint64_t i = 0; i < p->m; i++)
        for (uint64_t j = 0; j < p->n; j++) {
            if (element_fits(run, i, j, exact))
                continue;
            first = wrong == 0 ? i * p->n + j : first;
            wrong++;
            lost += !isfinite(run->result[i * p->n + j]);
        }
    run->checked += p->m * p->n;
    if (wrong == 0)
        return true;
    double bound = exact ? 0.0 : run->reference.bound[first];
    return dg_trial_bad(run, "%llu of %llu elements wrong (%llu of them not finite); first "
                  "C[%llu][%llu] = %.9g, wanted %.9g within %.3g", (unsigned long long)wrong,
                  (unsigned long long)(p->m * p->n), (unsigned long long)lost,
                  (unsigned long long)(first / p->n), (unsigned long long)(first % p->n),
                  (double)run->result[first], run->reference.value[first], bound);
}
