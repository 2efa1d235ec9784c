/* SPDX-License-Identifier: Apache-2.0
 *
 * Each stage of the inference broken once: the check of the chips must notice. The linker puts
 * these functions before the real ones (--wrap). */
#include <criterion/criterion.h>
#include <string.h>

#include "probes/infer/cache.h"
#include "probes/infer/rate.h"
#include "probes/infer/sets.h"
#include "probes/infer/tlb.h"
#include "probes/infer/vote.h"
#include "tests/sim/check.h"

enum fault { NONE, WAYS, LINE, EXTENT, PLATEAUS, LEVEL, KEPT, RATE, VOTE, MINIMAL_SET, MEMBERS,
             SETS, TLB, FAULTS };
static enum fault fault;

struct dg_ways __real_dg_infer_ways(const struct dg_conflicts *conflicts);
struct dg_ways __wrap_dg_infer_ways(const struct dg_conflicts *conflicts);
struct dg_ways __wrap_dg_infer_ways(const struct dg_conflicts *conflicts)
{
    struct dg_ways ways = __real_dg_infer_ways(conflicts);
    if (fault == WAYS)
        ways.ways = ways.ways > 1 ? ways.ways - 1 : ways.ways;
    return ways;
}

uint32_t __real_dg_infer_line(const uint32_t *distance, const double *latency, size_t count);
uint32_t __wrap_dg_infer_line(const uint32_t *distance, const double *latency, size_t count);
uint32_t __wrap_dg_infer_line(const uint32_t *distance, const double *latency, size_t count)
{
    uint32_t line = __real_dg_infer_line(distance, latency, count);
    return fault == LINE ? 2 * line : line;
}

bool __real_dg_infer_extent(const struct dg_curve *curve, double low, double high,
                            struct dg_extent *out);
bool __wrap_dg_infer_extent(const struct dg_curve *curve, double low, double high,
                            struct dg_extent *out);
bool __wrap_dg_infer_extent(const struct dg_curve *curve, double low, double high,
                            struct dg_extent *out)
{
    bool found = __real_dg_infer_extent(curve, low, high, out);
    if (fault == EXTENT && found)
        *out = (struct dg_extent){ 4 * out->size, out->size_low, 4 * out->size_high,
                                   4 * out->kept, out->kept_low, 4 * out->kept_high };
    return found;
}

size_t __real_dg_infer_plateaus(struct dg_curve *curve, struct dg_plateau *out, size_t capacity);
size_t __wrap_dg_infer_plateaus(struct dg_curve *curve, struct dg_plateau *out, size_t capacity);
size_t __wrap_dg_infer_plateaus(struct dg_curve *curve, struct dg_plateau *out, size_t capacity)
{
    size_t count = __real_dg_infer_plateaus(curve, out, capacity);
    for (size_t i = 0; i < count && fault == PLATEAUS; i++)
        out[i].level *= 1.4;
    return count;
}

bool __real_dg_infer_level(const struct dg_curve *curve, double low, double most, double *level);
bool __wrap_dg_infer_level(const struct dg_curve *curve, double low, double most, double *level);
bool __wrap_dg_infer_level(const struct dg_curve *curve, double low, double most, double *level)
{
    bool found = __real_dg_infer_level(curve, low, most, level);
    *level *= fault == LEVEL ? 1.5 : 1;
    return found;
}

double __real_dg_infer_kept(const struct dg_curve *curve, double low, double level);
double __wrap_dg_infer_kept(const struct dg_curve *curve, double low, double level);
double __wrap_dg_infer_kept(const struct dg_curve *curve, double low, double level)
{
    return __real_dg_infer_kept(curve, low, level) * (fault == KEPT ? 2 : 1);
}

struct dg_rate __real_dg_infer_rate(const struct dg_sweep *sweep);
struct dg_rate __wrap_dg_infer_rate(const struct dg_sweep *sweep);
struct dg_rate __wrap_dg_infer_rate(const struct dg_sweep *sweep)
{
    struct dg_rate rate = __real_dg_infer_rate(sweep);
    if (fault == RATE)
        rate.per_cycle *= 0.9;
    return rate;
}

bool __real_dg_infer_vote(const struct dg_vote_rule *rule, const struct dg_answer *repeats,
                          size_t count, struct dg_answer *out);
bool __wrap_dg_infer_vote(const struct dg_vote_rule *rule, const struct dg_answer *repeats,
                          size_t count, struct dg_answer *out);
bool __wrap_dg_infer_vote(const struct dg_vote_rule *rule, const struct dg_answer *repeats,
                          size_t count, struct dg_answer *out)
{
    bool agreed = __real_dg_infer_vote(rule, repeats, count, out);
    if (fault == VOTE && agreed && strcmp(out->key, "l1_size") == 0)
        out->value.number *= 2;
    return agreed;
}

size_t __real_dg_infer_minimal_set(const struct dg_set_test *test, uint32_t *lines, size_t count);
size_t __wrap_dg_infer_minimal_set(const struct dg_set_test *test, uint32_t *lines, size_t count);
size_t __wrap_dg_infer_minimal_set(const struct dg_set_test *test, uint32_t *lines, size_t count)
{
    size_t found = __real_dg_infer_minimal_set(test, lines, count);
    return fault == MINIMAL_SET && found > 0 ? found - 1 : found;
}

size_t __real_dg_infer_members(double all, const double *without, size_t count, bool *member);
size_t __wrap_dg_infer_members(double all, const double *without, size_t count, bool *member);
size_t __wrap_dg_infer_members(double all, const double *without, size_t count, bool *member)
{
    size_t found = __real_dg_infer_members(all, without, count, member);
    return fault == MEMBERS && found > 0 ? found + 1 : found;
}

struct dg_sets __real_dg_infer_sets(const struct dg_group *group, size_t count, unsigned block);
struct dg_sets __wrap_dg_infer_sets(const struct dg_group *group, size_t count, unsigned block);
struct dg_sets __wrap_dg_infer_sets(const struct dg_group *group, size_t count, unsigned block)
{
    struct dg_sets sets = __real_dg_infer_sets(group, count, block);
    if (fault == SETS)
        sets.sets *= 2;
    return sets;
}

struct dg_tlb __real_dg_infer_tlb(const struct dg_reach *reach);
struct dg_tlb __wrap_dg_infer_tlb(const struct dg_reach *reach);
struct dg_tlb __wrap_dg_infer_tlb(const struct dg_reach *reach)
{
    struct dg_tlb tlb = __real_dg_infer_tlb(reach);
    if (fault == TLB && tlb.first > 0) {
        tlb.first++;
        tlb.first_next++;
    }
    return tlb;
}

/* What the stages of the quick run find out, and what the sets of L2 are. */
static unsigned right_answers(struct dg_str *report, struct dg_arena *arena)
{
    static const char *const ids[] = { "l2", "tlb" };
    struct dg_probe_result result;
    struct dg_error e;
    struct sim_score score = { 0 };
    struct sim_case c = sim_case_of(SIM_CLASS_haswell, SIM_NOISE_none);
    cr_assert(sim_run(&c, 3, NULL, 0, arena, &result, &e));
    sim_check(&c, &result.answers, &score, report);
    unsigned right = sim_total(&score, SIM_RIGHT);
    if (right < SIM_TRUTHS)
        return right;
    c.whole = true;
    cr_assert(sim_run(&c, 3, ids, 2, arena, &result, &e));
    return right + (sim_judge(&result.answers, "l2_ways", 8, 8, true) == SIM_RIGHT) +
           (sim_judge(&result.answers, "l2_sets", 1024, 1024, true) == SIM_RIGHT) +
           (sim_judge(&result.answers, "tlb.l1.4k.entries", 64, 64, true) == SIM_RIGHT);
}

Test(sim_faults, each_broken_stage_is_noticed)
{
    for (fault = NONE; fault < FAULTS; fault++) {
        struct dg_arena arena;
        struct dg_str report;
        dg_arena_init(&arena);
        dg_str_init(&report, &arena);
        unsigned right = right_answers(&report, &arena), all = SIM_TRUTHS + 3;
        if (fault == NONE)
            cr_expect_eq(right, all, "%s", dg_str_text(&report));
        else
            cr_expect_lt(right, all, "fault %d was not noticed", (int)fault);
        dg_arena_free(&arena);
    }
}
