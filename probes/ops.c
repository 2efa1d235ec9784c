/* SPDX-License-Identifier: Apache-2.0
 *
 * Latency and rate of every row of the usable instruction sets: one chain through the accumulate
 * operand, one through another operand, and a sweep over the number of independent chains. */
#include "probes/probe.h"

#include <string.h>

#include "isa/isa.h"
#include "microbench/loops/chains.h"
#include "probes/infer/rate.h"

enum { KEY = 96, RATE_SAMPLES = 9 };
static unsigned samples_of(const struct dg_context *ctx)
{
    return ctx->quick ? 9 : 15;
}

static const char *method_of(const struct dg_op *op, unsigned operand)
{
    if (op->operands[operand] == 'v')
        return "one chain through an operand that is not accumulated";
    if (op->operands[operand] == 'a' && strchr(op->dtype, '8') != NULL)
        return "a dependent loop of 1000 multiply-accumulates";
    return "one chain through the accumulate operand";
}

static void read_latency(struct dg_context *ctx, const struct dg_op *op, const char *name,
                         unsigned operand)
{
    char key[KEY];
    struct dg_measure reading;
    struct dg_loop loop = { .kind = DG_LOOP_LATENCY, .op = name, .operand = operand };
    dg_format(key, sizeof key, "op.%s.%s", name,
              op->operands[operand] == 'v' ? "latency" : "acc_latency");
    if (dg_settled(ctx, key) || !dg_read_loop(ctx, &loop, samples_of(ctx), &reading))
        return;
    switch (dg_infer_latency(reading.cycles.median)) {
    case DG_LATENCY_NONE:
        dg_cannot(ctx, key, "cycles", DG_UNAVAILABLE,
                  "it is done where registers are renamed and takes no time of its own",
                  "nothing: only its rate counts");
        return;
    case DG_LATENCY_BROKEN:
        /* what passes through memory, and what accumulates, may well take a part of a cycle */
        if (op->operands[0] == 'd') {
            dg_cannot(ctx, key, "cycles", DG_UNAVAILABLE,
                      "a step of the chain takes no whole number of cycles: its parts wait for "
                      "units", "nothing: only its rate counts");
            return;
        }
        break;
    case DG_LATENCY_WHOLE:
        break;
    }
    dg_say_stat(ctx, key, "cycles", method_of(op, operand), &reading.cycles, 1);
}

/* More samples where the machine falls now into one state and now into another: the fastest may be
 * rare. */
static bool read_chains(struct dg_context *ctx, const char *name, unsigned chains,
                        struct dg_measure *out)
{
    struct dg_loop loop = { .kind = DG_LOOP_RATE, .op = name, .chains = chains };
    if (!dg_read_loop(ctx, &loop, RATE_SAMPLES, out))
        return false;
    bool one_state = 2 * out->fastest.count > out->cycles.count;
    return (one_state || ctx->quick || dg_read_loop(ctx, &loop, 4 * RATE_SAMPLES, out)) &&
           out->fastest.median > 0;
}

static void read_rate(struct dg_context *ctx, const struct dg_op *op, const char *name)
{
    unsigned chains[DG_CHAIN_COUNTS];
    double cycles[DG_CHAIN_COUNTS], low = 0, high = 0;
    unsigned long samples = 0;
    struct dg_sweep sweep = { .chains = chains, .cycles = cycles };
    char key[KEY], key_chains[KEY];
    dg_format(key, sizeof key, "op.%s.per_cycle", name);
    dg_format(key_chains, sizeof key_chains, "op.%s.chains", name);
    if (dg_settled(ctx, key) && dg_settled(ctx, key_chains))
        return;
    for (size_t i = 0; i < DG_CHAIN_COUNTS && !ctx->stopped; i++) {
        struct dg_measure reading;
        if (dg_chain_counts[i].reach > dg_chain_reach(op) ||
            !read_chains(ctx, name, dg_chain_counts[i].chains, &reading))
            continue;
        chains[sweep.count] = dg_chain_counts[i].chains;
        cycles[sweep.count++] = reading.fastest.median;
        samples += reading.samples;
        if (high == 0 || 1 / reading.fastest.median > high) {
            high = 1 / reading.fastest.low;
            low = 1 / reading.fastest.high;
        }
    }
    struct dg_rate rate = dg_infer_rate(&sweep);
    if (rate.per_cycle <= 0)
        return;
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "1/cycle", .value = rate.per_cycle, .low = low, .high = high,
        .confidence = 1, .samples = samples, .method = "best rate over all chain counts" });
    if (rate.chains > 0)
        dg_say_exact(ctx, key_chains, "count",
                     "fewest independent chains that reach 97 % of the best rate", rate.chains, 1);
    else
        dg_cannot(ctx, key_chains, "count", DG_UNRELIABLE,
                  "the rate grows so slowly with the chains that noise would choose their number",
                  "look at the rates by chains in the report");
}

/* The first operand of these kinds; strlen(op->operands): there is none. */
static unsigned operand_of(const struct dg_op *op, const char *kinds)
{
    return (unsigned)strcspn(op->operands, kinds);
}

static void measure(struct dg_context *ctx, const struct dg_op *op, const char *name)
{
    unsigned none = (unsigned)strlen(op->operands);
    unsigned sum = operand_of(op, "ah"), other = operand_of(op, "v");
    if (sum < none)
        read_latency(ctx, op, name, sum);
    /* memory gives no chain, nor does a way from one kind of register to the other */
    if (other < none && operand_of(op, "ad") < none)
        read_latency(ctx, op, name, other);
    read_rate(ctx, op, name);
}

static bool is_paired_scalar(const struct dg_op *op)
{
    static const struct { const char *kind, *name; } paired[] = {
#define PAIRED(kind, name, dtype) { #kind, #name },
#include "microbench/loops/pairs.def"
#undef PAIRED
    };
    for (size_t i = 0; i < sizeof paired / sizeof *paired; i++)
        if (strcmp(paired[i].kind, "scalar") == 0 && strcmp(paired[i].name, op->name) == 0)
            return true;
    return false;
}

/* --quick: what f32 planning reads, and the scalars beside it. */
static bool asked(const struct dg_context *ctx, const struct dg_op *op)
{
    if (!ctx->quick)
        return true;
    if (strcmp(op->dtype, "i64") == 0)
        return op->sem != DG_SEM_OTHER || is_paired_scalar(op);
    return op->sem != DG_SEM_OTHER && strcmp(op->dtype, "f32") == 0 &&
           op->bits == dg_kernel_bits(ctx);
}

static bool is_usable(const struct dg_context *ctx, const struct dg_op *op)
{
    const struct dg_bench_info *info = ctx->bench->info;
    return dg_features_have(info->features, info->feature_count, op->feature);
}

/* A cell is measured once, by its first usable row: targets and older forms share keys. */
static bool is_first(const struct dg_context *ctx, size_t isa, const struct dg_op *op)
{
    for (size_t i = 0; i < isa; i++) {
        const struct dg_op *earlier = strcmp(dg_isas[i]->architecture, ctx->architecture) != 0
            ? NULL : dg_isa_op_named(dg_isas[i], op->name, op->dtype, op->bits);
        if (earlier != NULL && is_usable(ctx, earlier))
            return false;
    }
    return dg_isa_op_named(dg_isas[isa], op->name, op->dtype, op->bits) == op;
}

static void measure_isa(struct dg_context *ctx, size_t isa)
{
    for (size_t i = 0; i < dg_isas[isa]->op_count && !ctx->stopped; i++) {
        const struct dg_op *op = &dg_isas[isa]->ops[i];
        char name[KEY / 2];
        dg_format(name, sizeof name, "%s.%s.%u", op->name, op->dtype, op->bits);
        if (is_usable(ctx, op) && asked(ctx, op) && is_first(ctx, isa, op))
            measure(ctx, op, name);
    }
}

void dg_probe_ops(struct dg_context *ctx)
{
    for (size_t i = 0; dg_isas[i] != NULL && !ctx->stopped; i++)
        if (strcmp(dg_isas[i]->architecture, ctx->architecture) == 0)
            measure_isa(ctx, i);
}
