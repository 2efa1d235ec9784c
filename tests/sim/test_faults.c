/* SPDX-License-Identifier: Apache-2.0
 *
 * Each stage of the inference broken once: the check of the chips must notice. The linker puts
 * these functions before the real ones (--wrap). */
#include <criterion/criterion.h>
#include <string.h>

#include "probes/infer/cache.h"
#include "probes/infer/rate.h"
#include "probes/infer/vote.h"
#include "tests/sim/check.h"

enum fault { NONE, WAYS, LINE, EXTENT, PLATEAUS, RATE, VOTE, FAULTS };
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
    return fault == PLATEAUS && count > 0 ? 0 : count;
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

Test(sim_faults, each_broken_stage_is_noticed)
{
    const struct sim_case *c = &sim_cases[0];
    for (fault = NONE; fault < FAULTS; fault++) {
        struct dg_arena arena;
        struct dg_probe_result result;
        struct dg_error e;
        struct dg_str report;
        dg_arena_init(&arena);
        dg_str_init(&report, &arena);
        cr_assert(sim_run(c, 3, NULL, 0, &arena, &result, &e));
        unsigned wrong = sim_check(c, &result.answers, &report);
        if (fault == NONE)
            cr_expect_eq(wrong, 0u, "%s", dg_str_text(&report));
        else
            cr_expect_gt(wrong, 0u, "fault %d was not noticed", (int)fault);
        dg_arena_free(&arena);
    }
}
