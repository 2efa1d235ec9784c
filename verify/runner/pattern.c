/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of every kind: random, exactly representable, at the limits of the format, about to be
 * rounded, and not finite. */
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

bool dg_trial_floats(const struct dg_trial *run)
{
    return run->kernel->dtype->sum->precision > 0;
}

/* One operand while it is filled. */
struct draw {
    struct dg_trial *run;
    const struct dg_kind *kind;
    double range;                        /* of integers in a float */
    double limits[24];                   /* of the kind */
    unsigned limit_count;
};

static uint64_t below(struct dg_trial *run, uint64_t count)
{
    return dg_trial_random(run) % count;
}

static double pick(struct draw *d)
{
    return d->limits[below(d->run, d->limit_count)];
}

static double any_integer(struct draw *d)
{
    uint64_t count = (uint64_t)((int64_t)d->kind->high - d->kind->low) + 1;
    return (double)(d->kind->low + (int64_t)below(d->run, count));
}

/* Floats: four uniform 16-bit numbers, close to a normal distribution of variance 1, mean 0. */
static double normal(struct draw *d)
{
    if (d->kind->precision == 0)
        return any_integer(d);
    uint64_t bits = dg_trial_random(d->run);
    int sum = (int)(bits & 0xFFFF) + (int)(bits >> 16 & 0xFFFF) + (int)(bits >> 32 & 0xFFFF)
            + (int)(bits >> 48);
    return (sum - 2 * 65535) * (1.7320508075688772 / 65536);
}

/* Never 0, so that no step of K, row or column can be left out unseen. */
static double whole(struct draw *d)
{
    double value = 0;
    while (value == 0)
        value = d->kind->precision == 0
              ? any_integer(d)
              : (double)below(d->run, 2 * (uint64_t)d->range + 1) - d->range;
    return value;
}

/* The largest r for which every partial sum of k products of integers in [-r, r], and one more
 * integer, stays within the integers that the sum and the largest number of C allow: no order then
 * makes a rounding error. */
static double integer_range(const struct dg_run_kernel *p)
{
    const struct dg_run_dtype *t = p->dtype;
    int inputs = t->a->precision < t->b->precision ? t->a->precision : t->b->precision;
    int bits = t->sum->precision <= t->c->high ? t->sum->precision : t->c->high;
    double most = ldexp(1, bits), r = 1;
    for (double step = ldexp(1, inputs < 26 ? inputs - 1 : 26); step >= 1; step /= 2)
        if ((r + step) * (r + step) * (double)(p->k + 1) < most)
            r += step;
    return r;
}

/* ---- limits ---- */

static void add_limit(struct draw *d, double value)
{
    d->limits[d->limit_count++] = value;
}

/* 0, the largest, the smallest, those beside them, and where the highest bit turns. */
static void integer_limits(struct draw *d)
{
    double low = d->kind->low, high = d->kind->high, middle = (low + high + 1) / 2;
    const double values[] = {low, low + 1, 0, 1, middle - 1, middle, high - 1, high};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        add_limit(d, values[i]);
}

/* Normal and denormal ends, neighbours of 1 and a product of them that is a tie, factors whose
 * products overflow, and factors whose products end about half the smallest denormal of C. */
static void float_limits(struct draw *d, const struct dg_kind *c)
{
    const struct dg_kind *k = d->kind;
    double least = ldexp(1, k->low), step = ldexp(1, 1 - k->precision);
    int half = (c->low - c->precision - 1) / 2;
    const double values[] = {
        0.0, -0.0, 1, -1, 1.5, 3, 1 + step, 1 - step / 2, -(2 - step), 4.0 / 3,
        least, -least, least * step, -least * step, least * (1 - step),
        ldexp(2 - step, k->high), -ldexp(2 - step, k->high), ldexp(1, (k->high + 1) / 2),
        ldexp(1.125, k->high * 3 / 4), -ldexp(1, half), ldexp(1.5, half), ldexp(1, half + 1),
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        add_limit(d, values[i]);
}

static struct draw draw_of(struct dg_trial *run, const struct dg_kind *kind)
{
    struct draw d = {.run = run, .kind = kind};
    if (kind->precision == 0)
        integer_limits(&d);
    else
        float_limits(&d, run->kernel->dtype->c);
    if (dg_trial_floats(run))
        d.range = integer_range(run->kernel);
    return d;
}

/* ---- whole patterns ---- */

struct operands { struct draw a, b, c; uint64_t a_count, b_count, c_count; };

static struct operands operands_of(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    return (struct operands){
        draw_of(run, p->dtype->a), draw_of(run, p->dtype->b), draw_of(run, p->dtype->c),
        p->m * p->k, run->b_rows * run->b_columns, p->m * p->n,
    };
}

static void fill(struct draw *d, unsigned char *out, uint64_t count, double (*one)(struct draw *))
{
    for (uint64_t i = 0; i < count; i++)
        dg_element_put(d->kind, out, i, one(d));
}

static void fill_all(struct operands *o, double (*one)(struct draw *))
{
    fill(&o->a, o->a.run->a, o->a_count, one);
    fill(&o->b, o->b.run->b, o->b_count, one);
    fill(&o->c, o->c.run->c, o->c_count, one);
}

static double nothing(struct draw *d)
{
    return 0;
}

/* Where row i of A has the values that count: moves on with the row and covers the first and the
 * last step. */
static uint64_t place_of(const struct dg_trial *run, uint64_t i)
{
    const struct dg_run_kernel *p = run->kernel;
    return i + 1 == p->m && p->m > 1 ? p->k - 1 : i * 5 % p->k;
}

/* Every row of A has one value that is not zero, so that each element of C is one product, rounded
 * once. */
static void one_product_a_row(struct operands *o)
{
    struct dg_trial *run = o->a.run;
    const struct dg_run_kernel *p = run->kernel;
    fill(&o->a, run->a, o->a_count, nothing);
    fill(&o->b, run->b, o->b_count, pick);
    fill(&o->c, run->c, o->c_count, nothing);
    for (uint64_t i = 0; i < p->m && p->k > 0; i++)
        dg_element_put(o->a.kind, run->a, i * p->k + place_of(run, i), pick(&o->a));
}

/* Between 1 and 2, all of whose bits are random. */
static double one_to_two(struct draw *d)
{
    double steps = ldexp(1, d->kind->precision - 1);
    return 1 + (double)below(d->run, (uint64_t)steps) / steps;
}

static double sign_or_double(struct draw *d)
{
    static const double values[] = {1, -1, 1, -2};
    return values[below(d->run, 4)];
}

/* Every row of A has a value with random bits and, at another step, one about half a step of C
 * below it; all of B are powers of two. So each element of C is the sum of two exact products,
 * rounded once: often a tie, or close to one, whatever the order. */
static void two_products_a_row(struct operands *o)
{
    struct dg_trial *run = o->a.run;
    const struct dg_run_kernel *p = run->kernel;
    double half = ldexp(1, -p->dtype->c->precision);
    fill(&o->a, run->a, o->a_count, nothing);
    fill(&o->b, run->b, o->b_count, sign_or_double);
    fill(&o->c, run->c, o->c_count, nothing);
    for (uint64_t i = 0; i < p->m && p->k > 0; i++) {
        const double parts[] = {1, 1, 1 + ldexp(1, 1 - o->a.kind->precision), 0.75, 0.5, 1.5};
        uint64_t at = place_of(run, i), beside = (at + 1 + below(run, p->k)) % p->k;
        dg_element_put(o->a.kind, run->a, i * p->k + beside, half * parts[below(run, 6)]);
        dg_element_put(o->a.kind, run->a, i * p->k + at, one_to_two(&o->a));
    }
}

/* A few values that are not finite, -0 and denormals (where they count): in single rows of A,
 * columns of B, elements of C, the last ones among them, so that most of C stays finite. */
static void sprinkle(struct operands *o)
{
    static const double special[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    struct dg_trial *run = o->a.run;
    const struct dg_run_kernel *p = run->kernel;
    const struct dg_kind *a = o->a.kind, *b = o->b.kind, *c = o->c.kind;
    /* flushed, a denormal times infinity is NaN, else infinity: those have no denormals here */
    int down = p->dtype->flushes ? 0 : a->precision - 1;
    const double small[] = {-0.0, ldexp(1, a->low - down), ldexp(-1.5, a->low - down / 2), 0.0};
    if (p->k == 0)
        return;
    for (uint64_t i = 0; i < 8 + o->a_count / 16; i++)
        dg_element_put(a, run->a, below(run, o->a_count), small[i % 4]);
    for (uint64_t i = 0; i < 8 + o->b_count / 16; i++)
        dg_element_put(b, run->b, below(run, o->b_count), small[i % 4]);
    if (p->m > 1) {
        dg_element_put(a, run->a, o->a_count - 1, special[below(run, 3)]);
        dg_element_put(a, run->a, below(run, o->a_count), special[below(run, 3)]);
    }
    if (p->n > 1) {
        dg_element_put(b, run->b, o->b_count - 1, special[below(run, 3)]);
        dg_element_put(b, run->b, below(run, o->b_count), special[below(run, 3)]);
    }
    dg_element_put(c, run->c, below(run, o->c_count), special[below(run, 3)]);
    dg_element_put(c, run->c, o->c_count - 1, special[below(run, 3)]);
}

void dg_pattern_fill(struct dg_trial *run, enum dg_pattern pattern)
{
    struct operands o = operands_of(run);
    run->tracked = pattern == DG_NORMAL;
    switch (pattern) {
    case DG_WHOLE:
        fill_all(&o, whole);
        break;
    case DG_BOUNDARY:
        if (dg_trial_floats(run))
            one_product_a_row(&o);
        else
            fill_all(&o, pick);
        break;
    case DG_ROUNDING:
        two_products_a_row(&o);
        break;
    default:
        fill_all(&o, normal);
        if (pattern == DG_SPECIAL)
            sprinkle(&o);
        break;
    }
}

static double constant(struct draw *d)
{
    return d->limits[0];
}

bool dg_pattern_extremes(struct dg_trial *run, unsigned choice)
{
    struct operands o = operands_of(run);
    run->tracked = false;
    if (choice > 3)
        return false;
    o.a.limits[0] = choice & 1 ? o.a.kind->high : o.a.kind->low;
    o.b.limits[0] = choice & 2 ? o.b.kind->high : o.b.kind->low;
    fill(&o.a, run->a, o.a_count, constant);
    fill(&o.b, run->b, o.b_count, constant);
    fill(&o.c, run->c, o.c_count, pick);
    return true;
}
