/* SPDX-License-Identifier: Apache-2.0
 *
 * Costs are integers, so that a plan is the same on every host: totals in 1/1024 cycle (dg_cost of
 * plan.h), prices of one thing (a line, a byte, a step) in 1/2^20 cycle. Sums and products stop at
 * DG_COST_MOST instead of wrapping: a plan that dear is never the best. */
#ifndef DG_EMIT_PLAN_FIXED_H
#define DG_EMIT_PLAN_FIXED_H

#include <stdbool.h>
#include <stdint.h>

#include "emit/plan/plan.h"

typedef int64_t dg_price;                         /* 1/2^20 core cycle */
#define DG_PRICE_ONE (INT64_C(1) << 20)
#define DG_COST_MOST (INT64_MAX / 16)

__extension__ typedef unsigned __int128 dg_u128;

static inline dg_cost dg_cost_add(dg_cost a, dg_cost b)
{
    dg_cost sum = a + b;                          /* both are within +-DG_COST_MOST */
    return sum > DG_COST_MOST ? DG_COST_MOST : sum;
}

static inline dg_cost dg_cost_min(dg_cost a, dg_cost b)
{
    return a < b ? a : b;
}

/* count * each, for a cost that is not negative or a count small enough not to wrap below. */
static inline dg_cost dg_cost_times(uint64_t count, dg_cost each)
{
    bool negative = each < 0;
    dg_u128 product = (dg_u128)count * (uint64_t)(negative ? -each : each);
    dg_cost cost = product > (dg_u128)DG_COST_MOST ? DG_COST_MOST : (dg_cost)product;
    return negative ? -cost : cost;
}

/* count * price in 1/1024 cycle, rounded up. */
static inline dg_cost dg_price_times(uint64_t count, dg_price price)
{
    dg_u128 product = (dg_u128)count * (uint64_t)(price < 0 ? 0 : price);
    product = (product + 1023) >> 10;
    return product > (dg_u128)DG_COST_MOST ? DG_COST_MOST : (dg_cost)product;
}

/* A profile's number of cycles as a price; out of range becomes the end of the range. */
static inline dg_price dg_price_of(double cycles)
{
    double scaled = cycles * (double)DG_PRICE_ONE;
    if (!(scaled > -1e15))
        return -1000000000000000;
    if (scaled > 1e15)
        return 1000000000000000;
    return (dg_price)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

static inline uint64_t dg_ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* a * b or the largest number: for byte counts. */
static inline uint64_t dg_bytes_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t dg_bytes_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
