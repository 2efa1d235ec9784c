/* SPDX-License-Identifier: Apache-2.0
 *
 * Translations: a chase over one line of each of many pages, less one over as many lines that
 * stand together. Lines take turns within their pages, so that both use the sets of L1 alike. */
#include "probes/probe.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "probes/infer/cache.h"
#include "probes/infer/tlb.h"
#include "probes/orders.h"

enum { LEAST_PAGES = 8, MOST_POINTS = 96, MOST_PAGES = 8192, LOADS = 2048 };

struct reach {
    uint32_t pages[MOST_POINTS];
    double extra[MOST_POINTS];
    size_t count;
    unsigned long samples;
};

/* Where the pages are, and how far apart lines in them must be taken from. */
struct pages {
    uint64_t from, page, piece;  /* piece: lines are spread over pieces of a page this large */
    uint32_t most;               /* pages that there are */
    uint32_t line;
};

static uint32_t *spread_order(struct dg_context *ctx, const struct pages *p, uint32_t count)
{
    uint32_t *order = dg_alloc_array(ctx->scratch, count, sizeof *order);
    uint64_t lines = 4096 / p->line, pieces = p->page / p->piece;
    for (uint32_t i = 0; order != NULL && i < count; i++)
        order[i] = (uint32_t)(p->from + i * p->page + i * 5 % pieces * p->piece +
                              i % lines * p->line);
    if (order != NULL)
        dg_shuffle(ctx, order, count);
    return order;
}

/* The same number of lines, together. */
static uint32_t *packed_order(struct dg_context *ctx, const struct pages *p, uint32_t count)
{
    uint32_t *order = dg_order_strided(ctx, count, p->line);
    for (uint32_t i = 0; order != NULL && i < count; i++)
        order[i] += (uint32_t)p->from;
    return order;
}

static double chased(struct dg_context *ctx, const uint32_t *order, uint32_t count, struct reach *r)
{
    struct dg_measure reading;
    struct dg_chase q = { .order = order, .count = count, .steps = LOADS, .warm = 3 };
    if (q.steps < 2 * count)
        q.steps = 2 * count;
    if (order == NULL || !dg_read_chase(ctx, &q, 7, &reading))
        return -1;
    r->samples += reading.samples;
    return reading.cycles.min;
}

static bool read_extra(struct dg_context *ctx, const struct pages *p, uint32_t count,
                       struct reach *r)
{
    double spread = chased(ctx, spread_order(ctx, p, count), count, r);
    double packed = spread < 0 ? -1 : chased(ctx, packed_order(ctx, p, count), count, r);
    size_t at = r->count;
    if (packed < 0)
        return false;
    while (at > 0 && r->pages[at - 1] > count)
        at--;
    memmove(r->pages + at + 1, r->pages + at, (r->count - at) * sizeof *r->pages);
    memmove(r->extra + at + 1, r->extra + at, (r->count - at) * sizeof *r->extra);
    r->pages[at] = count;
    r->extra[at] = spread - packed;
    r->count++;
    return true;
}

static bool read_reach(struct dg_context *ctx, const struct pages *p, struct reach *r)
{
    r->count = 0;
    /* quarters of an octave */
    for (double pages = LEAST_PAGES; pages <= p->most && r->count < MOST_POINTS / 2;
         pages *= 1.189207115)
        if (!read_extra(ctx, p, (uint32_t)pages, r))
            return false;
    return r->count > 4;
}

/* Down to one page: the first level. */
static bool refine_first(struct dg_context *ctx, const struct pages *p, struct reach *r)
{
    for (int i = 0; i < 24 && r->count < MOST_POINTS; i++) {
        const struct dg_tlb_reach reach = { r->pages, r->extra, r->count };
        struct dg_tlb tlb = dg_infer_tlb(&reach);
        if (tlb.first == 0 || tlb.first_next - tlb.first <= 1)
            return true;
        if (!read_extra(ctx, p, (tlb.first + tlb.first_next) / 2, r))
            return false;
    }
    return true;
}

/* Sixty-fourths of an octave about the end of the second. */
static bool refine_second(struct dg_context *ctx, const struct pages *p, struct reach *r)
{
    for (int i = 0; i < 16 && r->count < MOST_POINTS; i++) {
        const struct dg_tlb_reach reach = { r->pages, r->extra, r->count };
        struct dg_tlb tlb = dg_infer_tlb(&reach);
        uint32_t next = 0;
        for (size_t k = 1; k < r->count && tlb.second != 0; k++)
            if (r->pages[k - 1] == tlb.second)
                next = r->pages[k];
        if (next == 0 || next - tlb.second <= tlb.second / 64)
            return true;
        if (!read_extra(ctx, p, (tlb.second + next) / 2, r))
            return false;
    }
    return true;
}

/* ---- answers ---- */

static const char *const method =
    "chase over one line of each page, less a chase over as many lines together";

static void key_of(char key[48], const char *start, const char *page, const char *end)
{
    dg_format(key, 48, "%s.%s%s", start, page, end);
}

static void cannot(struct dg_context *ctx, const char *key, const char *unit, const char *reason)
{
    dg_cannot(ctx, key, unit, DG_UNRELIABLE, reason, "run again on a quiet machine");
}

static void say_number(struct dg_context *ctx, const char *key, const char *unit, double value,
                       double low, double high, const struct reach *r)
{
    dg_say(ctx, &(struct dg_number){ .key = key, .unit = unit, .value = value, .low = low,
                                     .high = high, .confidence = low < high ? 0.8 : 1,
                                     .samples = r->samples,
                                     .method = method });
}

/* So many pages cost nothing and one more does: what another number excludes. */
static const char *certificate_of(struct dg_context *ctx, const struct dg_tlb *tlb,
                                  const struct reach *r)
{
    struct dg_str text;
    size_t at = 0;
    while (at + 2 < r->count && r->pages[at] != tlb->first)
        at++;
    dg_str_init(&text, ctx->arena);
    for (size_t i = at; i < at + 2; i++) {
        dg_str_format(&text, "%s%u pages: ", i > at ? "; " : "", r->pages[i]);
        dg_str_fixed(&text, r->extra[i], 2);
        dg_str_add(&text, " cycles more");
    }
    return dg_str_text(&text);
}

static void say_first(struct dg_context *ctx, const char *page, const struct dg_tlb *tlb,
                      const struct reach *r, const char *reason)
{
    char key[48];
    key_of(key, "tlb.l1", page, ".entries");
    if (tlb->first > 0 && tlb->first_next == tlb->first + 1)
        dg_say(ctx, &(struct dg_number){
            .key = key, .unit = "count", .value = tlb->first, .low = tlb->first,
            .high = tlb->first, .confidence = 1, .samples = r->samples, .method = method,
            .certificate = certificate_of(ctx, tlb, r) });
    else
        cannot(ctx, key, "count", reason);
}

static void say_second(struct dg_context *ctx, const char *page, const struct dg_tlb *tlb,
                       const struct reach *r)
{
    const char *reason = "no second step of the cost within the pages that were tried";
    char key[48];
    /* whatever disturbs takes entries away: the size lies from the first miss to half-way */
    double entries = 0;
    if (tlb->second > 0)
        entries = (double)dg_roundest(tlb->second * 0.97, tlb->second_next);
    key_of(key, "tlb.l2", page, ".hit_cost");
    if (tlb->cost > 0 && tlb->second > 0)
        say_number(ctx, key, "cycles", tlb->cost, tlb->cost, tlb->cost, r);
    else
        cannot(ctx, key, "cycles", tlb->cost > 0 ?
               "one step of the cost only: a hit in a second level, or a walk" :
               "no flat part of the cost behind the first step");
    key_of(key, "tlb.l2", page, ".entries");
    if (entries > 0)
        say_number(ctx, key, "count", entries, fmin(entries, tlb->second),
                   fmax(entries, tlb->second_next), r);
    else
        cannot(ctx, key, "count", reason);
    key_of(key, "tlb.walk", page, "");
    if (tlb->walk > 0)
        say_number(ctx, key, "cycles", tlb->walk, tlb->walk, tlb->walk, r);
    else
        cannot(ctx, key, "cycles", reason);
}

static struct dg_tlb infer(const struct reach *r)
{
    const struct dg_tlb_reach reach = { r->pages, r->extra, r->count };
    return dg_infer_tlb(&reach);
}

static void page_name(char name[24], uint64_t bytes)
{
    bool mega = bytes >= 1 << 20;
    dg_format(name, 24, "%llu%c", (unsigned long long)(bytes >> (mega ? 20 : 10)),
              mega ? 'm' : 'k');
}

static uint32_t small_pages(struct dg_context *ctx, struct reach *r)
{
    const struct dg_bench_info *info = ctx->bench->info;
    bool assumed;
    struct pages p = { .from = info->small_from, .page = info->page_bytes,
                       .piece = info->page_bytes,
                       .line = (uint32_t)dg_known(ctx, "l1_line_size", 64) };
    /* as many lines must be far from filling L2, or its misses would look like translations */
    double l2 = dg_known_or_claimed(ctx, "l2_size", 262144, &assumed);
    p.most = (uint32_t)fmin((double)(info->memory_limit - info->small_from) / (double)p.page,
                            fmin(MOST_PAGES, l2 / p.line / 3));
    char page[24];
    page_name(page, p.page);
    if (!read_reach(ctx, &p, r) || !refine_first(ctx, &p, r) || !refine_second(ctx, &p, r)) {
        char key[48];
        key_of(key, "tlb.l1", page, ".entries");
        if (!ctx->stopped)
            dg_refused(ctx, key, "count");
        return 0;
    }
    struct dg_tlb tlb = infer(r);
    say_first(ctx, page, &tlb, r, "the cost of translation does not step clearly");
    say_second(ctx, page, &tlb, r);
    return tlb.first;
}

/* Huge pages bring entries when small pieces of a few of them cost no translation. */
static void huge_pages(struct dg_context *ctx, uint32_t small_entries, struct reach *r)
{
    const uint64_t huge = 2 << 20;
    const struct dg_bench_info *info = ctx->bench->info;
    struct pages p = { .from = 0, .page = info->page_bytes, .piece = info->page_bytes,
                       .most = (uint32_t)(info->small_from / huge),
                       .line = (uint32_t)dg_known(ctx, "l1_line_size", 64) };
    r->count = 0;
    if (!info->huge_pages || small_entries == 0 || p.most < LEAST_PAGES ||
        huge <= p.page || !read_extra(ctx, &p, 3 * small_entries, r))
        return;
    if (r->extra[0] > 1) {
        dg_cannot(ctx, "tlb.l1.2m.entries", "count", DG_UNAVAILABLE,
                  "huge pages are granted, but their parts cost as much translation as small "
                  "pages: below, they are small", "back the guest with huge pages");
        return;
    }
    p.piece = p.page;
    p.page = huge;
    if (!read_reach(ctx, &p, r) || !refine_first(ctx, &p, r))
        return;
    struct dg_tlb tlb = infer(r);
    say_first(ctx, "2m", &tlb, r, "more entries than the arena has huge pages");
}

void dg_probe_tlb(struct dg_context *ctx)
{
    struct reach *r = dg_alloc(ctx->scratch, sizeof *r);
    if (r == NULL || ctx->quick)
        return;
    uint32_t entries = small_pages(ctx, r);
    if (!ctx->stopped)
        huge_pages(ctx, entries, r);
}
