/* SPDX-License-Identifier: Apache-2.0
 *
 * Front end: instructions that do nothing, by their length and by how much code there is. */
#include "probes/probe.h"

#include "probes/infer/steps.h"

enum { MOST_SIZES = 32 };

static void say_window(struct dg_context *ctx, unsigned length, const uint64_t *sizes,
                       const double *rates, size_t count)
{
    char key[48];
    uint64_t window = dg_infer_window(sizes, rates, count, 0.9);
    dg_format(key, sizeof key, "code.window.b%u", length);
    if (window == 0) {
        dg_cannot(ctx, key, "bytes", DG_UNAVAILABLE, "the rate does not fall with more code",
                  "nothing: straight code of any size runs alike");
        return;
    }
    size_t at = 0;
    while (sizes[at] != window)
        at++;
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "bytes", .value = (double)window, .low = (double)window,
        .high = (double)sizes[at + 1], .confidence = 0.9, .samples = count,
        .method = "largest straight code at 90 % of the best rate; four sizes an octave" });
}

static void one_length(struct dg_context *ctx, unsigned length)
{
    uint64_t sizes[MOST_SIZES];
    double rates[MOST_SIZES];
    size_t count = 0;
    for (uint64_t base = 1024; base <= 131072; base *= 2) {
        for (uint64_t quarter = 4; quarter < 8; quarter++) {
            struct dg_measure m;
            struct dg_code q = { .bytes = base / 4 * quarter, .length = length };
            if (!dg_read_code(ctx, &q, 5, &m) || m.cycles.median <= 0) {
                if (ctx->stopped || count == 0)
                    return;
                continue;
            }
            sizes[count] = q.bytes;
            rates[count++] = 1 / m.cycles.median;
            char key[48];
            dg_format(key, sizeof key, "code.rate.b%u.k%u", length, (unsigned)(base / 1024));
            if (quarter == 4)
                dg_say(ctx, &(struct dg_number){
                    .key = key, .unit = "1/cycle", .value = 1 / m.cycles.median,
                    .low = 1 / m.cycles.high, .high = 1 / m.cycles.low, .confidence = 1,
                    .samples = m.samples, .method = "straight code that does nothing, in a loop" });
        }
    }
    say_window(ctx, length, sizes, rates, count);
}

void dg_probe_code(struct dg_context *ctx)
{
    for (unsigned length = 4; length <= 8 && !ctx->quick && !ctx->stopped; length += 4)
        one_length(ctx, length);
}
