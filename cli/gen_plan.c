/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan explained: every term of the ledger, what binds, the runner-up, what was read and what
 * was assumed. */
#include <stdio.h>
#include <string.h>

#include "cli/gen_plan.h"
#include "base/file.h"
#include "base/report.h"
#include "base/str.h"
#include "profile/fields.h"

enum { CYCLE_DECIMALS = 1 };

typedef unsigned long long ull;

static double cycles_of(dg_cost cost)
{
    return (double)cost / DG_COST_ONE;
}

static void add_cycles(struct dg_str *out, dg_cost cost)
{
    dg_str_fixed(out, cycles_of(cost), CYCLE_DECIMALS);
}

/* Runner-up over best, less one; negative: it was cheaper within the error, but less simple. */
static double gap_of(const struct dg_plan_result *plan)
{
    if (plan->best.cycles <= 0)
        return 0;
    return (double)(plan->runner_up.cycles - plan->best.cycles) / (double)plan->best.cycles;
}

static void add_blocks(struct dg_str *out, const struct dg_plan *plan)
{
    dg_str_format(out, "kc %llu x %llu, mc %llu x %llu, nc %llu x %llu, %s, prefetch %s",
                  (ull)plan->kc_elements, (ull)plan->k_blocks, (ull)plan->mc, (ull)plan->m_blocks,
                  (ull)plan->nc, (ull)plan->n_blocks, dg_inner_text(plan->inner),
                  plan->prefetch ? "on" : "off");
}

static void add_line(struct dg_str *out, const char *label, const char *text)
{
    dg_str_format(out, "%-11s %s\n", label, text);
}

static void add_tile(struct dg_str *out, const struct dg_plan *plan)
{
    const struct dg_split *rows = &plan->rows;
    dg_str_format(out, "%-11s %u rows x %u columns (%u vectors), rows of a block %u x %u", "tile",
                  plan->tile.rows, plan->tile.vectors * plan->body.lanes, plan->tile.vectors,
                  rows->count[0], rows->size[0]);
    if (rows->count[1] > 0)
        dg_str_format(out, " + %u x %u", rows->count[1], rows->size[1]);
    if (plan->tail_columns > 0)
        dg_str_format(out, ", tail panel of %u columns%s", plan->tail_columns,
                      plan->along ? " along k" : "");
    dg_str_addc(out, '\n');
}

static void add_terms(struct dg_str *out, const struct dg_plan *plan)
{
    dg_str_add(out, "terms, in cycles\n");
    for (size_t i = 0; i < plan->term_count; i++) {
        struct dg_str number;
        dg_str_init(&number, out->arena);
        add_cycles(&number, plan->terms[i].cost);
        dg_str_format(out, "  %-9s %16s  %s\n", plan->terms[i].id, dg_str_text(&number),
                      plan->terms[i].title);
    }
}

static void add_prediction(struct dg_str *out, const struct dg_plan *plan)
{
    dg_str_format(out, "%-11s ", "predicted");
    add_cycles(out, plan->cycles);
    dg_str_add(out, " cycles; port bound ");
    add_cycles(out, plan->bound);
    if (plan->cycles > 0) {
        dg_str_add(out, " (");
        dg_str_fixed(out, 100 * (double)plan->bound / (double)plan->cycles, 1);
        dg_str_add(out, "%)");
    }
    dg_str_format(out, "; ns terms joined at %llu Hz\n", (ull)plan->clock_hz);
    add_line(out, "binding", plan->binding);
}

static void add_runner_up(struct dg_str *out, const struct dg_plan_result *plan)
{
    const struct dg_plan *other = &plan->runner_up;
    dg_str_format(out, "%-11s ", "runner-up");
    if (other->cycles <= 0) {
        dg_str_add(out, "none: no other tile\n");
        return;
    }
    add_cycles(out, other->cycles);
    dg_str_format(out, " cycles: tile %u x %u%s, ", other->tile.rows,
                  other->tile.vectors * other->body.lanes, other->along ? " (tail along k)" : "");
    add_blocks(out, other);
    dg_str_format(out, "\n%-11s ", "gap");
    dg_str_fixed(out, 100 * gap_of(plan), 2);
    dg_str_add(out, "%");
    if (gap_of(plan) < 0)
        dg_str_add(out, " (equal within the model's error; the simpler plan was taken)");
    dg_str_addc(out, '\n');
}

static void add_value(struct dg_str *out, const struct dg_read *read)
{
    const struct dg_value *value = read->value;
    if (read->assumed && value == NULL && read->used == 0)
        dg_str_add(out, "default list");
    else if (value == NULL || value->kind == DG_VALUE_NUMBER)
        dg_str_double(out, read->used);
    else if (value->kind == DG_VALUE_TEXT)
        dg_str_add(out, value->text);
    else
        dg_str_format(out, "list of %zu", value->list_count);
}

/* Cells of one family that follow one another, from i on. */
static size_t same_family(const struct dg_view *view, size_t i)
{
    const struct dg_field *field = dg_field_of(view->reads[i].key);
    size_t end = i + 1;
    while (end < view->read_count && view->reads[end].value != NULL &&
           dg_field_of(view->reads[end].key) == field)
        end++;
    return end - i;
}

/* Cells of a family as one line, by what their keys share: mix.turn.f32.512. */
static void add_family(struct dg_str *out, const struct dg_read *reads, size_t count)
{
    const char *first = reads[0].key, *last = reads[count - 1].key;
    dg_str_add(out, "  ");
    for (size_t i = 0; first[i] != '\0' && first[i] == last[i]; i++)
        dg_str_addc(out, first[i]);
    dg_str_format(out, "*: %zu cells (--json has each)\n", count);
}

static void add_reads(struct dg_str *out, const struct dg_view *view)
{
    enum { FEW = 8 };
    size_t absent = 0, assumed = 0;
    for (size_t i = 0; i < view->read_count; i++) {
        assumed += view->reads[i].assumed;
        absent += view->reads[i].value == NULL && !view->reads[i].assumed;
    }
    dg_str_add(out, "read from the profile\n");
    for (size_t i = 0; i < view->read_count; i++) {
        const struct dg_read *read = &view->reads[i];
        if (read->value == NULL)
            continue;
        size_t count = same_family(view, i);
        if (count > FEW) {
            add_family(out, read, count);
            i += count - 1;
            continue;
        }
        dg_str_format(out, "  %s = ", read->key);
        add_value(out, read);
        dg_str_addc(out, '\n');
    }
    if (absent > 0)
        dg_str_add(out, "looked for and absent\n");
    for (size_t i = 0; i < view->read_count; i++)
        if (view->reads[i].value == NULL && !view->reads[i].assumed)
            dg_str_format(out, "  %s\n", view->reads[i].key);
    dg_str_add(out, assumed > 0 ? "assumed, since the profile lacks it\n" : "assumed nothing\n");
    for (size_t i = 0; i < view->read_count; i++) {
        if (!view->reads[i].assumed)
            continue;
        dg_str_format(out, "  %s = ", view->reads[i].key);
        add_value(out, &view->reads[i]);
        dg_str_addc(out, '\n');
    }
}

/* What somebody typed into the file and this plan did not look at. */
static void add_unused(struct dg_str *out, const struct dg_view *view)
{
    const struct dg_profile *profile = view->profile;
    size_t scalars = 0, cells = 0;
    for (size_t i = 0, read = 0; i < profile->entry_count; i++) {
        const char *key = profile->entries[i].key;
        const struct dg_answer *evidence = dg_profile_evidence(profile, key);
        while (read < view->read_count && strcmp(view->reads[read].key, key) < 0)
            read++;
        bool used = read < view->read_count && strcmp(view->reads[read].key, key) == 0;
        if (used || profile->entries[i].value.kind == DG_VALUE_NULL || strcmp(key, "name") == 0 ||
            (evidence != NULL && evidence->status != DG_ASSERTED))
            continue;
        if (strchr(key, '.') != NULL) {
            cells++;
            continue;
        }
        dg_str_add(out, scalars++ > 0 ? ", " : "typed by hand and of no effect here: ");
        dg_str_add(out, key);
    }
    if (cells > 0)
        dg_str_format(out, "%s%zu cell%s", scalars > 0 ? ", and " :
                      "typed by hand and of no effect here: ", cells, cells == 1 ? "" : "s");
    if (scalars + cells > 0)
        dg_str_addc(out, '\n');
}

/* Whole vectors are computed, whatever part of them is wanted. */
static void add_padding(struct dg_str *out, const struct dg_problem *p, const struct dg_plan *plan)
{
    uint64_t lanes = plan->body.lanes, computed = (p->n + lanes - 1) / lanes * lanes;
    if (computed > 2 * p->n)
        dg_str_format(out, "%-11s %llu of %llu computed columns are padding: a vector has %llu "
                      "lanes, n is %llu; make n larger (several products at once), a plain loop "
                      "may be faster\n", "hint", (ull)(computed - p->n), (ull)computed, (ull)lanes,
                      (ull)p->n);
}

static void as_text(struct dg_str *out, const struct dg_problem *problem,
                    const struct dg_plan_result *plan)
{
    const struct dg_plan *best = &plan->best;
    dg_str_format(out, "%-11s %s: %llu x %llu x %llu %s for %s\n", "plan", problem->name,
                  (ull)problem->m, (ull)problem->n, (ull)problem->k,
                  dg_dtype_names[problem->dtype], best->body.isa->name);
    add_tile(out, best);
    dg_str_format(out, "%-11s ", "blocks");
    add_blocks(out, best);
    dg_str_addc(out, '\n');
    add_prediction(out, best);
    add_padding(out, problem, best);
    add_runner_up(out, plan);
    dg_str_format(out, "%-11s %llu points, %llu of them excluded by their lower bound\n",
                  "lattice", (ull)best->points, (ull)best->pruned);
    dg_str_format(out, "%-11s %llu bytes into L1, %llu into L2, %llu from memory\n", "traffic",
                  (ull)best->l2_bytes, (ull)best->l3_bytes, (ull)best->dram_bytes);
    add_terms(out, best);
    add_reads(out, &plan->view);
    add_unused(out, &plan->view);
}

static void add_plan_json(struct dg_str *out, const struct dg_plan *plan)
{
    dg_str_format(out, "\"tile\": {\"mr\": %u, \"nr\": %u}, ", plan->tile.rows,
                  plan->tile.vectors * plan->body.lanes);
    dg_str_format(out, "\"blocks\": {\"kc\": %llu, \"mc\": %llu, \"nc\": %llu}, ",
                  (ull)plan->kc_elements, (ull)plan->mc, (ull)plan->nc);
    dg_str_format(out, "\"order\": \"%s\", \"prefetch\": %s, \"tail_along_k\": %s, "
                  "\"predicted_cycles\": ", dg_inner_text(plan->inner),
                  plan->prefetch ? "true" : "false", plan->along ? "true" : "false");
    dg_str_double(out, cycles_of(plan->cycles));
}

static void add_terms_json(struct dg_str *out, const struct dg_plan *plan)
{
    dg_str_add(out, "  \"terms\": {");
    for (size_t i = 0; i < plan->term_count; i++) {
        dg_str_format(out, "%s\"%s\": ", i > 0 ? ", " : "", plan->terms[i].id);
        dg_str_double(out, cycles_of(plan->terms[i].cost));
    }
    dg_str_add(out, "},\n");
}

static void add_read_json(struct dg_str *out, const struct dg_read *read)
{
    const struct dg_value *value = read->value;
    dg_str_quoted(out, read->key);
    dg_str_add(out, ": ");
    if (value != NULL && value->kind == DG_VALUE_TEXT) {
        dg_str_quoted(out, value->text);
    } else if (value != NULL && value->kind == DG_VALUE_LIST) {
        dg_str_addc(out, '[');
        for (size_t i = 0; i < value->list_count; i++) {
            dg_str_add(out, i > 0 ? ", " : "");
            dg_str_quoted(out, value->list[i]);
        }
        dg_str_addc(out, ']');
    } else if (value != NULL || (read->assumed && read->used != 0)) {
        dg_str_double(out, read->used);
    } else {
        dg_str_add(out, "null");
    }
}

static void add_reads_json(struct dg_str *out, const char *name, const struct dg_view *view,
                           bool assumed)
{
    bool any = false;
    dg_str_format(out, "  \"%s\": {", name);
    for (size_t i = 0; i < view->read_count; i++) {
        if (view->reads[i].assumed != assumed)
            continue;
        dg_str_add(out, any ? ",\n    " : "\n    ");
        add_read_json(out, &view->reads[i]);
        any = true;
    }
    dg_str_add(out, any ? "\n  }" : "}");
}

static void as_json(struct dg_str *out, const struct dg_problem *problem,
                    const struct dg_plan_result *plan)
{
    const struct dg_plan *best = &plan->best;
    dg_str_add(out, "{\n  \"name\": ");
    dg_str_quoted(out, problem->name);
    dg_str_format(out, ",\n  \"isa\": \"%s\",\n  \"dtype\": \"%s\",\n", best->body.isa->name,
                  dg_dtype_names[problem->dtype]);
    dg_str_format(out, "  \"m\": %llu, \"n\": %llu, \"k\": %llu,\n  ", (ull)problem->m,
                  (ull)problem->n, (ull)problem->k);
    add_plan_json(out, best);
    dg_str_add(out, ",\n  \"port_bound_cycles\": ");
    dg_str_double(out, cycles_of(best->bound));
    dg_str_format(out, ",\n  \"clock_hz\": %llu,\n  \"binding\": ", (ull)best->clock_hz);
    dg_str_quoted(out, best->binding);
    dg_str_add(out, ",\n  \"runner_up\": ");
    if (plan->runner_up.cycles > 0) {
        dg_str_addc(out, '{');
        add_plan_json(out, &plan->runner_up);
        dg_str_add(out, "},\n  \"gap\": ");
        dg_str_double(out, gap_of(plan));
    } else {
        dg_str_add(out, "null,\n  \"gap\": null");
    }
    dg_str_format(out, ",\n  \"points\": %llu, \"pruned\": %llu,\n", (ull)best->points,
                  (ull)best->pruned);
    add_terms_json(out, best);
    add_reads_json(out, "read", &plan->view, false);
    dg_str_add(out, ",\n");
    add_reads_json(out, "assumed", &plan->view, true);
    dg_str_add(out, "\n}\n");
}

bool dg_cli_gen_plan(const struct dg_gen_input *in, bool json, struct dg_error *e)
{
    struct dg_str out;
    dg_str_init(&out, in->plan.view.arena);
    if (json)
        as_json(&out, &in->problem, &in->plan);
    else
        as_text(&out, &in->problem, &in->plan);
    if (out.failed)
        return dg_fail_memory(e, "plan");
    dg_print_plain(stdout, dg_str_text(&out));
    return dg_stdout_done(e);
}
