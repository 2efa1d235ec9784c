/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that are walked again and again while a panel passes: how large they may be to stay, which
 * is what a blocked product needs to know; and what a cache does with lines that are in use before
 * it, or that leave there. */
#include "probes/probe.h"

#include <math.h>
#include <string.h>

#include "probes/infer/keep.h"
#include "probes/orders.h"

enum { WHOLE = 16, LEAST = 4, PLACES = 3, SHARE = 4, LINES_TRIP = 16, PAGE = 4096 };

static uint64_t pages(double bytes)
{
    return (uint64_t)ceil(bytes / PAGE) * PAGE;
}

/* ---- how large a block stays ---- */

/* All lines of a block, whose pages are gone through a few at a time: their translations stay, and
 * lines of a page do not follow each other, which prefetchers would learn. */
static uint32_t *block_order(struct dg_context *ctx, uint64_t base, uint64_t bytes, uint32_t line,
                             size_t *count)
{
    const size_t together = 12 * PAGE / line;
    uint32_t *order = dg_alloc_array(ctx->scratch, (size_t)(bytes / line) + 1, sizeof *order);
    *count = (size_t)(bytes / line) / LINES_TRIP * LINES_TRIP;
    for (size_t i = 0; order != NULL && i < *count; i++)
        order[i] = (uint32_t)(base + i * line);
    for (size_t i = 0; order != NULL && i < *count; i += together)
        dg_shuffle(ctx, order + i, *count - i < together ? *count - i : together);
    return order;
}

struct level {
    const char *name;
    double size, next;                           /* of what lies behind it, or of the arena */
    unsigned walks;
};

/* A load of the block beside a panel over one alone, at another place each time: how pages lie in
 * the cache is luck. Negative: refused. */
static double read_ratio(struct dg_context *ctx, const struct level *l, uint64_t bytes)
{
    uint32_t line = (uint32_t)dg_known(ctx, "l1_line_size", 64);
    uint64_t panel = pages(fmin(4 * l->size, l->next / 2)), room = pages(l->size);
    uint64_t limit = ctx->bench->info->memory_limit;
    double ratio[PLACES];
    for (unsigned i = 0; i < PLACES; i++) {
        struct dg_measure alone, beside;
        struct dg_hold q = { .walks = l->walks };
        if (limit < panel + room)
            return -1;
        uint64_t base = dg_random(ctx) % ((limit - panel - room) / PAGE + 1) * PAGE;
        q.order = block_order(ctx, base, bytes, line, &q.count);
        if (q.order == NULL || !dg_read_hold(ctx, &q, 3, &alone))
            return -1;
        q.from = base + room;
        q.bytes = panel;
        q.beside = bytes / SHARE;
        if (!dg_read_hold(ctx, &q, 3, &beside) || alone.cycles.min <= 0)
            return -1;
        ratio[i] = beside.cycles.min / alone.cycles.min;
    }
    return dg_stat_of(ratio, PLACES).median;
}

static void say_resident(struct dg_context *ctx, const struct level *l)
{
    uint64_t size[WHOLE];
    double ratio[WHOLE];
    char key[32];
    size_t count = 0;
    const double part = 0.05;
    dg_format(key, sizeof key, "cache.resident.%s", l->name);
    for (unsigned i = LEAST; i <= WHOLE; i++) {
        size[count] = (uint64_t)(l->size / WHOLE) * i;
        ratio[count] = read_ratio(ctx, l, size[count]);
        if (ratio[count] < 0) {
            if (!ctx->stopped)
                dg_refused(ctx, key, "bytes");
            return;
        }
        if (ratio[count++] > 1 + part)
            break;
    }
    uint64_t held = dg_infer_resident(size, ratio, count, part);
    if (held == 0) {
        dg_cannot(ctx, key, "bytes", DG_UNRELIABLE,
                  "a quarter of the cache does not stay while a panel passes",
                  "run again on a quiet machine");
        return;
    }
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "bytes", .value = (double)held, .low = (double)held,
        .high = (double)held + l->size / WHOLE, .confidence = 0.9, .samples = 6 * PLACES * count,
        .method = "largest block that is walked at 5 % over its own time while a quarter of its "
                  "bytes of a panel pass before each walk" });
}

/* ---- what the cache behind does ---- */

struct pair {
    const char *key;
    double before, upper, lower;                 /* bytes; before: of the one before the upper */
    double upper_cycles, lower_cycles, lost_cycles;
};

/* Some of the lines of the upper cache, few of a page, so that prefetchers leave them alone; more
 * than the cache before it holds, or they would be in use there alone. */
static uint32_t *thin_order(struct dg_context *ctx, const struct pair *p, size_t *count)
{
    enum { APART = 1024 };
    uint32_t line = (uint32_t)dg_known(ctx, "l1_line_size", 64);
    size_t trips = (size_t)(fmax(p->upper / 16, 2 * p->before) / line / LINES_TRIP);
    size_t wanted = trips * LINES_TRIP;
    *count = wanted;
    uint32_t *order = dg_order_sample(ctx, 0, wanted * APART, line, count);
    return wanted > 0 && *count == wanted ? order : NULL;
}

static bool read_load(struct dg_context *ctx, const struct dg_hold *q, double *cycles)
{
    struct dg_measure m;
    bool ok = dg_read_hold(ctx, q, 5, &m);
    *cycles = m.cycles.low;
    return ok;
}

static bool read_keeps(struct dg_context *ctx, const struct pair *p, struct dg_keeps *out)
{
    const double round = 1.5;
    struct dg_hold q = { .beside = 0 };
    q.order = thin_order(ctx, p, &q.count);
    uint64_t first = q.count * 1024, beside = pages(p->upper / 8), push = pages(3 * p->upper);
    uint64_t all = (pages(round * (p->upper + p->lower)) / beside + 1) * beside;
    uint64_t some = pages(2 * p->upper) / beside * beside;
    if (q.order == NULL || first + all + push > ctx->bench->info->memory_limit)
        return false;
    *out = (struct dg_keeps){ .walks = (unsigned)(all / beside),
                              .turns = (double)all / (p->lower + p->upper) };
    q.walks = out->walks;
    q.from = first;
    if (!read_load(ctx, &q, &out->hit))
        return false;
    q.beside = beside;
    q.bytes = some;
    if (!read_load(ctx, &q, &out->near))
        return false;
    q.bytes = all;
    if (!read_load(ctx, &q, &out->far))
        return false;
    q.push_from = first + all;
    q.push = (double)push <= p->lower / 2 ? push : 0;
    if (q.push > 0 && !read_load(ctx, &q, &out->pushed))
        return false;
    /* translations are in what was read */
    double extra = fmax(0, out->hit - p->upper_cycles);
    out->lower = p->lower_cycles + extra;
    out->lost = p->lost_cycles + extra;
    return true;
}

static void say_inclusion(struct dg_context *ctx, const struct pair *p)
{
    static const char *const names[] = {
        [DG_INCLUSIVE] = "inclusive", [DG_VICTIM] = "victim", [DG_NEITHER] = "non-inclusive" };
    static const char *const methods[] = {
        [DG_INCLUSIVE] = "lines in use in the cache before it are lost when it is filled anew",
        [DG_VICTIM] = "filled anew while lines were in use in the cache before it: they were not "
                      "lost, and were in it when pushed out there",
        [DG_NEITHER] = "filled anew while lines were in use in the cache before it: they were not "
                       "lost, but were in neither when pushed out there" };
    struct dg_keeps k;
    if (!read_keeps(ctx, p, &k)) {
        if (!ctx->stopped)
            dg_cannot(ctx, p->key, "", DG_UNAVAILABLE,
                      "memory for measuring does not fill this cache anew", "allow more memory");
        return;
    }
    enum dg_inclusion found = dg_infer_inclusion(&k);
    if (found == DG_KEPT)
        dg_cannot(ctx, p->key, "", DG_UNRELIABLE,
                  "not inclusive, as lines in use are not lost; whether it takes what leaves the "
                  "cache before it does not show", "run again on a quiet machine");
    else if (found == DG_INCLUSION_UNKNOWN)
        dg_cannot(ctx, p->key, "", DG_UNRELIABLE,
                  "lines in use in the cache before it do not clearly stay or go when this one is "
                  "filled anew", "run again on a quiet machine");
    else
        dg_say_text(ctx, p->key, methods[found], names[found]);
}

void dg_probe_keep(struct dg_context *ctx)
{
    double l1 = dg_known(ctx, "l1_size", 0), l2 = dg_known(ctx, "l2_size", 0);
    double l3 = dg_known(ctx, "l3_effective_size", 0), hz = ctx->bench->info->clock_hz / 1e9;
    double l1_cycles = dg_known(ctx, "l1_latency", 4), l2_cycles = dg_known(ctx, "l2_latency", 0);
    double memory = dg_known(ctx, "dram_latency", 0) * hz;
    double l3_cycles = dg_known(ctx, "l3_latency", 0) * hz;
    static const char *const unknown = "the sizes and latencies of the caches are not known";
    static const char *const help = "run again on a quiet machine";
    const struct level levels[] = { { "l1", l1, l2, 32 },
                                    { "l2", l2, fmax(2 * l3, 8 * l2), 4 } };
    const struct pair pairs[] = {
        { "cache.inclusion.l2", 0, l1, l2, l1_cycles, l2_cycles, l3 > 0 ? l3_cycles : memory },
        { "cache.inclusion.l3", l1, l2, l3, l2_cycles, l3_cycles, memory } };
    for (size_t i = ctx->quick ? 1 : 0; i < 2 && !ctx->stopped; i++) {
        char key[32];
        dg_format(key, sizeof key, "cache.resident.%s", levels[i].name);
        if (levels[i].size > 0 && levels[i].next > 0)
            say_resident(ctx, &levels[i]);
        else
            dg_cannot(ctx, key, "bytes", DG_UNAVAILABLE, unknown, help);
        if (ctx->stopped || ctx->quick)          /* plans read no more of this than what stays */
            return;
        if (pairs[i].upper > 0 && pairs[i].lower > 0 && pairs[i].lost_cycles > 0)
            say_inclusion(ctx, &pairs[i]);
        else
            dg_cannot(ctx, pairs[i].key, "", DG_UNAVAILABLE, unknown, help);
    }
}
