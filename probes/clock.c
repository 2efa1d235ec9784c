/* SPDX-License-Identifier: Apache-2.0
 *
 * The core clock: the engine has checked its time source and reference chains; each repeat times a
 * chain again, in nanoseconds, because the clock of many chips wanders while they run. */
#include "probes/probe.h"

#include "base/number.h"

void dg_probe_clock(struct dg_context *ctx)
{
    static const char *const method = "core cycles by reference chains of three kinds over the "
                                      "time source, rounded to two figures";
    const struct dg_bench_info *info = ctx->bench->info;
    struct dg_loop loop = { .kind = DG_LOOP_LATENCY, .op = "ref.multiply" };
    struct dg_measure reading;
    double hz = info->clock_hz, low = info->clock_low_hz, high = info->clock_high_hz;
    unsigned long samples = 1;
    if (dg_read_loop(ctx, &loop, 15, &reading) && reading.ns.median > 0) {
        hz = 1e9 * reading.cycles.median / reading.ns.median;
        low = 1e9 * reading.cycles.median / reading.ns.high;
        high = 1e9 * reading.cycles.median / reading.ns.low;
        samples = reading.samples;
    }
    if (hz <= 0) {
        dg_refused(ctx, "clock_hz", "Hz");
        return;
    }
    const char *chains = info->chains != NULL && info->chains[0] != '\0' ? info->chains : NULL;
    /* what is joined with it is joined at two figures; the exact value of one moment stands in
     * `environment` */
    double value = dg_round_digits(hz, 2);
    if (low <= 0 || low > value)
        low = value;
    if (high < value)
        high = value;
    dg_say(ctx, &(struct dg_number){ .key = "clock_hz", .unit = "Hz", .method = method,
                                     .value = value, .low = low, .high = high,
                                     .confidence = 1, .samples = samples,
                                     .certificate = chains });
}
