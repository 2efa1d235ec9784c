/* SPDX-License-Identifier: Apache-2.0
 *
 * The sums that the reference and its bounds are made of, in blocks that stay in registers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/runner/internal.h"

enum { ROWS = DG_SUM_ROWS, COLUMNS = DG_SUM_COLUMNS };

typedef double block[ROWS][COLUMNS];

/* What one term, x times y, adds to a sum. */
enum term { PRODUCT, MAGNITUDE, LOST };

/* least: the smallest normal number. A product with a denormal factor is lost when that factor is
 * taken for zero. */
static inline double term_of(enum term term, double x, double y, double least)
{
    double magnitude = fabs(x) * fabs(y);
    switch (term) {
    case PRODUCT: return x * y;
    case MAGNITUDE: return magnitude;
    default: return fabs(x) < least || fabs(y) < least ? magnitude : 0;
    }
}

static inline void add_up(const double *a, const double *panel, uint64_t depth, enum term term,
                          double least, block out)
{
    block sum = {{0}};
    for (uint64_t k = 0; k < depth; k++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                sum[i][j] += term_of(term, a[k * ROWS + i], panel[k * COLUMNS + j], least);
    memcpy(out, sum, sizeof sum);
}

static __attribute__((noinline)) void products(const double *a, const double *panel,
                                               uint64_t depth, block out)
{
    add_up(a, panel, depth, PRODUCT, 0, out);
}

static __attribute__((noinline)) void magnitudes(const double *a, const double *panel,
                                                 uint64_t depth, block out)
{
    add_up(a, panel, depth, MAGNITUDE, 0, out);
}

static __attribute__((noinline)) void lost_products(const double *a, const double *panel,
                                                    uint64_t depth, double least, block out)
{
    add_up(a, panel, depth, LOST, least, out);
}

/* Each product and each addition without error: what they lose is added up beside the sum. */
static void exact_products(const double *a, const double *panel, uint64_t depth, block out,
                           block rest)
{
    memset(out, 0, sizeof(block));
    memset(rest, 0, sizeof(block));
    for (uint64_t k = 0; k < depth; k++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                double x = a[k * ROWS + i], y = panel[k * COLUMNS + j], product = x * y, lost;
                out[i][j] = dg_two_sum(out[i][j], product, &lost);
                rest[i][j] += lost + fma(x, y, -product);
            }
}

/* B in panels of COLUMNS columns; columns beyond n are zero. */
static void make_panels(const struct dg_trial *run, double *panels)
{
    const struct dg_run_kernel *p = run->kernel;
    for (uint64_t j0 = 0; j0 < p->n; j0 += COLUMNS)
        for (uint64_t k = 0; k < p->k; k++)
            for (uint64_t j = j0; j < j0 + COLUMNS; j++)
                *panels++ = j < p->n ? dg_b_at(run, k, j) : 0.0;
}

static void make_rows(const struct dg_trial *run, uint64_t i0, double *rows)
{
    const struct dg_run_kernel *p = run->kernel;
    for (uint64_t k = 0; k < p->k; k++)
        for (uint64_t i = i0; i < i0 + ROWS; i++)
            *rows++ = i < p->m ? dg_a_at(run, i, k) : 0.0;
}

bool dg_sums_each(struct dg_trial *run, dg_sums_use *use)
{
    const struct dg_run_kernel *p = run->kernel;
    double least = ldexp(1, p->dtype->sum->low);
    uint64_t panels = (p->n + COLUMNS - 1) / COLUMNS;
    double *b = calloc((size_t)(panels * p->k * COLUMNS) + 1, sizeof *b);
    double *a = calloc((size_t)(p->k * ROWS) + 1, sizeof *a);
    bool ok = a != NULL && b != NULL;
    if (ok)
        make_panels(run, b);
    for (uint64_t i0 = 0; ok && i0 < p->m; i0 += ROWS) {
        make_rows(run, i0, a);
        for (uint64_t j = 0; j < panels; j++) {
            const double *panel = b + j * p->k * COLUMNS;
            struct dg_sums sums = {.row = i0, .column = j * COLUMNS};
            if (p->dtype->sum->precision == 53)
                exact_products(a, panel, p->k, sums.product, sums.rest);
            else
                products(a, panel, p->k, sums.product);
            magnitudes(a, panel, p->k, sums.magnitude);
            if (p->dtype->flushes)
                lost_products(a, panel, p->k, least, sums.lost);
            use(run, &sums);
        }
    }
    free(a);
    free(b);
    return ok;
}
