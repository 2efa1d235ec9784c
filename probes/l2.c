/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of L2, whose index is made of physical addresses and often hashed. Lines that evict a target
 * are cut down until each of them is needed for it. Chases over that set and lines that only crowd
 * L1 prove it: all stay as soon as any one of the set is left out, which no replacement can fake.
 * How often a block of memory does the work of a member gives the number of sets. */
#include "probes/probe.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "probes/infer/sets.h"

enum {
    BLOCK = 4096,                /* consecutive physical bytes in any case */
    MOST_LINES = 8192, FIRST_LINES = 512, MOST_FILL = 64, MOST_SET = 128, TRIES = 6,
    MOST_TESTS = 1500, REPEATS = 12, GROUPS = 240, MOST_BLOCKS = 1 << 9, CHASE_LOADS = 2048
};

/* Groups of all repeats, by size: the number of sets gets surer. */
enum { SIZES = 10, FIRST_SIZE = 4 };
struct memory { struct dg_group group[SIZES]; };

struct finder {
    struct dg_context *ctx;
    uint32_t *place;             /* blocks at random: the target, those that fill L1, candidates */
    size_t places, fill;
    uint32_t line;               /* of L1 */
    uint32_t stride;             /* between places: they share an L1 set */
    uint32_t *order;             /* room for requests */
    double hit, miss;            /* cycles of the timed load */
    unsigned tests;
};

/* ---- one test ---- */

/* Replacement that only nearly goes by age lets a target stay for a pass or two. */
static unsigned passes_over(size_t count)
{
    return count > 2500 ? 2 : count > 512 ? 4 : 6;
}

/* The timed load after the lines that fill L1 and `count` lines have passed; negative: refused. It
 * may well be 0: less than one step of the time source. */
static double timed(struct finder *f, const uint32_t *lines, size_t count)
{
    struct dg_measure reading;
    struct dg_evict q = { .target = f->place[0], .order = f->order, .count = count + f->fill,
                          .passes = passes_over(count), .repeats = REPEATS };
    memcpy(f->order, f->place + 1, f->fill * sizeof *f->order);
    memcpy(f->order + f->fill, lines, count * sizeof *lines);
    dg_shuffle(f->ctx, f->order, q.count);
    if (++f->tests > MOST_TESTS || !dg_read_evict(f->ctx, &q, 1, &reading))
        return -1;
    return reading.cycles.median;
}

static enum dg_verdict evicts(void *self, const uint32_t *lines, size_t count)
{
    enum { MOST_LOOKS = 5 };
    struct finder *f = self;
    int sum = 0;
    /* clear looks count twice; what stays unclear is as good as a target that stays */
    for (unsigned looks = 0; looks < MOST_LOOKS && sum > -2 && sum < 2; looks++) {
        double cycles = timed(f, lines, count);
        if (cycles < 0)
            return DG_NO_VERDICT;
        double part = (cycles - f->hit) / (f->miss - f->hit);
        sum += part > 0.5 ? 1 : -1;
        sum += part > 0.75 ? 1 : part < 0.25 ? -1 : 0;
    }
    return sum >= 2 ? DG_EVICTED : DG_STAYS;
}

/* ---- the set ---- */

static bool draw_places(struct finder *f)
{
    uint32_t at = f->line * (uint32_t)(dg_random(f->ctx) % (BLOCK / f->line));
    f->places = (size_t)(f->ctx->bench->info->memory_limit / f->stride);
    for (size_t i = 0; i < f->places; i++)
        f->place[i] = (uint32_t)i * f->stride;
    dg_shuffle(f->ctx, f->place, f->places);
    for (size_t i = 0; i < f->places; i++)
        f->place[i] += at;
    return f->places >= FIRST_LINES + f->fill + 1;
}

/* As many candidates as it takes to evict the target for sure; 0: none do. */
static size_t enough_lines(struct finder *f)
{
    const double least_cycles = 10, least_part = 1.3;
    const uint32_t *candidate = f->place + 1 + f->fill;
    size_t most = f->places - 1 - f->fill;
    f->hit = timed(f, candidate, 1);
    for (size_t count = FIRST_LINES; f->hit >= 0 && count <= most && count <= MOST_LINES;
         count *= 2) {
        double cycles = timed(f, candidate, count);
        if (cycles > f->hit + least_cycles && cycles > least_part * f->hit) {
            f->miss = cycles;
            /* more than enough, so that a part of them can be left out at a time */
            count = 2 * count < most ? 2 * count : most;
            return evicts(f, candidate, count) == DG_EVICTED ? count : 0;
        }
    }
    return 0;
}

static double chased(struct finder *f, const uint32_t *lines, size_t count, size_t without)
{
    struct dg_measure reading;
    struct dg_chase q = { .order = f->order, .steps = CHASE_LOADS, .warm = 16 };
    for (size_t i = 0; i < count; i++)
        if (i != without)
            f->order[q.count++] = lines[i];
    dg_shuffle(f->ctx, f->order, q.count);
    return dg_read_chase(f->ctx, &q, 5, &reading) ? reading.cycles.min : 0;
}

/* Members of the set among the target, the lines that fill L1 and `lines`, by chases; 0: no proof.
 * The sum of both kinds of chases goes into *certificate. */
static size_t prove(struct finder *f, const uint32_t *lines, size_t count, uint32_t *full,
                    const char **certificate)
{
    enum { MOST = 1 + MOST_FILL + MOST_SET };
    uint32_t ring[MOST];
    double without[MOST], fits = INFINITY;
    bool member[MOST] = { false };
    size_t n = 1 + f->fill + count;
    memcpy(ring, f->place, (1 + f->fill) * sizeof *ring);
    memcpy(ring + 1 + f->fill, lines, count * sizeof *lines);
    double all = chased(f, ring, n, n);
    for (size_t i = 0; i < n; i++) {
        without[i] = all > 0 ? chased(f, ring, n, i) : 0;
        if (without[i] <= 0)
            return 0;
        fits = fmin(fits, without[i]);
    }
    size_t members = dg_infer_members(all, without, n, member);
    for (size_t i = 0; i < n; i++)
        if (members > 0 && !member[i] && (i == 0 || i > f->fill))
            return 0;
    /* one of the set goes: a full set, in which the target stays */
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        if (i != 0 && member[i])
            full[used++] = ring[i];
    struct dg_str text;
    dg_str_init(&text, f->ctx->arena);
    dg_str_format(&text, "%zu lines of one set among %zu: chased together ", members, n);
    dg_str_fixed(&text, all, 1);
    dg_str_add(&text, " cycles a load, without any one of them ");
    dg_str_fixed(&text, fits, 1);
    *certificate = dg_str_text(&text);
    return members;
}

static size_t find_set(struct finder *f, uint32_t *full, const char **certificate)
{
    const struct dg_set_test test = { evicts, f };
    if (!draw_places(f))
        return 0;
    size_t count = enough_lines(f);
    uint32_t *lines = f->place + 1 + f->fill;
    count = count > 0 ? dg_infer_minimal_set(&test, lines, count) : 0;
    return count > 0 && count <= MOST_SET ? prove(f, lines, count, full, certificate) : 0;
}

/* ---- the number of sets ---- */

/* Puts blocks that nothing else uses behind the first `used` lines. */
static size_t add_blocks(struct finder *f, uint32_t *group, size_t used, unsigned blocks,
                         size_t *next)
{
    if (*next < 1 + f->fill + MOST_SET + blocks)
        *next = f->places;
    for (unsigned b = 0; b < blocks; b++) {
        uint32_t at = f->place[--*next] / f->stride * f->stride +
                      (uint32_t)(dg_random(f->ctx) % (f->stride / BLOCK)) * BLOCK;
        for (uint32_t offset = 0; offset < BLOCK; offset += f->line)
            group[used++] = at + offset;
    }
    return used;
}

/* 1: evicted, 0: stays, -1: between the two, -2: refused. */
static int look(struct finder *f, const uint32_t *lines, size_t count)
{
    int seen = -1;
    for (unsigned looks = 0; looks < 3 && seen == -1; looks++) {
        double cycles = timed(f, lines, count);
        double part = (cycles - f->hit) / (f->miss - f->hit);
        seen = cycles < 0 ? -2 : part > 0.75 ? 1 : part < 0.25 ? 0 : -1;
    }
    return seen;
}

/* Groups of blocks in place of one member; about half of the groups should do its work. What stays
 * unclear often would tell more about the replacement than about the sets: no groups then. */
static void count_groups(struct finder *f, const uint32_t *full, size_t ways, struct memory *m)
{
    struct memory seen = { 0 };
    uint32_t *group = dg_alloc_array(f->ctx->scratch, MOST_SET + (size_t)MOST_BLOCKS *
                                     (BLOCK / f->line), sizeof *group);
    size_t next = f->places, size = FIRST_SIZE;
    unsigned unclear = 0;
    int balance = 0;
    if (group == NULL)
        return;
    memcpy(group, full, (ways - 1) * sizeof *group);
    for (unsigned g = 0; g < GROUPS && unclear <= GROUPS / 8; g++) {
        int v = look(f, group, add_blocks(f, group, ways - 1, 1u << size, &next));
        if (v == -2)
            return;
        unclear += v == -1;
        if (v == -1)
            continue;
        seen.group[size].groups++;
        seen.group[size].evicted += (unsigned)v;
        balance += v == 1 ? 1 : -1;
        if (balance >= 5 || balance <= -5) {
            size = balance > 0 ? (size > 0 ? size - 1 : 0) : size + 1 < SIZES ? size + 1 : size;
            balance = 0;
        }
    }
    for (size_t i = 0; i < SIZES && unclear <= GROUPS / 8; i++) {
        m->group[i].blocks = 1u << i;
        m->group[i].groups += seen.group[i].groups;
        m->group[i].evicted += seen.group[i].evicted;
    }
}

/* ---- answers ---- */

static const char *const help = "run again on a quiet machine, or type the value";

static void cannot(struct dg_context *ctx, const char *key, const char *unit, const char *reason)
{
    dg_cannot(ctx, key, unit, DG_UNRELIABLE, reason, help);
}

/* Larger than L1, and what the curve says holds it. */
static bool agrees(const struct dg_context *ctx, double size)
{
    const struct dg_answer *a = dg_answers_find(ctx->known, "l2_size");
    if (size <= dg_known(ctx, "l1_size", 0))
        return false;
    return a == NULL || a->value.kind != DG_VALUE_NUMBER || (size >= a->low && size <= a->high);
}

static const char *describe(struct dg_context *ctx, const struct memory *m)
{
    struct dg_str text;
    dg_str_init(&text, ctx->arena);
    dg_str_format(&text, "blocks of %u bytes that do the work of a member:", BLOCK);
    const char *between = " ";
    for (size_t i = 0; i < SIZES; i++)
        if (m->group[i].groups > 0) {
            dg_str_format(&text, "%s%u of %u groups of %u", between, m->group[i].evicted,
                          m->group[i].groups, m->group[i].blocks);
            between = ", ";
        }
    return dg_str_text(&text);
}

/* The number of sets from the groups so far; 0: not known. */
static double say_sets(struct dg_context *ctx, const struct finder *f, double ways,
                       const struct memory *m)
{
    const size_t lines = BLOCK / f->line;
    const double sets = dg_infer_sets(m->group, SIZES, lines).sets;
    if (sets == 0 || !agrees(ctx, ways * sets * f->line)) {
        cannot(ctx, "l2_sets", "count", sets > 0 ?
               "ways times sets times line is not the size that latency shows" :
               "too few groups of lines tell between two powers of two");
        return sets;
    }
    dg_say(ctx, &(struct dg_number){
        .key = "l2_sets", .unit = "count", .value = sets, .low = sets, .high = sets,
        .confidence = 0.99, .samples = f->tests, .certificate = describe(ctx, m),
        .method = "how often memory at random does the work of a line of the set" });
    return sets;
}

static void say(struct dg_context *ctx, const struct finder *f, double ways,
                const char *certificate, const struct memory *m)
{
    double sets = say_sets(ctx, f, ways, m);
    if (sets > 0 && !agrees(ctx, ways * sets * f->line)) {
        cannot(ctx, "l2_ways", "count",
               "ways times sets times line is not the size that latency shows");
        return;
    }
    dg_say(ctx, &(struct dg_number){
        .key = "l2_ways", .unit = "count", .value = ways, .low = ways, .high = ways,
        .confidence = 1, .samples = f->tests, .certificate = certificate,
        .method = "lines that evict one another, cut down until each is needed for it" });
}

static bool open_finder(struct finder *f, struct dg_context *ctx)
{
    const struct dg_bench_info *info = ctx->bench->info;
    *f = (struct finder){ .ctx = ctx, .line = (uint32_t)dg_known(ctx, "l1_line_size", 64) };
    f->stride = (uint32_t)fmax(BLOCK, fmax(dg_known(ctx, "l1_set_stride", 0), info->page_bytes));
    f->fill = (size_t)fmin(2 * dg_known(ctx, "l1_ways", 16) + 2, MOST_FILL);
    f->place = dg_alloc_array(ctx->scratch, (size_t)(info->memory_limit / BLOCK),
                              sizeof *f->place);
    f->order = dg_alloc_array(ctx->scratch, MOST_FILL + MOST_SET + (size_t)MOST_BLOCKS * BLOCK / 8,
                              sizeof *f->order);
    return f->place != NULL && f->order != NULL;
}

void dg_probe_l2(struct dg_context *ctx)
{
    uint32_t full[1 + MOST_FILL + MOST_SET];
    const char *certificate = NULL;
    struct finder f;
    size_t members = 0;
    if (ctx->quick) {
        static const char *const reason = "left out by --quick";
        dg_cannot(ctx, "l2_ways", "count", DG_UNAVAILABLE, reason, "run without --quick");
        dg_cannot(ctx, "l2_sets", "count", DG_UNAVAILABLE, reason, "run without --quick");
        return;
    }
    dg_cannot(ctx, "l2_set_stride", "bytes", DG_UNAVAILABLE,
              "physical addresses choose the set, and pages lie anywhere in them: no distance of "
              "virtual addresses shares one", "nothing: l2_ways and l2_sets say what is known");
    if (*ctx->carry == NULL)
        *ctx->carry = dg_alloc(ctx->arena, sizeof(struct memory));
    if (*ctx->carry == NULL || !open_finder(&f, ctx))
        return;
    for (unsigned i = 0; members == 0 && i < TRIES && !ctx->stopped; i++)
        members = find_set(&f, full, &certificate);
    if (ctx->stopped)
        return;
    if (members < 3) {
        static const char *const reason =
            "no set of lines was found that evict each other and of which each is needed for it: "
            "the core is shared, or old lines are not the first to go";
        cannot(ctx, "l2_ways", "count", reason);
        /* what earlier repeats have counted still holds */
        say_sets(ctx, &f, dg_known(ctx, "l2_ways", 0), *ctx->carry);
        return;
    }
    count_groups(&f, full, members - 1, *ctx->carry);
    if (!ctx->stopped)
        say(ctx, &f, (double)members - 1, certificate, *ctx->carry);
}
