/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of many products for the profiles given, as text: run on two hosts and compared. */
#include <inttypes.h>
#include <stdio.h>

#include "emit/plan/plan.h"
#include "profile/reader.h"

static void print(const struct dg_plan *p)
{
    printf("  %ux%u kc %" PRIu64 " mc %" PRIu64 " nc %" PRIu64 " rows %ux%u+%ux%u last %u+%u "
           "panels %" PRIu64 "/%" PRIu64 " tail %u order %d prefetch %d %s\n",
           p->tile.rows, p->tile.vectors, p->kc, p->mc, p->nc, p->rows.count[0], p->rows.size[0],
           p->rows.count[1], p->rows.size[1], p->rows_last.count[0], p->rows_last.count[1],
           p->panels, p->panels_last, p->tail_columns, p->inner, p->prefetch + 2 * p->along,
           p->binding != NULL ? p->binding : "none");
    printf("  cycles %" PRId64 " bound %" PRId64 " peak %" PRId64 " points %" PRIu64 " pruned %"
           PRIu64 " bytes %" PRIu64 " %" PRIu64 " %" PRIu64 "\n ", p->cycles, p->bound, p->peak,
           p->points, p->pruned, p->l2_bytes, p->l3_bytes, p->dram_bytes);
    for (size_t i = 0; i < p->term_count; i++)
        printf(" %s %" PRId64, p->terms[i].id, p->terms[i].cost);
    printf("\n");
}

static int plan_one(const struct dg_profile *profile, struct dg_problem *p)
{
    struct dg_arena arena;
    struct dg_plan_result r;
    struct dg_error e = { 0 };
    dg_arena_init(&arena);
    p->lda = p->k > 0 ? p->k : 1;
    p->ldb = p->ldc = p->n;
    bool good = dg_plan_make(p, profile, false, &arena, &r, &e);
    printf("%" PRIu64 "x%" PRIu64 "x%" PRIu64 " %s%s\n", p->m, p->n, p->k,
           good ? r.best.body.isa->name : "", e.rule);
    if (good) {
        print(&r.best);
        print(&r.runner_up);
    }
    dg_arena_free(&arena);
    return good ? 0 : 1;
}

static int plan_all(const struct dg_profile *profile)
{
    static const uint64_t sizes[] = { 1, 7, 33, 197, 768, 1024, 4099 };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    int failed = 0;
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++)
            for (int k = 0; k < SIZES; k += 3) {
                struct dg_problem p = {
                    .isa = "auto", .dtype = DG_F32, .m = sizes[i], .n = sizes[j], .k = sizes[k],
                    .layout_b = (i + j) % 2 > 0 ? DG_PACKED : DG_ROW_MAJOR,
                };
                failed += plan_one(profile, &p);
            }
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct dg_arena arena;
        struct dg_profile profile;
        struct dg_error e = { 0 };
        dg_arena_init(&arena);
        if (dg_profile_load(argv[i], &arena, &profile, &e)) {
            printf("%s\n", dg_profile_text(&profile, "name"));
            failed += plan_all(&profile);
        } else {
            printf("%s: %s: %s\n", e.where, e.rule, e.value);
            failed++;
        }
        dg_arena_free(&arena);
    }
    return failed > 0;
}
