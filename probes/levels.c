/* SPDX-License-Identifier: Apache-2.0
 *
 * L2, last level and memory, from one curve: the window is streamed, then a few hundred dependent
 * loads inside it are timed, their pages warmed ahead. Translation costs stay out of it, and a
 * neighbour in a shared cache has little time to push the window out. */
#include "probes/probe.h"

#include <math.h>
#include <string.h>

#include "probes/infer/cache.h"
#include "probes/orders.h"
#include "probes/vector.h"

enum { MOST_POINTS = 160, LOADS = 400, LINE = 64, MOST_PLATEAUS = 8 };

struct curve {
    uint64_t size[MOST_POINTS];
    double cycles[MOST_POINTS], ns[MOST_POINTS];
    size_t count;
    unsigned long samples;
};

/* Other lines for every sample: those that are sampled again and again are kept by caches that
 * look at reuse, and would make the level look larger than it is. */
static bool read_window(struct dg_context *ctx, uint64_t window, uint64_t from, uint64_t to,
                        unsigned samples, struct dg_measure *out)
{
    double cycles[DG_MEASURE_SAMPLES], ns[DG_MEASURE_SAMPLES];
    size_t count = 0;
    for (unsigned i = 0; i < samples && !ctx->stopped; i++) {
        struct dg_measure one;
        struct dg_resample q = { .window = window, .count = LOADS };
        uint32_t *order = dg_order_sample(ctx, from, to, LINE, &q.count);
        q.order = order;
        if (order == NULL || !dg_read_resample(ctx, &q, 1, &one))
            continue;
        cycles[count] = one.cycles.median;
        ns[count++] = one.ns.median;
    }
    *out = (struct dg_measure){ .cycles = dg_stat_of(cycles, count), .ns = dg_stat_of(ns, count),
                                .samples = count };
    return count > 0 && !ctx->stopped;
}

/* The last lines of a window are in L1 still: their share is taken out, or the latency would rise
 * all through L2 and hide its level where L2 is less than twenty times L1. */
static double without_l1(const struct dg_context *ctx, double cycles, double share)
{
    double hit = dg_known(ctx, "l1_latency", 0);
    double rest = (cycles - share * hit) / (1 - share);
    return hit > 0 && rest > cycles ? rest : cycles;
}

static bool read_curve(struct dg_context *ctx, double l1, double to, struct curve *c)
{
    const double from = 2 * l1;
    for (double size = from; size <= to && c->count < MOST_POINTS;) {
        struct dg_measure reading;
        uint64_t window = (uint64_t)size / 4096 * 4096;
        if (!read_window(ctx, window, 0, window, 7, &reading))
            return false;
        c->size[c->count] = window;
        c->cycles[c->count] = without_l1(ctx, reading.cycles.low, l1 / (double)window);
        c->ns[c->count++] = reading.ns.low;
        c->samples += reading.samples;
        /* eighths of an octave where sizes are told apart, quarters beyond */
        size *= size < 4 * 1048576 ? 1.0905077 : 1.1892071;
    }
    return c->count > 8;
}

/* Memory itself: a large window passes, then loads where nothing has been since the last one; they
 * keep to a range whose translations fit the second level of any TLB. */
static bool read_memory(struct dg_context *ctx, struct dg_measure *out)
{
    const uint64_t range = 16 << 20, largest = 64 << 20;
    uint64_t limit = ctx->bench->info->memory_limit / 4096 * 4096;
    uint64_t window = limit / 2 < largest ? limit / 2 / 4096 * 4096 : largest;
    uint64_t to = window + range < limit ? window + range : limit;
    return read_window(ctx, window, window, to, ctx->quick ? 7 : 11, out);
}

static void say_memory(struct dg_context *ctx, const struct dg_measure *memory)
{
    dg_say_stat(ctx, "dram_latency", "ns",
                "dependent loads, pages warmed, after a window of other lines has passed",
                &memory->ns, 1);
}

/* Lines that crowd a few L1 sets, four times as many as these hold: every load leaves L1, few
 * pages are touched, and the size of L2 need not be known. */
static uint32_t *crowded_order(struct dg_context *ctx, size_t *count)
{
    enum { SETS = 8 };
    double ways = dg_known(ctx, "l1_ways", 0), stride = dg_known(ctx, "l1_set_stride", 0);
    uint32_t line = (uint32_t)dg_known(ctx, "l1_line_size", LINE);
    size_t rows = (size_t)(4 * ways), used = 0;
    if (rows == 0 || stride < SETS * line ||
        stride * (double)rows > (double)ctx->bench->info->memory_limit)
        return NULL;
    uint32_t *order = dg_alloc_array(ctx->scratch, rows * SETS, sizeof *order);
    for (size_t row = 0; order != NULL && row < rows; row++)
        for (uint32_t set = 0; set < SETS; set++)
            order[used++] = (uint32_t)row * (uint32_t)stride + set * line;
    if (order != NULL)
        dg_shuffle(ctx, order, used);
    *count = used;
    return order;
}

static void say_l2_latency(struct dg_context *ctx, double l1, double l2)
{
    struct dg_measure reading;
    struct dg_chase q = { .steps = 8192, .warm = 3 };
    uint32_t *order = crowded_order(ctx, &q.count);
    if (order == NULL)
        order = dg_order_lines(ctx, (uint64_t)sqrt(l1 * l2), LINE, &q.count);
    q.order = order;
    if (order == NULL || !dg_read_chase(ctx, &q, 9, &reading)) {
        dg_refused(ctx, "l2_latency", "cycles");
        return;
    }
    dg_say_stat(ctx, "l2_latency", "cycles", "chase over lines that crowd a few sets of L1",
                &reading.cycles, 1);
    q.vector = true;
    if (dg_read_chase(ctx, &q, 9, &reading))
        dg_say_vector_latency(ctx, "l2_vector_latency", &reading);
}

/* The sets of L2 as another probe proved them say its size better, if the curve allows it. */
static void refine(const struct dg_context *ctx, const char *key, struct dg_extent *extent)
{
    double size = dg_known(ctx, "l2_ways", 0) * dg_known(ctx, "l2_sets", 0) *
                  dg_known(ctx, "l1_line_size", 0);
    if (strcmp(key, "l2_size") == 0 && size >= extent->size_low && size <= extent->size_high)
        extent->size = size;
}

static double say_size(struct dg_context *ctx, const char *key, const char *effective,
                       struct curve *c, double low, double high)
{
    struct dg_curve curve = { c->size, c->cycles, c->count };
    struct dg_extent extent;
    if (!dg_infer_extent(&curve, low, high, &extent)) {
        static const char *const reason = "latency does not step clearly to the next level";
        dg_cannot(ctx, key, "bytes", DG_UNRELIABLE, reason, "run again on a quiet machine");
        dg_cannot(ctx, effective, "bytes", DG_UNRELIABLE, reason, "run again on a quiet machine");
        return 0;
    }
    refine(ctx, key, &extent);
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "bytes", .value = extent.size, .low = extent.size_low,
        .high = extent.size_high, .confidence = 0.8, .samples = c->samples,
        .method = "roundest size about the onset of the step in latency" });
    dg_say(ctx, &(struct dg_number){
        .key = effective, .unit = "bytes", .value = extent.kept, .low = extent.kept_low,
        .high = extent.kept_high, .confidence = 0.8, .samples = c->samples,
        .method = "footprint at which latency has gone 15 % of the way to the next level" });
    return extent.size;
}

static void say_l3(struct dg_context *ctx, struct curve *c, double l2_size, double l2_cycles,
                   double level, const struct dg_measure *memory)
{
    say_size(ctx, "l3_size", "l3_effective_size", c, level, memory->cycles.median);
    double effective = dg_known(ctx, "l3_effective_size", 4 * l2_size);
    double window = sqrt(2 * l2_size * effective);
    struct dg_measure reading;
    window = floor(window / 4096) * 4096;
    if (!read_window(ctx, (uint64_t)window, 0, (uint64_t)window, 9, &reading)) {
        dg_refused(ctx, "l3_latency", "ns");
        return;
    }
    /* some of the loads still hit L2: take their share out */
    double share = fmin(0.5, dg_known(ctx, "l2_effective_size", l2_size) / window);
    double cycle_ns = reading.ns.median / reading.cycles.median;
    double l2_ns = l2_cycles * cycle_ns;
    struct dg_stat s = reading.ns;
    s.median = (s.median - share * l2_ns) / (1 - share);
    s.low = (s.low - share * l2_ns) / (1 - share);
    s.high = (s.high - share * l2_ns) / (1 - share);
    dg_say_stat(ctx, "l3_latency", "ns",
                "dependent loads, pages warmed, in a window between L2 and last level; loads that "
                "still hit L2 taken out by their share", &s, 1);
}

static void no_l3(struct dg_context *ctx)
{
    static const char *const keys[] = { "l3_size", "l3_effective_size", "l3_latency" };
    for (size_t i = 0; i < 3; i++)
        dg_cannot(ctx, keys[i], i < 2 ? "bytes" : "ns", DG_UNAVAILABLE,
                  "no level of latency between L2 and memory",
                  "nothing if the chip has none; else run again on a quiet machine");
}

static void say_unprobed(struct dg_context *ctx)
{
    static const struct { const char *key, *unit; } rows[] = {
        { "l2_line_size", "bytes" },
        { "l3_line_size", "bytes" }, { "l3_ways", "count" }, { "l3_set_stride", "bytes" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        dg_cannot(ctx, rows[i].key, rows[i].unit, DG_UNAVAILABLE,
                  "its sets cannot be addressed without physical addresses",
                  "type the value into the profile if a plan needs it");
}

/* First level of `p` that lies clearly above `latency`; `count`: none. */
static size_t level_above(const struct dg_plateau *p, size_t count, double latency)
{
    size_t i = 0;
    while (i < count && p[i].level < 1.5 * latency)
        i++;
    return i;
}

/* A last level that is but a few times L2 never shows as a flat run: loads that still hit L2 pull
 * the curve down all through it. With their share taken out it does. 0: there is none. */
static double hidden_level(struct dg_context *ctx, const struct curve *c, double l2_cycles,
                           double memory_cycles)
{
    struct curve *rest = dg_alloc(ctx->scratch, sizeof *rest);
    struct dg_plateau p[MOST_PLATEAUS];
    double l2_size = 0;
    if (rest == NULL)
        return 0;
    for (size_t i = 0; i < c->count; i++) {
        double size = (double)c->size[i];
        if (l2_size == 0 && c->cycles[i] > 1.25 * l2_cycles)
            l2_size = size;
        if (l2_size == 0 || size < 1.4 * l2_size)
            continue;
        double share = l2_size / size;
        rest->size[rest->count] = c->size[i];
        rest->cycles[rest->count++] = (c->cycles[i] - share * l2_cycles) / (1 - share);
    }
    struct dg_curve curve = { rest->size, rest->cycles, rest->count };
    size_t count = rest->count > 0 ? dg_infer_plateaus(&curve, p, MOST_PLATEAUS) : 0;
    size_t i = level_above(p, count, l2_cycles);
    return i < count && p[i].level < 0.6 * memory_cycles ? p[i].level : 0;
}

static void infer(struct dg_context *ctx, struct curve *c, double l1,
                  const struct dg_measure *memory)
{
    struct dg_curve curve = { c->size, c->cycles, c->count };
    struct dg_plateau p[MOST_PLATEAUS];
    size_t count = dg_infer_plateaus(&curve, p, MOST_PLATEAUS);
    size_t l2 = level_above(p, count, dg_known(ctx, "l1_latency", 3));
    if (l2 == count || p[l2].level > 0.5 * memory->cycles.median) {
        dg_cannot(ctx, "l2_size", "bytes", DG_UNRELIABLE, "no level of latency behind L1",
                  "run again on a quiet machine");
        no_l3(ctx);
        return;
    }
    size_t l3 = level_above(p, count, p[l2].level);
    double level = l3 < count && p[l3].level < 0.6 * memory->cycles.median ? p[l3].level :
                   hidden_level(ctx, c, p[l2].level, memory->cycles.median);
    double next = level > 0 ? level : memory->cycles.median;
    double size = say_size(ctx, "l2_size", "l2_effective_size", c, p[l2].level, next);
    if (size == 0)
        return;
    say_l2_latency(ctx, l1, size);
    if (level > 0)
        say_l3(ctx, c, size, p[l2].level, level, memory);
    else
        no_l3(ctx);
}

void dg_probe_levels(struct dg_context *ctx)
{
    bool assumed;
    struct dg_measure memory;
    double l1 = dg_known_or_claimed(ctx, "l1_size", 32768, &assumed);
    struct curve *c = dg_alloc(ctx->scratch, sizeof *c);
    double limit = (double)ctx->bench->info->memory_limit / 2;
    if (c == NULL || !read_memory(ctx, &memory) || !read_curve(ctx, l1, limit, c)) {
        if (!ctx->stopped) {
            dg_refused(ctx, "l2_size", "bytes");
            dg_refused(ctx, "dram_latency", "ns");
        }
        return;
    }
    say_memory(ctx, &memory);
    infer(ctx, c, l1, &memory);
    say_unprobed(ctx);
}
