/* SPDX-License-Identifier: Apache-2.0
 *
 * Latency and rate of every f32 and f64 row of the usable instruction sets, and of the scalar
 * rows: one chain through the accumulate operand, one through another operand, and a sweep over
 * the number of independent chains. */
#include "probes/probe.h"

#include <string.h>

#include "isa/isa.h"
#include "probes/infer/rate.h"

enum { KEY = 96 };
static const unsigned chain_counts[] = { 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24,
                                         28 };
enum { CHAINS = sizeof chain_counts / sizeof *chain_counts };

static unsigned samples_of(const struct dg_context *ctx)
{
    return ctx->quick ? 9 : 15;
}

static void read_latency(struct dg_context *ctx, const char *name, unsigned operand,
                         const char *field)
{
    char key[KEY];
    struct dg_measure reading;
    struct dg_loop loop = { .kind = DG_LOOP_LATENCY, .op = name, .operand = operand };
    dg_format(key, sizeof key, "op.%s.%s", name, field);
    if (dg_settled(ctx, key) || !dg_read_loop(ctx, &loop, samples_of(ctx), &reading))
        return;
    dg_say_stat(ctx, key, "cycles",
                operand == 0 ? "one chain through the accumulate operand"
                             : "one chain through an operand that is not accumulated",
                &reading.cycles, 1);
}

static void read_rate(struct dg_context *ctx, const char *name)
{
    unsigned chains[CHAINS];
    double cycles[CHAINS], low = 0, high = 0;
    unsigned long samples = 0;
    struct dg_sweep sweep = { .chains = chains, .cycles = cycles };
    char key[KEY], key_chains[KEY];
    dg_format(key, sizeof key, "op.%s.per_cycle", name);
    dg_format(key_chains, sizeof key_chains, "op.%s.chains", name);
    if (dg_settled(ctx, key) && dg_settled(ctx, key_chains))
        return;
    for (size_t i = 0; i < CHAINS && !ctx->stopped; i++) {
        struct dg_measure reading;
        struct dg_loop loop = { .kind = DG_LOOP_RATE, .op = name, .chains = chain_counts[i] };
        if (!dg_read_loop(ctx, &loop, samples_of(ctx), &reading) || reading.cycles.median <= 0)
            continue;
        chains[sweep.count] = chain_counts[i];
        cycles[sweep.count++] = reading.cycles.median;
        samples += reading.samples;
        if (high == 0 || 1 / reading.cycles.median > high) {
            high = 1 / reading.cycles.low;
            low = 1 / reading.cycles.high;
        }
    }
    struct dg_rate rate = dg_infer_rate(&sweep);
    if (rate.per_cycle <= 0)
        return;
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "1/cycle", .value = rate.per_cycle, .low = low, .high = high,
        .confidence = 1, .samples = samples, .method = "best rate over all chain counts" });
    dg_say_exact(ctx, key_chains, "count",
                 "fewest independent chains that reach 97 % of the best rate", rate.chains, 1);
}

/* First operand that is read and is neither memory nor accumulator: a chain can go through it. */
static unsigned other_operand(const struct dg_op *op)
{
    for (unsigned i = 1; op->operands[i] != '\0'; i++)
        if (op->operands[i] == 'v')
            return i;
    return 0;
}

static void measure(struct dg_context *ctx, const struct dg_op *op, const char *name)
{
    bool accumulates = op->operands[0] == 'a' || op->operands[0] == 'h';
    if (accumulates)
        read_latency(ctx, name, 0, "acc_latency");
    unsigned other = other_operand(op);
    if (other != 0 && op->operands[0] != 'm')
        read_latency(ctx, name, other, "latency");
    read_rate(ctx, name);
}

static bool asked(const struct dg_context *ctx, const struct dg_op *op)
{
    bool scalar = strcmp(op->dtype, "i64") == 0;
    if (scalar || !ctx->quick)
        return true;
    /* --quick: what f32 planning reads */
    return strcmp(op->dtype, "f32") == 0 && op->bits == dg_kernel_bits(ctx);
}

static bool said(const struct dg_context *ctx, const char *name)
{
    char key[KEY];
    dg_format(key, sizeof key, "op.%s.per_cycle", name);
    return dg_answers_find(&ctx->out, key) != NULL;
}

static void measure_isa(struct dg_context *ctx, const struct dg_isa *isa)
{
    const struct dg_bench_info *info = ctx->bench->info;
    for (size_t i = 0; i < isa->op_count && !ctx->stopped; i++) {
        const struct dg_op *op = &isa->ops[i];
        char name[KEY / 2];
        dg_format(name, sizeof name, "%s.%s.%u", op->name, op->dtype, op->bits);
        if (asked(ctx, op) && !said(ctx, name) &&
            dg_features_have(info->features, info->feature_count, op->feature))
            measure(ctx, op, name);
    }
}

void dg_probe_ops(struct dg_context *ctx)
{
    for (size_t i = 0; dg_isas[i] != NULL && !ctx->stopped; i++)
        if (strcmp(dg_isas[i]->architecture, ctx->architecture) == 0)
            measure_isa(ctx, dg_isas[i]);
}
