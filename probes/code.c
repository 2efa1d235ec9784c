/* SPDX-License-Identifier: Apache-2.0
 *
 * Front end: instructions that do nothing, by their length and by how much code there is. */
#include "probes/probe.h"

#include "probes/infer/steps.h"

enum { MOST_SIZES = 32, LENGTHS = 2 };

/* The largest size at the best rate, and the next that was tried; 0: there is none. */
struct window { uint64_t low[LENGTHS], high[LENGTHS]; };

static void say_window(struct dg_context *ctx, unsigned length, const uint64_t *sizes,
                       const double *rates, size_t count, uint64_t *low, uint64_t *high)
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
    *low = window;
    *high = sizes[at + 1];
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "bytes", .value = (double)window, .low = (double)window,
        .high = (double)*high, .confidence = 0.9, .samples = count,
        .method = "largest straight code at 90 % of the best rate; four sizes an octave" });
}

static void one_length(struct dg_context *ctx, unsigned length, uint64_t *low, uint64_t *high)
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
    say_window(ctx, length, sizes, rates, count, low, high);
}

/* The smallest window, whatever ends it; the cache only where all windows end alike. */
static void say_cache(struct dg_context *ctx, const struct window *w)
{
    size_t smallest = w->low[1] != 0 && (w->low[0] == 0 || w->low[1] < w->low[0]);
    double low = (double)w->low[smallest], high = (double)w->high[smallest];
    double size = (double)dg_infer_code_cache(w->low, w->high, LENGTHS);
    if (low > 0)
        dg_say(ctx, &(struct dg_number){
            .key = "l1i_effective_size", .unit = "bytes", .value = low, .low = low, .high = high,
            .confidence = 0.9, .samples = MOST_SIZES,
            .method = "smallest code.window: straight code at 90 % of its best rate" });
    else
        dg_cannot(ctx, "l1i_effective_size", "bytes", DG_UNAVAILABLE,
                  ctx->quick ? "left out by --quick" : "straight code of any size runs alike",
                  ctx->quick ? "run without --quick" : "nothing: that is how the processor works");
    if (size > 0)
        dg_say(ctx, &(struct dg_number){
            .key = "l1i_size", .unit = "bytes", .value = size, .low = low, .high = high,
            .confidence = 0.8, .samples = LENGTHS * MOST_SIZES,
            .method = "roundest size at which straight code of short and of long instructions "
                      "slows down alike" });
    else
        dg_say_claim(ctx, "l1i_size", "bytes");
}

void dg_probe_code(struct dg_context *ctx)
{
    static const unsigned length[LENGTHS] = { 4, 8 };
    struct window w = { { 0 }, { 0 } };
    for (size_t i = 0; i < LENGTHS && !ctx->quick && !ctx->stopped; i++)
        one_length(ctx, length[i], &w.low[i], &w.high[i]);
    if (!ctx->stopped)
        say_cache(ctx, &w);
}
