/* SPDX-License-Identifier: Apache-2.0
 *
 * Hardware prefetchers: cold lines are walked over at a slow pace, then one further on is timed.
 * How long it takes tells in which level it already is. */
#include "probes/probe.h"

#include "probes/infer/steps.h"

enum { LINE = 64, PAGE = 4096, WALK = 12, AHEAD = 32, GAP = 120, REST = 900, REPEATS = 24,
       MOST_STREAMS = 32 };

static bool near(struct dg_context *ctx, const uint32_t *order, size_t count, uint32_t target,
                 uint32_t to, uint32_t step, double *cycles)
{
    struct dg_measure m;
    struct dg_fetch q = { .to = to, .step = step, .order = order, .count = count, .gap = GAP,
                          .rest = REST, .repeats = REPEATS, .timed = &target, .timed_count = 1 };
    bool ok = dg_read_fetch(ctx, &q, 5, &m);
    *cycles = m.cycles.median;
    return ok;
}

/* What a line that nothing brings takes, and one that was just loaded. */
static bool ends(struct dg_context *ctx, double *l1, double *memory)
{
    static const uint32_t walk[] = { 0, 3 * PAGE + 640, PAGE + 2368, 2 * PAGE + 1472 };
    return near(ctx, walk, 4, walk[3], 8 * PAGE, 0, l1) &&
           near(ctx, walk, 4, 6 * PAGE + 1984, 8 * PAGE, 0, memory);
}

static bool walk_ahead(struct dg_context *ctx, uint32_t stride, size_t ahead, double *cycles)
{
    uint32_t order[WALK], to = stride * (WALK + AHEAD) + PAGE;
    for (uint32_t i = 0; i < WALK; i++)
        order[i] = i * stride;
    for (size_t i = 0; i < ahead; i++)
        if (!near(ctx, order, WALK, (uint32_t)(WALK + i) * stride, to, stride, &cycles[i]))
            return false;
    return true;
}

/* A clock whose steps are longer than the way from L1 to L2 cannot tell them apart. */
static bool tells_l1(const struct dg_context *ctx)
{
    const struct dg_bench_info *info = ctx->bench->info;
    double step = info->tick_ns * info->clock_hz / 1e9;
    return step < dg_known(ctx, "l2_latency", 12) - dg_known(ctx, "l1_latency", 4);
}

static void cannot_tell(struct dg_context *ctx, const char *key)
{
    dg_cannot(ctx, key, "bytes", DG_UNAVAILABLE,
              "the time source moves in steps longer than the way from L1 to L2",
              "nothing here; a finer time source would tell");
}

static void say_reach(struct dg_context *ctx, const char *level, uint32_t stride, size_t lines)
{
    char key[48];
    dg_format(key, sizeof key, "prefetch.reach.%s.s%u", level, stride);
    if (level[0] == 'l' && !tells_l1(ctx))
        cannot_tell(ctx, key);
    else if (lines > 0)
        dg_say(ctx, &(struct dg_number){
            .key = key, .unit = "bytes", .value = (double)lines * stride,
            .low = (double)(lines > 1 ? lines - 1 : 1) * stride,
            .high = (double)(lines + 1) * stride, .confidence = 0.8, .samples = AHEAD,
            .method = "cold lines walked slowly, then lines ahead timed one by one" });
    else
        dg_cannot(ctx, key, "bytes", DG_UNAVAILABLE, "a walk of this stride is not followed",
                  "nothing: that is how the processor works");
}

/* By stride of a full reach; in between, whether the next line is brought at all. */
static void reaches(struct dg_context *ctx, double l1, double memory)
{
    static const uint32_t strides[] = { 64, 256, 1024 };
    for (size_t i = 0; i < sizeof strides / sizeof *strides && !ctx->stopped; i++) {
        double cycles[AHEAD];
        if (!walk_ahead(ctx, strides[i], AHEAD, cycles))
            continue;
        struct dg_reach reach = dg_infer_reach(cycles, AHEAD, l1, memory);
        say_reach(ctx, "l1", strides[i], reach.l1);
        say_reach(ctx, "any", strides[i], reach.any);
    }
}

static void say_stride(struct dg_context *ctx, const char *key, uint32_t stride, bool all)
{
    if (stride > 0)
        dg_say(ctx, &(struct dg_number){
            .key = key, .unit = "bytes", .value = stride, .low = stride, .high = 2 * stride,
            .confidence = 0.8, .samples = WALK,
            .method = all ? "next line of a slow walk over cold lines, strides doubled: all that "
                            "were tried are followed"
                          : "next line of a slow walk over cold lines, strides doubled" });
    else
        dg_cannot(ctx, key, "bytes", DG_UNAVAILABLE, "no walk of any stride is followed",
                  "nothing: prefetchers are absent or switched off");
}

static void strides(struct dg_context *ctx, double l1, double memory)
{
    enum { LARGEST = 65536 };
    uint32_t any = 0, in_l1 = 0;
    bool more = true, more_l1 = true;
    for (uint32_t stride = LINE; stride <= LARGEST && more; stride *= 2) {
        double cycles[4];
        if (!walk_ahead(ctx, stride, 4, cycles)) {
            if (!ctx->stopped) {
                dg_refused(ctx, "l2_prefetcher_stride", "bytes");
                dg_refused(ctx, "l1_prefetcher_stride", "bytes");
            }
            return;
        }
        struct dg_reach reach = dg_infer_reach(cycles, 4, l1, memory);
        more = reach.any > 0;
        more_l1 &= reach.l1 > 0 && cycles[0] < 1.5 * l1;
        any = more ? stride : any;
        in_l1 = more_l1 ? stride : in_l1;
    }
    say_stride(ctx, "l2_prefetcher_stride", any, any == LARGEST);
    if (tells_l1(ctx))
        say_stride(ctx, "l1_prefetcher_stride", in_l1, in_l1 == LARGEST);
    else
        cannot_tell(ctx, "l1_prefetcher_stride");
}

/* Streams in pages of their own, in turn; the first one's next line. */
static void streams(struct dg_context *ctx, double l1, double memory)
{
    double cycles[6];
    size_t count = 0;
    for (uint32_t n = 1; n <= MOST_STREAMS; n *= 2, count++) {
        uint32_t order[MOST_STREAMS * WALK];
        for (uint32_t i = 0; i < n * WALK; i++)
            order[i] = i % n * 2 * PAGE + i % n * 5 * LINE + i / n * LINE;
        if (!near(ctx, order, n * WALK, WALK * LINE, 2 * PAGE * MOST_STREAMS, LINE,
                  &cycles[count]))
            return;
    }
    size_t followed = dg_infer_reach(cycles, count, l1, memory).any;
    if (followed > 0)
        dg_say(ctx, &(struct dg_number){
            .key = "prefetch.streams", .unit = "count", .value = 1 << (followed - 1),
            .low = 1 << (followed - 1), .high = 1 << followed, .confidence = 0.8,
            .samples = count,
            .method = "1, 2, 4 to 32 sequential walks in turn, then the next line of the first: "
                      "the most that are followed" });
    else
        dg_cannot(ctx, "prefetch.streams", "count", DG_UNAVAILABLE,
                  "no sequential walk is followed",
                  "nothing: prefetchers are absent or switched off");
}

static void page_end(struct dg_context *ctx, double l1, double memory)
{
    uint32_t order[WALK];
    double cycles;
    for (uint32_t i = 0; i < WALK; i++)
        order[i] = PAGE - (WALK - i) * LINE;
    if (!near(ctx, order, WALK, PAGE, 4 * PAGE, 0, &cycles))
        return;
    dg_say_text(ctx, "prefetch.crosses_page", ctx->bench->info->huge_pages ?
                "first line behind 4 KiB of a walk, inside a huge page" :
                "first line of the next page of 4 KiB after a walk",
                dg_infer_reach(&cycles, 1, l1, memory).any > 0 ? "yes" : "no");
}

void dg_probe_prefetch(struct dg_context *ctx)
{
    double l1, memory;
    if (ctx->quick)
        return;
    if (!ends(ctx, &l1, &memory) || memory < 2 * l1) {
        if (!ctx->stopped) {
            dg_refused(ctx, "l1_prefetcher_stride", "bytes");
            dg_refused(ctx, "l2_prefetcher_stride", "bytes");
        }
        return;
    }
    strides(ctx, l1, memory);
    reaches(ctx, l1, memory);
    streams(ctx, l1, memory);
    page_end(ctx, l1, memory);
}
