/* SPDX-License-Identifier: Apache-2.0
 *
 * What latencies say about caches. Pure functions of what was measured. */
#ifndef DG_PROBES_INFER_CACHE_H
#define DG_PROBES_INFER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Conflict chases: latency[s * most + k - 1] of k lines `stride[s]` apart (strides double). */
struct dg_conflicts {
    const uint32_t *stride;
    size_t strides, most;
    const double *latency;
};
struct dg_ways {
    unsigned ways;                               /* 0: nothing that holds */
    uint32_t set_stride;
    double confidence;                           /* share of the strides that say `ways` */
};
/* Fewest lines that leave the level, by stride: the ways are what most strides say, the set stride
 * is the shortest stride that says so (a hashed tag makes some strides conflict earlier). */
struct dg_ways dg_infer_ways(const struct dg_conflicts *conflicts);
/* Lines `stride[s]` apart that stay: the last k before the first miss; `most` when none misses. */
unsigned dg_infer_fits(const struct dg_conflicts *conflicts, size_t s);

/* Pair chases: cycles a load where the second load of each pair stands distance[i] (rising) after
 * the first. The line is the first distance that costs as much as the farthest. 0: no step. */
uint32_t dg_infer_line(const uint32_t *distance, const double *latency, size_t count);

/* Latency by footprint, sizes rising. */
struct dg_curve {
    const uint64_t *size;
    double *latency;                             /* made non-decreasing in place */
    size_t count;
};
struct dg_plateau {
    size_t from, to;                             /* indices, inclusive */
    double level;                                /* median latency */
};
/* Runs over which latency stays nearly flat; returns how many (at most `capacity`). */
size_t dg_infer_plateaus(struct dg_curve *curve, struct dg_plateau *out, size_t capacity);
/* Size at which latency has left `low` by `part` of the way to `high`; 0: it never does. */
double dg_infer_crossing(const struct dg_curve *curve, double low, double high, double part);
/* Size of a level of latency `low` below one of `high`: what the footprint at which latency leaves
 * says about it. */
struct dg_extent {
    double size, size_low, size_high;            /* nominal: a round number */
    double kept, kept_low, kept_high;            /* largest footprint that stays */
    double onset;                                /* footprint at which latency begins to rise */
};
/* False: no clear step. */
bool dg_infer_extent(const struct dg_curve *curve, double low, double high, struct dg_extent *out);
/* A window that has just passed leaves `kept` bytes of itself in a cache of latency `low`, so loads
 * in a window of W take level - kept / W * (level - low): a line over 1 / W. What L1 keeps is taken
 * out of sizes and latencies before. The longest run of such windows gives the level behind, even
 * where the next step hides its flat part. False: there is no such run, or its level does not lie
 * between 1.5 * low and `most`. */
bool dg_infer_level(const struct dg_curve *curve, double low, double most, double *level);
/* The bytes kept, by windows that find a quarter to three quarters of their loads there; 0: there
 * are too few, they do not agree (`level` is not all that lies behind), or smaller windows are not
 * kept whole (lines do not go by age, and the law does not hold). */
double dg_infer_kept(const struct dg_curve *curve, double low, double level);
/* The power of two in [low, high]; 0: none. */
double dg_power_of_two(double low, double high);
/* The roundest size in [low, high]: smallest odd part, then the largest. */
uint64_t dg_roundest(double low, double high);

#endif
