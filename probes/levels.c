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

enum { MOST_POINTS = 160, LOADS = 400, LINE = 64, MOST_PLATEAUS = 8,
       CROWDED_SETS = 8 };

struct curve {
    uint64_t size[MOST_POINTS];
    double cycles[MOST_POINTS], ns[MOST_POINTS];
    size_t count;
    unsigned long samples;
};

/* A clock whose steps are a good part of a sample. */
static bool coarse(const struct dg_context *ctx)
{
    return ctx->bench->info->tick_ns > 100;
}

/* Loads of one sample: more on a coarse clock, but so few that those which come anew push little
 * out of the level that is looked for. */
static size_t loads_of(const struct dg_context *ctx, uint64_t span, uint32_t line)
{
    const double part = 1 / 32.0;
    return !coarse(ctx) ? LOADS : (size_t)fmax(LOADS, fmin(10 * LOADS,
                                                           part * (double)span / line));
}

/* How many samples are joined to one: the half of a tick that a reading is off by, one way or the
 * other, must come to about a hundredth. */
static unsigned joined(const struct dg_context *ctx, size_t loads)
{
    const double load_ns = 4, part = 0.012, most = 64;
    double ticks = load_ns * (double)loads / fmax(1, ctx->bench->info->tick_ns);
    return (unsigned)fmax(1, fmin(most, ceil(pow(0.5 / part / ticks, 2))));
}

/* Other lines for every sample: those that are sampled again and again are kept by caches that
 * look at reuse, and would make the level look larger than it is. */
static bool read_sample(struct dg_context *ctx, uint64_t window, uint64_t from, uint64_t to,
                        struct dg_sample *out)
{
    struct dg_measure one;
    unsigned count = 0, wanted = 1;
    *out = (struct dg_sample){ 0, 0 };
    for (unsigned i = 0; i < wanted && !ctx->stopped; i++) {
        uint32_t line = (uint32_t)dg_known(ctx, "l1_line_size", LINE);
        struct dg_resample q = { .window = window, .count = loads_of(ctx, to - from, line) };
        uint32_t *order = dg_order_sample(ctx, from, to, line, &q.count);
        q.order = order;
        wanted = joined(ctx, q.count);
        if (order == NULL || !dg_read_resample(ctx, &q, 1, &one))
            continue;
        out->cycles += one.cycles.median;
        out->ns += one.ns.median;
        count++;
    }
    out->cycles /= fmax(1, count);
    out->ns /= fmax(1, count);
    return count > 0;
}

/* Samples at other clocks cannot be compared in cycles, as what is beyond the core does not follow
 * its clock: those far from the first are taken again, a few times. */
static bool same_clock(const struct dg_sample *sample, double cycle_ns)
{
    return cycle_ns <= 0 || dg_near(sample->ns / sample->cycles, cycle_ns, 0.05);
}

static bool read_window(struct dg_context *ctx, uint64_t window, uint64_t from, uint64_t to,
                        unsigned samples, double cycle_ns, struct dg_measure *out)
{
    const unsigned most = 10;
    double cycles[DG_MEASURE_SAMPLES], ns[DG_MEASURE_SAMPLES];
    size_t count = 0;
    for (unsigned i = 0; i < most * samples && count < samples && !ctx->stopped; i++) {
        struct dg_sample one;
        bool last = i == most * samples - 1 && count == 0;
        if (!read_sample(ctx, window, from, to, &one) || !(last || same_clock(&one, cycle_ns)))
            continue;
        cycles[count] = one.cycles;
        ns[count++] = one.ns;
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

static bool read_curve(struct dg_context *ctx, double l1, double to, double cycle_ns,
                       struct curve *c)
{
    const double from = 2 * l1;
    for (double size = from; size <= to && c->count < MOST_POINTS;) {
        struct dg_measure reading;
        uint64_t window = (uint64_t)size / 4096 * 4096;
        if (!read_window(ctx, window, 0, window, 7, cycle_ns, &reading))
            return false;
        c->size[c->count] = window;
        /* what disturbs makes a sample slower, but steps of a clock are wrong both ways */
        bool middle = coarse(ctx);
        double cycles = middle ? reading.cycles.median : reading.cycles.low;
        c->cycles[c->count] = without_l1(ctx, cycles, l1 / (double)window);
        c->ns[c->count++] = middle ? reading.ns.median : reading.ns.low;
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
    return read_window(ctx, window, window, to, ctx->quick ? 7 : 11, 0, out);
}

static void say_memory(struct dg_context *ctx, const struct dg_measure *memory)
{
    dg_say_stat(ctx, "dram_latency", "ns",
                "dependent loads, pages warmed, after a window of other lines has passed",
                &memory->ns, 1);
}

/* Lines that crowd a few L1 sets, `times` as many as these hold: loads leave L1, few pages are
 * touched, and the size of L2 need not be known. All are shuffled together: prefetchers
 * learn the lines of a page that are loaded one soon after the other. The place is drawn each time,
 * as the pages of one may crowd the same sets of L2. */
static uint32_t *crowded_order(struct dg_context *ctx, unsigned times, size_t *count)
{
    enum { SETS = CROWDED_SETS };
    double ways = dg_known(ctx, "l1_ways", 0), stride = dg_known(ctx, "l1_set_stride", 0);
    uint32_t line = (uint32_t)dg_known(ctx, "l1_line_size", LINE);
    size_t rows = (size_t)(times * ways), used = 0;
    uint64_t room = (uint64_t)fmin((double)ctx->bench->info->memory_limit, 16 << 20);
    if (rows == 0 || stride < SETS * line || stride * (double)rows > (double)room)
        return NULL;
    uint32_t step = (uint32_t)stride;
    uint32_t first = (uint32_t)(dg_random(ctx) % (room / step - rows + 1)) * step;
    uint32_t *order = dg_alloc_array(ctx->scratch, rows * SETS, sizeof *order);
    for (size_t row = 0; order != NULL && row < rows; row++)
        for (uint32_t set = 0; set < SETS; set++)
            order[used++] = first + (uint32_t)row * step + set * line;
    if (order != NULL)
        dg_shuffle(ctx, order, used);
    *count = used;
    return order;
}

/* The same pages in the same order, but lines that stay in L1: what that costs more than a load of
 * L1 is translation. Words of 8 bytes side by side: a chase meets no word twice. A walk around that
 * misses the first translations misses nearly all of them: less than a cycle is something else,
 * such as ways that are guessed by address. */
static double translation_cost(struct dg_context *ctx, const uint32_t *order, size_t count)
{
    struct dg_measure reading;
    double stride = dg_known(ctx, "l1_set_stride", 0), hit = dg_known(ctx, "l1_latency", 0);
    uint32_t line = (uint32_t)dg_known(ctx, "l1_line_size", LINE), step = (uint32_t)stride;
    uint32_t *words = dg_alloc_array(ctx->scratch, count + 1, sizeof *words);
    struct dg_chase q = { .order = words, .count = count, .steps = 8192, .warm = 3 };
    if (words == NULL || step == 0 || hit == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = order[i] / step, set = order[i] % step / line;
        words[i] = row * step + (row % (step / 64) * CROWDED_SETS + set) * 8;
    }
    if (!dg_read_chase(ctx, &q, 5, &reading))
        return 0;
    double extra = reading.cycles.median - hit;
    return extra > 1 ? extra : 0;
}

/* The least of a few draws: pages that crowd each other in L2 only add. */
static bool read_l2(struct dg_context *ctx, double l1, double l2, unsigned times, bool vector,
                    struct dg_measure *out)
{
    bool any = false;
    for (unsigned draw = 0; draw < 3; draw++) {
        struct dg_measure reading;
        struct dg_chase q = { .steps = 8192, .warm = 3, .vector = vector };
        uint32_t *order = crowded_order(ctx, times, &q.count);
        bool crowded = order != NULL;
        if (!crowded)
            order = dg_order_lines(ctx, (uint64_t)sqrt(l1 * l2), LINE, &q.count);
        q.order = order;
        if (order == NULL || !dg_read_chase(ctx, &q, 5, &reading))
            continue;
        dg_stat_add(&reading.cycles, crowded ? -translation_cost(ctx, order, q.count) : 0);
        if (!any || reading.cycles.median < out->cycles.median)
            *out = reading;
        any = true;
    }
    return any;
}

/* Returns the latency of an integer load; 0: unknown. */
static double say_l2_latency(struct dg_context *ctx, double l1)
{
    struct dg_measure reading, more, vector;
    const double hits = 1.12;
    if (!read_l2(ctx, l1, 4 * l1, 4, false, &reading)) {
        dg_refused(ctx, "l2_latency", "cycles");
        return 0;
    }
    /* Where L1 does not forget by age, some of few lines are still there; more of them lose that,
     * or lose themselves in a small L2, which costs far more. */
    if (read_l2(ctx, l1, 4 * l1, 8, false, &more) &&
        more.cycles.median > reading.cycles.median &&
        more.cycles.median < hits * reading.cycles.median)
        reading = more;
    /* L2 answers after whole cycles of the core; what few loads meet elsewhere is the rest */
    double whole = round(reading.cycles.median);
    dg_say(ctx, &(struct dg_number){
        .key = "l2_latency", .unit = "cycles", .value = whole,
        .low = fmin(whole, reading.cycles.low), .high = fmax(whole, reading.cycles.high),
        .confidence = 0.9, .samples = reading.samples,
        .method = "chase over lines that crowd a few sets of L1, less what translating their pages "
                  "costs, to the whole cycle" });
    if (read_l2(ctx, l1, 4 * l1, 4, true, &vector))
        dg_say_vector_latency(ctx, "l2_vector_latency", &vector);
    return reading.cycles.median;
}

static const char *const retry = "run again on a quiet machine";

/* The curve as L2 sees it: without the bytes that L1 keeps of each window. */
static struct dg_curve *beside_l1(struct dg_context *ctx, const struct curve *c, double l1)
{
    struct curve *rest = dg_alloc(ctx->scratch, sizeof *rest);
    struct dg_curve *out = dg_alloc(ctx->scratch, sizeof *out);
    if (rest == NULL || out == NULL)
        return NULL;
    for (size_t i = 0; i < c->count; i++)
        rest->size[i] = c->size[i] - (uint64_t)l1;
    memcpy(rest->cycles, c->cycles, sizeof rest->cycles);
    *out = (struct dg_curve){ rest->size, rest->cycles, c->count };
    return out;
}

/* What lies behind a cache that keeps `kept` bytes of each window: their share is taken out. */
static struct dg_curve *behind(struct dg_context *ctx, const struct curve *c, double kept,
                               double low)
{
    struct curve *rest = dg_alloc(ctx->scratch, sizeof *rest);
    struct dg_curve *out = dg_alloc(ctx->scratch, sizeof *out);
    if (rest == NULL || out == NULL)
        return NULL;
    for (size_t i = 0; i < c->count; i++) {
        double size = (double)c->size[i], share = kept / size;
        if (share > 0.9)
            continue;
        rest->size[rest->count] = c->size[i];
        rest->cycles[rest->count++] = (c->cycles[i] - share * low) / (1 - share);
    }
    *out = (struct dg_curve){ rest->size, rest->cycles, rest->count };
    dg_isotonic(out->latency, out->count);
    return out;
}

static void say_extent(struct dg_context *ctx, const char *key, const struct curve *c,
                       const struct dg_extent *extent)
{
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "bytes", .value = extent->kept, .low = extent->kept_low,
        .high = extent->kept_high, .confidence = 0.8, .samples = c->samples,
        .method = "footprint at which latency has gone 15 % of the way to the next level" });
}

/* The sets of L2 as another probe proved them say its size better, if the curve allows it. */
static double proven_size(const struct dg_context *ctx, double low, double high)
{
    double size = dg_known(ctx, "l2_ways", 0) * dg_known(ctx, "l2_sets", 0) *
                  dg_known(ctx, "l1_line_size", 0);
    return size >= low && size <= high ? size : 0;
}

/* What a passing window leaves of itself says the size. Returns that; 0: unknown. */
static double say_l2(struct dg_context *ctx, struct curve *c, double l1, double low, double high)
{
    static const char *const reason = "what windows leave in it does not agree: the level behind "
                                      "it does not show clearly";
    const double slack = 1.12;
    struct dg_curve curve = { c->size, c->cycles, c->count };
    struct dg_curve *more = beside_l1(ctx, c, l1);
    struct dg_extent extent;
    double kept = more != NULL ? dg_infer_kept(more, low, high) : 0;
    if (kept == 0 || !dg_infer_extent(&curve, low, high, &extent)) {
        dg_cannot(ctx, "l2_size", "bytes", DG_UNRELIABLE, reason, retry);
        dg_cannot(ctx, "l2_effective_size", "bytes", DG_UNRELIABLE, reason, retry);
        return 0;
    }
    kept += l1;
    double size = proven_size(ctx, kept / slack, kept * slack);
    size = size > 0 ? size : (double)dg_roundest(kept / slack, kept * slack);
    extent.kept = extent.kept < 0.875 * size ? extent.kept : size;
    say_extent(ctx, "l2_effective_size", c, &extent);
    dg_say(ctx, &(struct dg_number){
        .key = "l2_size", .unit = "bytes", .value = size, .low = kept / slack,
        .high = kept * slack, .confidence = 0.8, .samples = c->samples,
        .method = "roundest size near what windows that pass leave of themselves" });
    return kept;
}

/* Neighbours, slices and replacement move the step too far to tell sizes apart that are nearer
 * together than powers of two. */
static void say_l3_size(struct dg_context *ctx, const struct curve *c,
                        const struct dg_extent *extent)
{
    double size = dg_power_of_two(extent->onset / 1.3, extent->onset * 1.2);
    if (size == 0)
        dg_cannot(ctx, "l3_size", "bytes", DG_UNRELIABLE,
                  "what it holds lies between two powers of two",
                  "see l3_effective_size, or type the size into the profile");
    else
        dg_say(ctx, &(struct dg_number){
            .key = "l3_size", .unit = "bytes", .value = size, .low = fmin(size, extent->size_low),
            .high = fmax(size, extent->size_high), .confidence = 0.8, .samples = c->samples,
            .method = "power of two at the onset of the step in latency" });
}

static void say_l3_latency(struct dg_context *ctx, double l2, double l2_cycles, double l3)
{
    struct dg_measure reading;
    double window = floor(fmin(sqrt(2 * l2 * l3), 0.9 * l3) / 4096) * 4096;
    if (!read_window(ctx, (uint64_t)window, 0, (uint64_t)window, 9, 0, &reading)) {
        dg_refused(ctx, "l3_latency", "ns");
        return;
    }
    /* some of the loads still hit L2: take their share out */
    double share = fmin(0.8, l2 / window);
    double l2_ns = l2_cycles * reading.ns.median / reading.cycles.median;
    struct dg_stat s = reading.ns;
    s.median = (s.median - share * l2_ns) / (1 - share);
    s.low = (s.low - share * l2_ns) / (1 - share);
    s.high = (s.high - share * l2_ns) / (1 - share);
    dg_say(ctx, &(struct dg_number){
        .key = "l3_latency", .unit = "ns", .value = s.median, .low = s.low, .high = s.high,
        .confidence = 0.8, .samples = reading.samples,
        .method = "dependent loads, pages warmed, in a window between L2 and last level; loads "
                  "that still hit L2 taken out by their share" });
}

static void unknown_l3(struct dg_context *ctx, enum dg_status status, const char *reason,
                       const char *help)
{
    static const char *const keys[] = { "l3_size", "l3_effective_size", "l3_latency" };
    for (size_t i = 0; i < 3; i++)
        dg_cannot(ctx, keys[i], i < 2 ? "bytes" : "ns", status, reason, help);
}

/* Well inside the last level latency stays, if lines go by age: of windows that it would hold
 * whole, replacement at random loses a good part. */
static bool stays_flat(const struct dg_curve *rest, double l2, double kept)
{
    const double slack = 1.15;
    double first = 0;
    for (size_t i = 0; i < rest->count && (double)rest->size[i] < 0.7 * kept; i++) {
        if ((double)rest->size[i] < 1.8 * l2)
            continue;
        first = first > 0 ? first : rest->latency[i];
        if (rest->latency[i] > slack * first)
            return false;
    }
    return true;
}

static void say_l3(struct dg_context *ctx, struct curve *c, double l2, double l2_cycles,
                   double level, const struct dg_measure *memory)
{
    struct dg_extent extent;
    struct dg_curve *rest = behind(ctx, c, l2, l2_cycles);
    if (rest == NULL || !dg_infer_extent(rest, level, memory->cycles.median, &extent)) {
        unknown_l3(ctx, DG_UNRELIABLE, "latency does not step clearly to that of memory", retry);
        return;
    }
    if (!stays_flat(rest, l2, extent.kept)) {
        unknown_l3(ctx, DG_UNRELIABLE, "latency rises all through the last level: it is shared, or "
                   "old lines are not the first to go", retry);
        return;
    }
    say_extent(ctx, "l3_effective_size", c, &extent);
    say_l3_size(ctx, c, &extent);
    say_l3_latency(ctx, l2, l2_cycles, extent.kept);
}

static void say_unprobed(struct dg_context *ctx)
{
    static const struct { const char *key, *unit; } rows[] = {
        { "l3_ways", "count" }, { "l3_set_stride", "bytes" },
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

static void infer(struct dg_context *ctx, struct curve *c, double l1,
                  const struct dg_measure *memory)
{
    struct dg_curve curve = { c->size, c->cycles, c->count };
    struct dg_plateau p[MOST_PLATEAUS];
    size_t count = dg_infer_plateaus(&curve, p, MOST_PLATEAUS);
    size_t l2 = level_above(p, count, dg_known(ctx, "l1_latency", 3));
    double memory_cycles = memory->cycles.median, level = 0, latency = say_l2_latency(ctx, l1);
    double low = l2 < count ? p[l2].level : latency;
    /* an L2 of few times L1 may have no flat run of its own */
    if (latency > 0 && low > 2 * latency)
        low = latency;
    if (low == 0 || low > 0.5 * memory_cycles) {
        static const char *const reason = "no level of latency behind L1";
        dg_cannot(ctx, "l2_size", "bytes", DG_UNRELIABLE, reason, retry);
        unknown_l3(ctx, DG_UNRELIABLE, reason, retry);
        return;
    }
    struct dg_curve *more = beside_l1(ctx, c, l1);
    if (more == NULL || !dg_infer_level(more, low, 0.6 * memory_cycles, &level)) {
        size_t l3 = level_above(p, count, low);
        level = l3 < count && p[l3].level < 0.6 * memory_cycles ? p[l3].level : 0;
    }
    double kept = say_l2(ctx, c, l1, low, level > 0 ? level : memory_cycles);
    if (kept > 0 && level > 0)
        say_l3(ctx, c, kept, low, level, memory);
    else if (kept > 0)
        unknown_l3(ctx, DG_UNAVAILABLE, "no level of latency between L2 and memory",
                   "nothing if the chip has none; else run again on a quiet machine");
    else
        unknown_l3(ctx, DG_UNRELIABLE, "what L2 keeps is not known, so nothing behind it is",
                   retry);
}

void dg_probe_levels(struct dg_context *ctx)
{
    bool assumed;
    struct dg_measure memory;
    double l1 = dg_known_or_claimed(ctx, "l1_size", 32768, &assumed);
    struct curve *c = dg_alloc(ctx->scratch, sizeof *c);
    double limit = (double)ctx->bench->info->memory_limit / 2;
    if (c == NULL || !read_memory(ctx, &memory) ||
        !read_curve(ctx, l1, limit, memory.ns.median / memory.cycles.median, c)) {
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
