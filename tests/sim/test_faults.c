/* SPDX-License-Identifier: Apache-2.0
 *
 * Each stage of the inference broken once: what the probes then say of a chip must be noticed as
 * wrong. The linker puts these functions before the real ones (--wrap). */
#include <criterion/criterion.h>
#include <string.h>

#include "probes/infer/beside.h"
#include "probes/infer/cache.h"
#include "probes/infer/groups.h"
#include "probes/infer/pace.h"
#include "probes/infer/keep.h"
#include "probes/infer/rate.h"
#include "probes/infer/sets.h"
#include "probes/infer/stats.h"
#include "probes/infer/steps.h"
#include "probes/infer/tlb.h"
#include "probes/infer/vote.h"
#include "tests/sim/check.h"

static const char *broken;               /* name of the stage; "" none */

static bool is_broken(const char *name)
{
    return strcmp(broken, name) == 0;
}

/* STAGE(type, name, parameters, arguments, what is done to `out`) */
#define STAGE(type, name, parameters, arguments, ...) \
    type __real_dg_##name parameters; \
    type __wrap_dg_##name parameters; \
    type __wrap_dg_##name parameters \
    { \
        type out = __real_dg_##name arguments; \
        if (is_broken(#name)) { \
            __VA_ARGS__; \
        } \
        return out; \
    }

STAGE(struct dg_ways, infer_ways, (const struct dg_conflicts *c), (c), out.ways -= out.ways > 1)
STAGE(uint32_t, infer_line, (const uint32_t *d, const double *l, size_t n), (d, l, n), out *= 2)
STAGE(bool, infer_extent, (const struct dg_curve *c, double l, double h, struct dg_extent *x),
      (c, l, h, x), *x = (struct dg_extent){ 4 * x->size, x->size_low, 4 * x->size_high,
                                             4 * x->kept, x->kept_low, 4 * x->kept_high, x->onset })
STAGE(size_t, infer_plateaus, (struct dg_curve *c, struct dg_plateau *p, size_t n), (c, p, n),
      for (size_t i = 0; i < out; i++) p[i].level *= 1.4)
STAGE(bool, infer_level, (const struct dg_curve *c, double l, double most, double *level),
      (c, l, most, level), *level *= 1.5)
STAGE(double, infer_kept, (const struct dg_curve *c, double l, double level), (c, l, level),
      out *= 2)
STAGE(double, power_of_two, (double low, double high), (low, high), out *= 2)
STAGE(uint64_t, roundest, (double low, double high), (low, high), out *= 2)
STAGE(struct dg_rate, infer_rate, (const struct dg_sweep *s), (s), out.per_cycle *= 0.9)
STAGE(enum dg_latency, infer_latency, (double cycles), (cycles), out = DG_LATENCY_NONE)
STAGE(size_t, infer_minimal_set, (const struct dg_set_test *t, uint32_t *l, size_t n), (t, l, n),
      out -= out > 0)
STAGE(size_t, infer_members, (double all, const double *without, size_t n, bool *m),
      (all, without, n, m), out += out > 0)
STAGE(struct dg_sets, infer_sets, (const struct dg_group *g, size_t n, unsigned block),
      (g, n, block), out.sets *= 2)
STAGE(struct dg_tlb, infer_tlb, (const struct dg_tlb_reach *r), (r), out.first += out.first > 0;
      out.first_next += out.first > 0)
STAGE(bool, infer_vote, (const struct dg_vote_rule *rule, const struct dg_answer *r, size_t n,
                         struct dg_answer *a), (rule, r, n, a), a->value.number *= 2)
STAGE(size_t, infer_groups, (const double *d, size_t n, double near, double far, unsigned *g),
      (d, n, near, far, g), g[0] = g[n - 1])
STAGE(size_t, infer_levels, (const double *d, size_t n, double gap,
                             struct dg_grouping g[DG_GROUP_LEVELS]), (d, n, gap, g), out = 0)
STAGE(double, clocks_quantile, (const struct dg_clocks *c, double part), (c, part), out *= 1.1)
STAGE(bool, infer_ramp, (const struct dg_sample *s, size_t n, struct dg_ramp *r), (s, n, r),
      r->ns *= 2)
STAGE(size_t, infer_knee, (const double *r, size_t n, double part), (r, n, part), out = 0)
STAGE(struct dg_reach, infer_reach, (const double *c, size_t n, double l1, double memory),
      (c, n, l1, memory), out.any += out.any > 0)
STAGE(size_t, infer_misses, (const double *c, size_t n), (c, n), out++)
STAGE(uint64_t, infer_window, (const uint64_t *s, const double *r, size_t n, double part),
      (s, r, n, part), out = n > 0 ? s[0] : 0)
STAGE(struct dg_conflicts_seen, infer_conflicts, (const double *c, size_t n), (c, n),
      out.share *= 2)
STAGE(struct dg_stat, stat_of, (double *v, size_t n), (v, n), out.median *= 1.1; out.low *= 1.1)
STAGE(struct dg_stat, stat_fastest, (double *v, size_t n), (v, n), out.median *= 1.1)
STAGE(uint64_t, infer_code_cache, (const uint64_t *l, const uint64_t *h, size_t n), (l, h, n),
      out *= 2)
STAGE(uint64_t, infer_resident, (const uint64_t *s, const double *r, size_t n, double part),
      (s, r, n, part), out *= 2)
STAGE(enum dg_inclusion, infer_inclusion, (const struct dg_keeps *k), (k),
      out = out == DG_NEITHER ? DG_VICTIM : DG_NEITHER)
STAGE(enum dg_adjacent, infer_adjacent, (const struct dg_beside *b), (b), out = DG_ADJACENT_PAIR)
STAGE(bool, infer_lines_part, (const struct dg_beside *b), (b), out = !out)
STAGE(bool, near, (double a, double b, double part), (a, b, part), out = !out)

void __real_dg_clocks_add(struct dg_clocks *c, double hz);
void __wrap_dg_clocks_add(struct dg_clocks *c, double hz);
void __wrap_dg_clocks_add(struct dg_clocks *c, double hz)
{
    __real_dg_clocks_add(c, is_broken("clocks_add") ? 1.1 * hz : hz);
}

void __real_dg_infer_resources(const struct dg_fit_input *in, struct dg_fit *out);
void __wrap_dg_infer_resources(const struct dg_fit_input *in, struct dg_fit *out);
void __wrap_dg_infer_resources(const struct dg_fit_input *in, struct dg_fit *out)
{
    __real_dg_infer_resources(in, out);
    for (size_t i = 0; i < out->count && is_broken("infer_resources"); i++)
        out->resource[i].capacity *= 1.2;
}

void __real_dg_isotonic(double *values, size_t count);
void __wrap_dg_isotonic(double *values, size_t count);
void __wrap_dg_isotonic(double *values, size_t count)
{
    __real_dg_isotonic(values, count);
    for (size_t i = count / 2; i < count && is_broken("isotonic"); i++)
        values[i] = values[0];
}

void __real_dg_sort_doubles(double *values, size_t count);
void __wrap_dg_sort_doubles(double *values, size_t count);
void __wrap_dg_sort_doubles(double *values, size_t count)
{
    __real_dg_sort_doubles(values, count);
    for (size_t i = 0; i < count && is_broken("sort_doubles"); i++)
        values[i] = values[count - 1];
}

void __real_dg_stat_add(struct dg_stat *stat, double value);
void __wrap_dg_stat_add(struct dg_stat *stat, double value);
void __wrap_dg_stat_add(struct dg_stat *stat, double value)
{
    __real_dg_stat_add(stat, is_broken("stat_add") ? 0 : value);
}

/* ---- what the probes must say ---- */

enum { MOST = 8 };
struct known { const char *key; double low, high; const char *text; };
struct check {
    const char *ids[3], *stages;         /* stages: words, each of which must be noticed here */
    bool whole;
    void (*change)(struct sim_chip *chip);
    struct known known[MOST];
};

static void few_translations(struct sim_chip *chip)
{
    chip->tlb1.entries = 8;
    chip->huge_pages = false;
}

static void clusters(struct sim_chip *chip)
{
    chip->cpus = 6;
    chip->cluster = 3;
    chip->near_ns = 30;
    chip->far_ns = 90;
    chip->other_kind_from = 3;
}

static void full_core(struct sim_chip *chip)
{
    chip->misses = 20;
    chip->banks = (struct sim_banks){ 8, 8, true };
    chip->bank_cost = 1;
    chip->prefetch = (struct sim_prefetch_spec){ .stride = 256, .stride_lines = 6 };
    chip->pace = (struct sim_pace){ .idle = 0.5, .ramp_ms = 2 };
}

static void plain_code(struct sim_chip *chip)
{
    chip->front = (struct sim_front){ { 65536, 4, 64 }, 0, 5, { 32, 10, 4, 2 } };
}

/* haswell: 3 GHz, 32K/8, 512K/8, 4M/16 at 15 ns, memory at 90 ns, 64 translations */
static const struct check checks[] = {
    { { "l1" }, "infer_ways infer_line infer_vote stat_of", false, NULL,
      { { "l1_size", 32768, 32768, NULL }, { "l1_ways", 8, 8, NULL },
        { "l1_line_size", 64, 64, NULL }, { "l1_latency", 3.9, 4.1, NULL } } },
    { { "levels" }, "infer_extent infer_plateaus infer_level infer_kept power_of_two roundest "
      "isotonic near", false, NULL,
      { { "l2_size", 524288, 524288, NULL }, { "l2_latency", 13.8, 14.2, NULL },
        { "l2_effective_size", 400000, 540000, NULL }, { "l3_size", 4194304, 4194304, NULL },
        { "l3_effective_size", 2600000, 4600000, NULL }, { "l3_latency", 13.5, 16.5, NULL },
        { "dram_latency", 88, 92, NULL } } },
    { { "levels" }, "stat_add", false, few_translations,
      { { "l2_latency", 13.8, 14.2, NULL } } },
    { { "clock", "ops" }, "infer_rate infer_latency stat_fastest clocks_add clocks_quantile", false,
      NULL,
      { { "op.fma.f32.256.latency", 3.99, 4.01, NULL },
        { "op.fma.f32.256.per_cycle", 1.98, 2.02, NULL },
        { "clock_hz", 3e9, 3e9, NULL }, { "clock.quantile.p50", 2.95e9, 3.05e9, NULL } } },
    { { "pairs" }, "infer_resources", true, NULL,
      { { "res.f32_256_fma.capacity", 1.95, 2.05, NULL } } },
    { { "l2", "tlb" }, "infer_minimal_set infer_members infer_sets infer_tlb", true, NULL,
      { { "l2_ways", 8, 8, NULL }, { "l2_sets", 1024, 1024, NULL },
        { "tlb.l1.4k.entries", 64, 64, NULL } } },
    { { "bandwidth" }, "infer_knee", true, NULL, { { "bw.dram.read.knee", 2, 2, NULL } } },
    { { "cores" }, "infer_groups infer_levels sort_doubles", true, clusters,
      { { "c2c.groups.1", 0, 0, "0-2 3-5" }, { "kinds.measured", 0, 0, "0-2 3-5" },
        { "c2c.median", 80, 100, NULL } } },
    { { "loads", "prefetch" }, "infer_misses infer_conflicts infer_reach", true, full_core,
      { { "core.misses", 20, 20, NULL }, { "core.conflict.share", 0.05, 0.2, NULL },
        { "prefetch.reach.any.s64", 384, 384, NULL } } },
    { { "code", "pace" }, "infer_window infer_ramp", true, full_core,
      { { "code.window.b4", 6144, 6144, NULL }, { "clock.ramp", 1.75, 2.5, NULL } } },
    { { "code" }, "infer_code_cache", true, plain_code,
      { { "l1i_size", 65536, 65536, NULL } } },
    { { "keep" }, "infer_resident infer_inclusion", true, NULL,
      { { "cache.resident.l1", 20000, 29000, NULL },
        { "cache.inclusion.l3", 0, 0, "non-inclusive" } } },
    { { "beside" }, "infer_adjacent infer_lines_part", true, NULL,
      { { "prefetch.adjacent", 0, 0, "none" }, { "l2_line_size", 64, 64, NULL } } },
};

/* Which answers come with what was seen that another value excludes. */
static bool needs_certificate(const char *key)
{
    static const char *const keys[] = { "clock_hz", "l1_ways", "l2_ways", "l2_sets",
                                        "tlb.l1.4k.entries" };
    bool found = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        found |= strcmp(key, keys[i]) == 0;
    return found;
}

static bool says(const struct dg_answers *answers, const struct known *k)
{
    const struct dg_answer *a = dg_answers_find(answers, k->key);
    char text[200] = "";
    if (k->text == NULL)
        return sim_judge(answers, k->key, k->low, k->high, true) == SIM_RIGHT &&
               (!needs_certificate(k->key) || (a != NULL && a->certificate != NULL));
    if (a != NULL && a->value.kind == DG_VALUE_TEXT)
        return strcmp(a->value.text, k->text) == 0;
    for (size_t i = 0; a != NULL && a->value.kind == DG_VALUE_LIST && i < a->value.list_count; i++)
        dg_format(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "",
                  a->value.list[i]);
    return strcmp(text, k->text) == 0;
}

/* How many of the answers are not true; *first gets the key of the first. */
static unsigned wrong(const struct check *check, const char **first)
{
    struct sim_case c = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none);
    struct dg_arena arena;
    struct dg_probe_result result;
    struct dg_error e;
    unsigned count = 0;
    size_t ids = 0;
    if (check->change != NULL)
        check->change(&c.chip);
    c.whole = check->whole;
    while (ids < 3 && check->ids[ids] != NULL)
        ids++;
    dg_arena_init(&arena);
    cr_assert(sim_run(&c, 3, check->ids, ids, &arena, &result, &e), "%s", e.rule);
    *first = "";
    for (size_t i = 0; i < MOST && check->known[i].key != NULL; i++) {
        if (says(&result.answers, &check->known[i]))
            continue;
        *first = count++ > 0 ? *first : check->known[i].key;
    }
    dg_arena_free(&arena);
    return count;
}

Test(sim_faults, each_broken_stage_is_noticed)
{
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const char *key;
        char words[300];
        char *next = words;
        broken = "";
        cr_expect_eq(wrong(&checks[i], &key), 0u, "%s: nothing is broken, but %s is not right",
                     checks[i].ids[0], key);
        strcpy(words, checks[i].stages);
        for (char *stage; (stage = strsep(&next, " ")) != NULL;) {
            broken = stage;
            cr_expect(wrong(&checks[i], &key) > 0, "%s is broken and nothing tells", stage);
        }
    }
}
