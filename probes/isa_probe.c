/* SPDX-License-Identifier: Apache-2.0
 *
 * Which instruction sets can be used here: the engine's list has been checked against what the
 * operating system has switched on. */
#include "probes/probe.h"

void dg_probe_isa(struct dg_context *ctx)
{
    const struct dg_bench_info *info = ctx->bench->info;
    dg_say_list(ctx, "isa", "feature bits, and the register state that the system has enabled",
                info->features, info->feature_count);
    unsigned bits = dg_kernel_bits(ctx), registers = dg_kernel_registers(ctx);
    if (bits == 0) {
        static const char *const reason = "no instruction set that kernels are written for";
        static const char *const help = "plan with the defaults, or add a target under isa/";
        dg_cannot(ctx, "vector_bits", "bits", DG_UNAVAILABLE, reason, help);
        dg_cannot(ctx, "vector_registers", "count", DG_UNAVAILABLE, reason, help);
        return;
    }
    static const char *const method = "the widest usable target of the tables";
    dg_say_exact(ctx, "vector_bits", "bits", method, bits, 1);
    dg_say_exact(ctx, "vector_registers", "count", method, registers, 1);
}
