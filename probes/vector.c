/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/vector.h"

#include <math.h>

/* No chain holds a vector load without a move back to an address, and none such a move without one
 * of its kind the other way. So the moves there and back are timed together. Where they differ, the
 * way back is the shorter: 2 of 5 cycles on Arm's Cortex-A76 (its optimization guide), 3 of 7 on
 * Zen 4, whose vector loads are known to take 7. The interval holds all that it can be: each way
 * takes a cycle or more. */
void dg_say_vector_latency(struct dg_context *ctx, const char *key,
                           const struct dg_measure *chase)
{
    static const double noise = 0.2;
    struct dg_loop loop = { .kind = DG_LOOP_LATENCY, .op = "ref.through-vector" };
    struct dg_measure moves;
    if (!dg_read_loop(ctx, &loop, 9, &moves)) {
        dg_refused(ctx, key, "cycles");
        return;
    }
    double value = chase->cycles.median - floor((moves.cycles.median + noise) / 2);
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "cycles", .value = value,
        .low = fmin(value, chase->cycles.low - (moves.cycles.high - 1)),
        .high = fmax(value, chase->cycles.high - 1), .confidence = 0.5,
        .samples = chase->samples + moves.samples,
        .method = "chase by vector loads, less half of the moves to a vector register and back" });
}
