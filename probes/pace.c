/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock as it goes: from idle on, and sustained beside vector work of each width, on one CPU
 * and on all. */
#include "probes/probe.h"

enum { SLICES = 40 };
static const uint64_t IDLE_NS = 20000000, WARM_NS = 20000000, SLICE_NS = 250000;

static void say_hz(struct dg_context *ctx, const char *key, const char *method, double value,
                   double low, double high)
{
    dg_say(ctx, &(struct dg_number){ .key = key, .unit = "Hz", .method = method, .value = value,
                                     .low = low, .high = high, .confidence = 0.9,
                                     .samples = SLICES });
}

static void after_idle(struct dg_context *ctx)
{
    struct dg_pace q = { .threads = 1, .idle_ns = IDLE_NS, .slice_ns = SLICE_NS };
    struct dg_measure m;
    struct dg_ramp ramp;
    if (!dg_read_pace(ctx, &q, SLICES, &m) || !dg_infer_ramp(m.slice, m.samples, &ramp)) {
        dg_refused(ctx, "clock.after_idle", "Hz");
        dg_refused(ctx, "clock.ramp", "ms");
        return;
    }
    say_hz(ctx, "clock.after_idle", "a chain's first quarter millisecond after 20 ms asleep",
           ramp.first, ramp.first, ramp.sustained);
    dg_say(ctx, &(struct dg_number){
        .key = "clock.ramp", .unit = "ms", .value = ramp.ns / 1e6, .low = 0.001,
        .high = ramp.ns / 1e6, .confidence = 0.9, .samples = m.samples,
        .method = "until slices of a quarter millisecond reach 99 % of the later ones: an upper "
                  "bound, one slice where there is no ramp" });
}

static void sustained(struct dg_context *ctx, unsigned bits, bool all)
{
    struct dg_pace q = { .bits = bits, .threads = all ? 0 : 1, .warm_ns = WARM_NS,
                         .slice_ns = SLICE_NS };
    struct dg_measure m;
    struct dg_ramp ramp;
    char key[48];
    dg_format(key, sizeof key, "clock.sustained.%u.%s", bits > 0 ? bits : 64, all ? "all" : "1");
    if (dg_settled(ctx, key))
        return;
    if (dg_read_pace(ctx, &q, SLICES, &m) && dg_infer_ramp(m.slice, m.samples, &ramp))
        say_hz(ctx, key, "upper quartile over slices of a chain of known length, two vector "
               "multiply-adds beside each link", ramp.sustained, ramp.low, ramp.high);
    else if (!ctx->stopped)
        dg_refused(ctx, key, "Hz");
}

void dg_probe_pace(struct dg_context *ctx)
{
    static const unsigned widths[] = { 0, 128, 256, 512 };
    const struct dg_bench_info *info = ctx->bench->info;
    dg_say_text(ctx, "clock.source", "validated against the system's monotonic clock",
                info->time_source);
    if (info->tick_ns > 0)
        dg_say_exact(ctx, "clock.tick", "ns", "smallest step seen", info->tick_ns, 1);
    if (ctx->quick)
        return;
    after_idle(ctx);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (int all = 0; all < 2 && !ctx->stopped; all++)
            if (!all || info->cpus > 1)
                sustained(ctx, widths[i], all != 0);
}
