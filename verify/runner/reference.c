/* SPDX-License-Identifier: Apache-2.0
 *
 * The product in higher precision, and how far a kernel may be from it.
 *
 * Let u = 2^-p be the unit roundoff of what products are added up in (p = 24: f32, p = 53: f64) and
 * gamma(n) = n u / (1 - n u). An element is a sum of K products, plus beta * c. In whatever order a
 * kernel adds, and whether it multiplies and adds apart or fused, each product is rounded at most
 * once as a product and at most K times as a part of a sum (K - 1 additions of products, one of c),
 * and c at most K times. So each term is off by a factor within 1 +- gamma(K + 1), and with
 * S = sum |a||b| + beta |c|
 *
 *     |error| <= gamma(K + 1) * S
 *
 * as long as nothing overflows. bf16 and f16 become f32 without error and their products are exact
 * there (8 + 8 and 11 + 11 bits of 24); an instruction that takes two of them at once, such as
 * vdpbf16ps, rounds after each or after both, which is no more roundings. Beside that:
 *
 * - A product below the normal range is off by up to half the smallest denormal, 2^(low - p) (sums
 *   of denormals are exact); the additions that follow make it gamma(K + 1) larger at the most.
 * - Where denormals may be taken for zero (the column `flushes` of elements.def; vdpbf16ps does so
 *   with inputs, accumulators and results, whatever the control register says), a product with a
 *   denormal factor may be lost whole; the sum of their magnitudes is `lost` below. Each result
 *   that is flushed takes 2^low at the most: one for each of K products, for each of K additions
 *   of partial sums, and one for a denormal c.
 * - Where C is narrower than the sum (f16), one rounding more: half a step of C's kind at the
 *   largest value that the sum may have.
 *
 * The reference. Products of f32, f16 and bf16 are exact in double and K additions are not, so its
 * own error is gamma(K + 1) * S with u = 2^-53. For f64 no product or sum loses anything: products
 * are taken apart by fma, additions by TwoSum, and what they lose is added up beside (Ogita, Rump,
 * Oishi: Accurate sum and dot product, 2005, Dot2), which leaves u + gamma(K + 2)^2. S itself is
 * added up in double, which makes it too small by a factor 1 - gamma(K + 1) at the most. Below the
 * normal range Dot2's products lose as much as the kernel's.
 *
 * Integers: all sums are below 2^53, so that they are exact in double; every element must be the
 * same. The sum of products fits C (dg_run_dtype_most_k); with the old C added it wraps modulo
 * 2^32, in the kernel as here.
 *
 * Where the reference is NaN or infinite the kernel must be so too, with the same sign of infinity:
 * with finite sums far from the limits, a NaN or an infinity can only come from the inputs, in any
 * order of summation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/runner/internal.h"

double dg_a_at(const struct dg_trial *run, uint64_t i, uint64_t k)
{
    return dg_element_get(run->kernel->dtype->a, run->a, i * run->kernel->k + k);
}

double dg_b_at(const struct dg_trial *run, uint64_t k, uint64_t j)
{
    const struct dg_run_kernel *p = run->kernel;
    uint64_t at = p->layout_b == DG_RUN_COL_MAJOR ? j * p->k + k : k * p->n + j;
    return dg_element_get(p->dtype->b, run->b, at);
}

static double old_c(const struct dg_trial *run, uint64_t at)
{
    return run->kernel->beta ? dg_element_get(run->kernel->dtype->c, run->c, at) : 0.0;
}

static double gamma_of(double n, double unit)
{
    return n * unit / (1 - n * unit);
}

/* The factor of S: of the kernel and of the reference. */
static double relative_bound(const struct dg_run_kernel *p)
{
    double n = (double)p->k + 1, of_double = gamma_of(n + 1, 0x1p-53);
    int precision = p->dtype->sum->precision;
    if (precision == 0)
        return 0;
    double reference = precision == 53 ? 0x1p-53 + of_double * of_double : of_double;
    return (gamma_of(n, ldexp(1, -precision)) + reference) * (1 + of_double);
}

static double wrapped(const struct dg_kind *kind, double value)
{
    return value > kind->high ? value - 0x1p32 : value < kind->low ? value + 0x1p32 : value;
}

/* What results below the normal range may take away, without the lost products. */
static double tiny_bound(const struct dg_run_kernel *p, double relative)
{
    const struct dg_kind *sum = p->dtype->sum;
    double terms = (double)p->k;
    if (sum->precision == 0)
        return 0;
    if (p->dtype->flushes)
        return (2 * terms + 1) * ldexp(1, sum->low) * (1 + relative);
    /* twice for f64: the reference's products too */
    return terms * ldexp(sum->precision == 53 ? 2 : 1, sum->low - sum->precision) * (1 + relative);
}

static void finish(struct dg_trial *run, const struct dg_sums *sums)
{
    const struct dg_run_kernel *p = run->kernel;
    const struct dg_kind *kind = p->dtype->c;
    double relative = relative_bound(p), tiny = tiny_bound(p, relative);
    for (uint64_t x = 0; x < DG_SUM_ROWS && sums->row + x < p->m; x++)
        for (uint64_t y = 0; y < DG_SUM_COLUMNS && sums->column + y < p->n; y++) {
            uint64_t at = (sums->row + x) * p->n + sums->column + y;
            double c = old_c(run, at), rest;
            double value = dg_two_sum(sums->product[x][y], c, &rest);
            rest += sums->rest[x][y];
            if (isfinite(value) && isfinite(rest))
                value += rest;
            double lost = sums->lost[x][y] + (p->dtype->flushes ? tiny : 0);
            double bound = relative * (sums->magnitude[x][y] + fabs(c)) + sums->lost[x][y] + tiny;
            if (kind->precision > 0 && kind->precision < p->dtype->sum->precision
                && isfinite(value))
                bound += dg_element_half_step(kind, fabs(value) + bound);
            run->reference.value[at] = kind->precision > 0 ? value : wrapped(kind, value);
            run->reference.bound[at] = bound;
            run->reference.lost[at] = lost;
        }
}

bool dg_reference_make(struct dg_trial *run)
{
    return dg_sums_each(run, finish);
}

/* -0 is right only where every term is -0, as a sum with one +0, or one that cancels, is +0; or
 * where a negative result was too small for its format. */
static bool zero_sign_fits(const struct dg_trial *run, uint64_t i, uint64_t j, double got)
{
    const struct dg_run_kernel *p = run->kernel;
    double least = ldexp(1, p->dtype->sum->low);
    if (!signbit(got))
        return true;
    bool all_negative = !p->beta || signbit(old_c(run, i * p->n + j)), small = false;
    for (uint64_t k = 0; k < p->k; k++) {
        double x = dg_a_at(run, i, k), y = dg_b_at(run, k, j), term = x * y;
        all_negative &= signbit(term) != 0;
        small |= signbit(term) && x != 0 && y != 0 && (p->dtype->flushes || -term < least);
    }
    return small || (all_negative && (p->k > 0 || p->beta));
}

static bool element_fits(struct dg_trial *run, uint64_t i, uint64_t j, bool exact)
{
    const struct dg_kind *kind = run->kernel->dtype->c;
    uint64_t at = i * run->kernel->n + j;
    double want = run->reference.value[at], bound = run->reference.bound[at];
    double got = dg_element_get(kind, run->result, at);
    if (isnan(want))
        return isnan(got);
    if (isinf(want))
        return got == want;
    if (want == 0 && got == 0)
        return zero_sign_fits(run, i, j, got);
    if (exact && got == dg_element_round(kind, want))
        return true;
    double error = fabs(got - want);
    if (!(error <= (exact ? run->reference.lost[at] : bound)))   /* so that a NaN fails */
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
            lost += !isfinite(dg_element_get(p->dtype->c, run->result, i * p->n + j));
        }
    run->checked += p->m * p->n;
    if (wrong == 0)
        return true;
    double bound = exact ? run->reference.lost[first] : run->reference.bound[first];
    return dg_trial_bad(run, "%llu of %llu elements wrong (%llu of them not finite); first "
                  "C[%llu][%llu] = %.17g, wanted %.17g within %.3g", (unsigned long long)wrong,
                  (unsigned long long)(p->m * p->n), (unsigned long long)lost,
                  (unsigned long long)(first / p->n), (unsigned long long)(first % p->n),
                  dg_element_get(p->dtype->c, run->result, first), run->reference.value[first],
                  bound);
}
