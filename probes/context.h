/* SPDX-License-Identifier: Apache-2.0
 *
 * What a probe works with: the bench, what is known so far, and the list it answers into. */
#ifndef DG_PROBES_CONTEXT_H
#define DG_PROBES_CONTEXT_H

#include "base/error.h"
#include "microbench/bench.h"
#include "probes/answers.h"
#include "probes/claims/claims.h"
#include "probes/infer/pace.h"
#include "probes/infer/stats.h"

enum { DG_MEASURE_SAMPLES = 64 };
struct dg_refusals;

/* Accepted samples of one request, as order statistics. */
struct dg_measure {
    struct dg_stat cycles, ns;
    struct dg_stat fastest;                      /* cycles, as dg_stat_fastest */
    unsigned long samples, rejected;
    struct dg_sample slice[DG_MEASURE_SAMPLES];  /* as they came */
};

struct dg_context {
    const struct dg_bench *bench;
    struct dg_arena *arena;                      /* lives as long as the answers */
    struct dg_arena *scratch;                    /* emptied after each call of a probe */
    const struct dg_claims *claims;
    const struct dg_answers *known;              /* what earlier probes and repeats say */
    struct dg_answers out;
    void **carry;                                /* one probe's own memory from repeat to repeat */
    const char *architecture;
    unsigned repeat;                             /* 0 the first time */
    bool quick, thorough;
    uint64_t random;
    /* True when enough repeats agree: no need to measure the key again. */
    bool (*settled)(void *runner, const char *key);
    void *runner;
    struct dg_clocks *clocks;                    /* of all samples of the run; NULL: not kept */
    struct dg_refusals *refusals;                /* requests that cannot be run here */
    /* A request without one accepted sample waits for a quiet core and is made again; what that may
     * take in all, in seconds. Without pause(): it is not made again. */
    void (*pause)(void *self, double seconds);
    void *pause_self;
    double patience;
    bool stopped;                                /* interrupted or out of budget: give up */
    struct dg_error last;                        /* of the last request that was refused */
};

/* ---- requests: up to `samples` samples; false when refused (ctx->last, ctx->stopped) ---- */
#define REQUEST(name) \
    bool dg_read_##name(struct dg_context *ctx, const struct dg_##name *q, unsigned samples, \
                        struct dg_measure *out);
#include "microbench/requests.def"
#undef REQUEST
/* All `count` mixes round robin. */
bool dg_read_mixes(struct dg_context *ctx, const struct dg_mix *q, size_t count, unsigned samples,
                   struct dg_measure *out);
bool dg_out_of_time(struct dg_context *ctx);

/* ---- answers ---- */
struct dg_number {
    const char *key, *unit, *method, *certificate;
    double value, low, high, confidence;
    unsigned long samples;
};
void dg_say(struct dg_context *ctx, const struct dg_number *number);
/* value, low and high from the statistic times `factor` */
void dg_say_stat(struct dg_context *ctx, const char *key, const char *unit, const char *method,
                 const struct dg_stat *stat, double factor);
void dg_say_exact(struct dg_context *ctx, const char *key, const char *unit, const char *method,
                  double value, double confidence);
void dg_say_text(struct dg_context *ctx, const char *key, const char *method, const char *text);
void dg_say_list(struct dg_context *ctx, const char *key, const char *method,
                 const char *const *list, size_t count);
/* What the system states, as a claim; else unknown. */
void dg_say_claim(struct dg_context *ctx, const char *key, const char *unit);
/* Unknown, with a reason and what to do about it. */
void dg_cannot(struct dg_context *ctx, const char *key, const char *unit, enum dg_status status,
               const char *reason, const char *help);
/* Unknown because the last request was refused or left without accepted samples. */
void dg_refused(struct dg_context *ctx, const char *key, const char *unit);

/* Nothing more to be learned about this key. */
bool dg_settled(const struct dg_context *ctx, const char *key);
/* A number that is known so far, this repeat first; `otherwise` when it is not. */
double dg_known(const struct dg_context *ctx, const char *key, double otherwise);
/* Measured or else claimed; *assumed tells. */
double dg_known_or_claimed(const struct dg_context *ctx, const char *key, double otherwise,
                           bool *assumed);

/* ---- small tools ---- */
uint64_t dg_random(struct dg_context *ctx);
void dg_shuffle(struct dg_context *ctx, uint32_t *values, size_t count);
/* Widest usable vector bits that kernels can be written for here; 0: none. */
unsigned dg_kernel_bits(const struct dg_context *ctx);
unsigned dg_kernel_registers(const struct dg_context *ctx);

#endif
