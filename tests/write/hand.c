/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "hand.h"

static uint64_t up(uint64_t a, uint64_t b)
{
    return b == 0 ? 0 : (a + b - 1) / b;
}

static void set_extents(struct dg_plan *plan, const struct dg_problem *p, unsigned k_blocks)
{
    uint64_t nr = plan->tile.vectors * plan->body.lanes;
    plan->m_blocks = plan->n_blocks = 1;
    plan->mc = plan->mc_last = p->m;
    plan->nc = plan->nc_last = p->n;
    plan->kc = p->k == 0 ? 0 : up(p->k, k_blocks);
    plan->k_blocks = p->k == 0 ? 1 : up(p->k, plan->kc);
    plan->kc_last = p->k - (plan->k_blocks - 1) * plan->kc;
    plan->rows = (struct dg_split){ { plan->tile.rows, 0 }, { 0, 0 } };
    plan->rows.count[0] = (uint32_t)(p->m / plan->tile.rows);
    plan->rows.size[1] = (uint32_t)(p->m % plan->tile.rows);
    plan->rows.count[1] = plan->rows.size[1] != 0;
    plan->rows_last = plan->rows;
    plan->panels = plan->panels_last = p->n / nr;
    plan->tail_columns = (unsigned)(p->n % nr);
    plan->tail_vectors = (unsigned)up(plan->tail_columns, plan->body.lanes);
    plan->tail_part = plan->tail_columns % plan->body.lanes;
}

void hand_make(struct hand *hand, const char *isa, const char *name, uint64_t m, uint64_t n,
               uint64_t k, unsigned k_blocks, struct dg_arena *arena)
{
    *hand = (struct hand){
        .problem = { .dtype = DG_F32, .m = m, .n = n, .k = k, .layout_b = DG_PACKED,
                     .lda = k > 0 ? k : 1, .ldb = n, .ldc = n },
        .entries = { { "l1_size", { .kind = DG_VALUE_NUMBER, .number = 32768 } },
                     { "name", { .kind = DG_VALUE_TEXT, .text = "by hand" } } },
    };
    dg_format(hand->problem.name, sizeof hand->problem.name, "%s", name);
    hand->profile = (struct dg_profile){ .entries = hand->entries, .entry_count = 2 };
    struct dg_plan *plan = &hand->plan.best;
    bool known = dg_body_for(dg_isa_by_name(isa), DG_F32, NULL, 0, &plan->body);
    assert(known);
    (void)known;
    plan->tile = (struct dg_tile){ 4, 2 };
    plan->unroll = 2;
    plan->prefetch = true;
    plan->binding = "none";
    plan->cycles = (dg_cost)(m * n * k) * DG_COST_ONE / 8;
    plan->peak = 16 * DG_COST_ONE;
    plan->clock_hz = 2000000000;
    set_extents(plan, &hand->problem, k_blocks);
    dg_view_init(&hand->plan.view, &hand->profile, arena, false);
}
