/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan/plan.h"

#include "emit/plan/intensity.h"
#include "emit/plan/price.h"
#include "emit/plan/search.h"
#include "profile/fields.h"

/* Plans within 4 in 1000 of the cheapest one are equal within the model's error, beyond 20 in 1000
 * they are not. */
enum { TIE_THOUSANDTHS = 4, NO_TIE_THOUSANDTHS = 20 };

static bool same(const char *a, const char *b)
{
    return dg_key_compare(a, b) == 0;
}

bool dg_plan_check_target(const struct dg_problem *problem, const struct dg_profile *profile,
                          struct dg_error *e)
{
    const char *name = dg_profile_text(profile, "name");
    if (problem->target[0] == '\0' || (name != NULL && same(problem->target, name)))
        return true;
    char value[128];
    dg_format(value, sizeof value, "target %s, profile %s", problem->target,
              name != NULL ? name : "without a name");
    return dg_fail(e, DG_EXIT_INPUT, "target", "must be the name of the hardware profile", value,
                   "give the profile of that chip, or correct or remove target");
}

static bool no_isa(const char *name, const char *rule, struct dg_error *e)
{
    return dg_fail(e, DG_EXIT_INPUT, "isa", rule, name,
                   "choose --isa auto, or the profile of another chip");
}

/* Whether a kernel of this target runs on the profile's chip and the body has all it needs. */
static bool usable(const struct dg_isa *isa, const char *architecture,
                   const char *const *features, size_t feature_count,
                   const struct dg_problem *problem, struct dg_body *body)
{
    return same(isa->architecture, architecture) &&
           dg_body_for(isa, problem->dtype, features, feature_count, body);
}

/* Advice: what the plainest target of the architecture needs. */
static bool no_target(const char *architecture, const struct dg_problem *problem,
                      const struct dg_profile *profile, struct dg_error *e)
{
    struct dg_body body;
    char todo[160] = "this version has no target of that architecture: take another profile";
    for (size_t i = 0; dg_isas[i] != NULL; i++)
        if (same(dg_isas[i]->architecture, architecture) &&
            dg_body_for(dg_isas[i], problem->dtype, NULL, 0, &body))
            dg_format(todo, sizeof todo, "%s needs %s: add them to isa if the chip has them",
                      dg_isas[i]->name, body.features);
    if (dg_profile_find(profile, "isa") == NULL)
        return dg_fail(e, DG_EXIT_INPUT, "/isa", "is not known, and no target of this build runs "
                       "on the least chip of its architecture", architecture,
                       "run deepgemm-probe again, or type the list, named as in /proc/cpuinfo");
    return dg_fail(e, DG_EXIT_INPUT, "/isa", "no target of this build runs on the profile's chip",
                   architecture, todo);
}

static bool choose_isa(const struct dg_problem *problem, struct dg_view *view,
                       struct dg_body *body, struct dg_error *e)
{
    const char *architecture = dg_profile_text(view->profile, "architecture");
    const char *const *features;
    size_t count;
    if (architecture == NULL)
        return dg_fail(e, DG_EXIT_INPUT, "/architecture", "is missing in the profile", "",
                       "add it: x86_64 or aarch64");
    double ignored;
    dg_view_cell(view, "architecture", &ignored);         /* recorded as read */
    if (!dg_view_list(view, "isa", &features, &count))
        return dg_fail(e, DG_EXIT_INPUT, "/isa", "is missing in the profile", "",
                       "add the list of instruction sets, named as in /proc/cpuinfo");
    if (!same(problem->isa, "auto")) {
        const struct dg_isa *isa = dg_isa_by_name(problem->isa);
        if (isa == NULL || !same(isa->architecture, architecture))
            return no_isa(problem->isa, "is not of the profile's architecture", e);
        if (!dg_features_have(features, count, isa->features))
            return no_isa(problem->isa, "needs features that the profile does not list", e);
        if (!dg_body_for(isa, problem->dtype, NULL, 0, body))
            return no_isa(problem->isa, "has no recipe for this element type", e);
        return dg_body_for(isa, problem->dtype, features, count, body) ||
               no_isa(problem->isa, "needs features for this element type that the profile does "
                      "not list", e);
    }
    for (size_t i = 0; dg_isas[i] != NULL; i++)
        if (usable(dg_isas[i], architecture, features, count, problem, body))
            return true;
    return no_target(architecture, problem, view->profile, e);
}

static struct dg_split split_of(const struct dg_row_plan *rows, const uint32_t count[2])
{
    return (struct dg_split){ { rows->size[0], rows->size[1] }, { count[0], count[1] } };
}

static void fill_blocks(const struct dg_corner *p, struct dg_plan *out)
{
    const struct dg_problem *q = p->s->problem;
    const struct dg_tile_space *t = p->t;
    uint64_t width = (uint64_t)t->tile.vectors * out->body.lanes;
    out->tile = (struct dg_tile){ p->rows->size[0], t->tile.vectors };
    out->mc = p->mc;
    out->kc = p->kc;
    out->kc_elements = p->kc * out->body.group;
    if (out->kc_elements > q->k)
        out->kc_elements = q->k;
    out->nc = p->n_blocks == 1 ? q->n : p->panels * width;
    out->m_blocks = p->m_blocks;
    out->n_blocks = p->n_blocks;
    out->k_blocks = p->k_blocks;
    out->mc_last = q->m - (p->m_blocks - 1) * p->mc;
    out->nc_last = q->n - (p->n_blocks - 1) * out->nc;
    out->kc_last = p->s->steps - (p->k_blocks - 1) * p->kc;
    out->rows = split_of(p->rows, p->rows->full);
    out->rows_last = split_of(p->rows, p->rows->last);
    out->panels_last = t->full_panels - (p->n_blocks - 1) * p->panels;
    out->panels = p->n_blocks == 1 ? out->panels_last : p->panels;
    out->tail_columns = t->tail_columns;
    out->tail_vectors = t->tail_vectors;
    out->along = t->along;
    out->tail_part = t->along ? 0 : t->tail_columns % out->body.lanes;
    out->inner = p->box->inner;
    out->prefetch = p->box->prefetch;
    out->schedule = !dg_reorders(p->s->c);
    out->unroll = p->kc < DG_UNROLL ? (unsigned)(p->kc > 0 ? p->kc : 1) : DG_UNROLL;
}

/* The dearest floor where one binds, else what binds the step of the widest part. */
static const char *binding_of(const struct dg_corner *p, const dg_cost *values)
{
    for (size_t i = 0; i < dg_term_count; i++)
        if (dg_terms[i].is_floor && values[i] > 0)
            return dg_terms[i].title;
    const struct dg_column *columns = p->t->full != NULL ? p->t->full : p->t->tail;
    return columns[p->rows->size[0]].binding;
}

static bool fill_terms(const struct dg_corner *p, struct dg_plan *out, struct dg_error *e)
{
    dg_cost values[DG_TERM_MOST];
    struct dg_term_value *terms = dg_alloc_array(p->s->arena, dg_term_count, sizeof *terms);
    if (terms == NULL)
        return dg_fail_memory(e, "plan");
    out->cycles = dg_ledger(p, values);
    for (size_t i = 0; i < dg_term_count; i++)
        terms[i] = (struct dg_term_value){ dg_terms[i].id, dg_terms[i].title, values[i] };
    out->terms = terms;
    out->term_count = dg_term_count;
    out->binding = binding_of(p, values);
    return true;
}

static bool fill(const struct dg_space *s, const struct dg_found *found,
                 struct dg_search_count count, struct dg_plan *out, struct dg_error *e)
{
    const struct dg_constants *c = s->c;
    struct dg_corner corner;
    *out = (struct dg_plan){ .body = *c->body, .clock_hz = c->clock_hz, .issue = c->issue };
    if (!found->found)
        return true;
    dg_corner_of(s, &found->point, &corner);
    fill_blocks(&corner, out);
    out->bound = s->peak;
    uint64_t operations = 2 * (uint64_t)c->body->lanes * c->body->group;
    out->peak = (dg_cost)(operations * DG_COST_ONE * (uint64_t)DG_PRICE_ONE /
                          (uint64_t)c->chain_rate);
    out->l2_bytes = dg_traffic(&corner, 0);
    out->l3_bytes = dg_traffic(&corner, 1);
    out->dram_bytes = dg_traffic(&corner, c->capacity[2] > 0 ? 2 : 1);
    out->points = count.points;
    out->pruned = count.points - count.priced;
    out->simplicity = dg_simplicity_of(&corner);
    return fill_terms(&corner, out, e);
}

/* The simplest of the plans that are ties with the cheapest one. Plans simpler than all cheaper
 * ones form a staircase from what surely is no tie down to what surely is one: it is cut where a
 * step is highest. Another run of the probe moves costs a little, but seldom across that step, so
 * its profile gives the same plan. */
static bool simplest(const struct dg_space *s, dg_cost cheapest, struct dg_found *best,
                     uint64_t *priced, struct dg_error *e)
{
    dg_cost low = cheapest + cheapest / 1000 * TIE_THOUSANDTHS;
    dg_cost above = cheapest + cheapest / 1000 * NO_TIE_THOUSANDTHS, highest = -1;
    for (dg_cost limit = above; highest < 0 || limit >= low;) {
        struct dg_found next;
        struct dg_search_count count;
        if (!dg_search_simplest(s, limit, &next, &count, e))
            return false;
        *priced += count.priced;
        dg_cost stair = next.cost > low ? next.cost : low;
        if (above - stair > highest) {
            highest = above - stair;
            *best = next;
        }
        above = next.cost;
        limit = next.cost - 1;
    }
    return true;
}

/* The simplest of the plans within the tie, and the cheapest with another tile than that. */
static bool optimise(const struct dg_space *s, struct dg_plan_result *out, struct dg_error *e)
{
    struct dg_found cheapest, second, best;
    struct dg_search_count count;
    if (!dg_search_cheapest(s, &cheapest, &second, &count, e))
        return false;
    if (!cheapest.found)
        return dg_fail(e, DG_EXIT_INPUT, "m, n, k", "the product is too large to price", "",
                       "split it");
    if (!simplest(s, cheapest.cost, &best, &count.priced, e))
        return false;
    const struct dg_found *other = best.point.t == cheapest.point.t ? &second : &cheapest;
    return fill(s, &best, count, &out->best, e) && fill(s, other, count, &out->runner_up, e);
}

/* One block of highest intensity: its plan, into best or runner_up when it is cheaper. */
static bool weigh(const struct dg_problem *problem, const struct dg_constants *c,
                  const struct dg_fixed *block, struct dg_arena *arena,
                  struct dg_plan_result *out, struct dg_error *e)
{
    struct dg_space *space = dg_alloc(arena, sizeof *space);
    struct dg_found found, other;
    struct dg_search_count count;
    struct dg_plan plan;
    if (space == NULL)
        return dg_fail_memory(e, "plan");
    if (!dg_space_make(problem, c, block, arena, space, e) ||
        !dg_search_cheapest(space, &found, &other, &count, e) ||
        !fill(space, &found, count, &plan, e))
        return false;
    if (!found.found)
        return true;
    if (out->best.cycles == 0 || plan.cycles < out->best.cycles) {
        out->runner_up = out->best;
        out->best = plan;
    } else if (out->runner_up.cycles == 0 || plan.cycles < out->runner_up.cycles) {
        out->runner_up = plan;
    }
    return true;
}

/* Of the blocks of highest intensity the cheapest plan. */
static bool most_intense(const struct dg_problem *problem, const struct dg_constants *c,
                         struct dg_arena *arena, struct dg_plan_result *out, struct dg_error *e)
{
    enum { MOST = 64 };
    struct dg_fixed *blocks = dg_alloc_array(arena, MOST, sizeof *blocks);
    if (blocks == NULL)
        return dg_fail_memory(e, "plan");
    size_t count = dg_intensity_best(problem, c, blocks, MOST);
    for (size_t i = 0; i < count; i++)
        if (!weigh(problem, c, &blocks[i], arena, out, e))
            return false;
    if (out->best.cycles == 0)
        return dg_fail(e, DG_EXIT_INPUT, "objective", "no block of whole tiles fits l1_size", "",
                       "use the objective cycles, or dimensions that a tile divides");
    out->best.binding = out->runner_up.binding = "l1_size";
    return true;
}

static bool missing(const struct dg_view *view, struct dg_error *e)
{
    if (view->missing == NULL)
        return dg_fail_memory(e, "plan");
    return dg_fail(e, DG_EXIT_INPUT, view->missing,
                   "is not in the profile, and --strict allows no default", "",
                   "measure it with deepgemm-probe, or add it to the file");
}

bool dg_plan_make(const struct dg_problem *problem, const struct dg_profile *profile, bool strict,
                  struct dg_arena *arena, struct dg_plan_result *out, struct dg_error *e)
{
    struct dg_constants *c = dg_alloc(arena, sizeof *c);
    struct dg_space *space = dg_alloc(arena, sizeof *space);
    struct dg_body *body = dg_alloc(arena, sizeof *body);
    *out = (struct dg_plan_result){ 0 };
    if (c == NULL || space == NULL || body == NULL)
        return dg_fail_memory(e, "plan");
    dg_view_init(&out->view, profile, arena, strict);
    if (!dg_plan_check_target(problem, profile, e) || !choose_isa(problem, &out->view, body, e))
        return false;
    if (!dg_constants_read(&out->view, body, c))
        return missing(&out->view, e);
    if (!dg_tile_asked(problem, c, arena, e))
        return false;
    if (problem->objective == DG_OBJECTIVE_INTENSITY && body->a_bytes != body->c_bytes)
        return dg_fail(e, DG_EXIT_INPUT, "objective", "intensity is defined for operands of one "
                       "element size", dg_dtype_names[problem->dtype], "use the objective cycles");
    if (problem->objective == DG_OBJECTIVE_INTENSITY)
        return most_intense(problem, c, arena, out, e);
    return dg_space_make(problem, c, NULL, arena, space, e) && optimise(space, out, e);
}
