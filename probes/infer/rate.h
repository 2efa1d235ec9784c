/* SPDX-License-Identifier: Apache-2.0
 *
 * What chain sweeps and pairs say about operations. Pure functions. */
#ifndef DG_PROBES_INFER_RATE_H
#define DG_PROBES_INFER_RATE_H

#include <stdbool.h>
#include <stddef.h>

/* Chain sweep: cycles an operation with chains[i] independent chains. */
struct dg_sweep {
    const unsigned *chains;
    const double *cycles;
    size_t count;
};
struct dg_rate {
    double per_cycle;                            /* 0: nothing measured */
    unsigned chains;                             /* fewest that reach 97 % of it; 0: not clear */
};
struct dg_rate dg_infer_rate(const struct dg_sweep *sweep);
/* What the cycles of a step in a chain are: a chain faster than any unit is none. */
enum dg_latency { DG_LATENCY_WHOLE, DG_LATENCY_BROKEN, DG_LATENCY_NONE };
enum dg_latency dg_infer_latency(double chain_cycles);

/* Resources: sets of operations whose times add when they run together. */
enum { DG_FIT_OPS = 20, DG_FIT_RESOURCES = 48 };
struct dg_pair_time {
    unsigned a, b;                               /* indices of operations */
    unsigned count_a, count_b;
    double cycles;                               /* of one group */
};
struct dg_fit_input {
    size_t ops;                                  /* at most DG_FIT_OPS */
    const double *alone;                         /* cycles an operation, alone */
    const struct dg_pair_time *pair;
    size_t pairs;
};
enum dg_fit_kind {
    DG_FIT_UNIT,                                 /* each user takes it for all of its time */
    DG_FIT_ISSUE,                                /* slots for every operation */
    DG_FIT_SHARED,                               /* users take parts of it */
};
struct dg_resource {
    enum dg_fit_kind kind;
    double capacity;                             /* units a cycle */
    double units[DG_FIT_OPS];                    /* of one operation; 0: it does not use this */
};
struct dg_fit {
    struct dg_resource resource[DG_FIT_RESOURCES];
    size_t count;
    double worst;                                /* largest relative error over all pairs */
};
/* Time of a group = the largest, over resources, of units asked / capacity. */
void dg_infer_resources(const struct dg_fit_input *input, struct dg_fit *out);
/* Cycles that the fit predicts for a group of operations (counts by index). */
double dg_fit_cycles(const struct dg_fit *fit, size_t ops, const double *counts);

#endif
