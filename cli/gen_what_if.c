/* SPDX-License-Identifier: Apache-2.0
 *
 * deepgemm-gen plan --what-if: the plan for the chip beside the plan for a changed one. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/report.h"
#include "base/str.h"
#include "cli/gen_plan.h"
#include "profile/change.h"

typedef unsigned long long ull;

static double cycles_of(dg_cost cost)
{
    return (double)cost / DG_COST_ONE;
}

static void add_value(struct dg_str *out, const struct dg_value *value)
{
    if (value == NULL)
        dg_str_add(out, "none");
    else if (value->kind == DG_VALUE_NUMBER)
        dg_str_double(out, value->number);
    else if (value->kind == DG_VALUE_TEXT)
        dg_str_add(out, value->text);
    else
        dg_str_format(out, "list of %zu", value->list_count);
}

/* Whether the plan depends on a key at all: a changed one that nobody reads changes nothing. */
static bool is_read(const struct dg_view *view, const char *key)
{
    for (size_t i = 0; i < view->read_count; i++)
        if (strcmp(view->reads[i].key, key) == 0)
            return true;
    return false;
}

static void add_changes(struct dg_str *out, const struct dg_change *changes, size_t count,
                        const struct dg_plan_result *plan)
{
    for (size_t i = 0; i < count; i++) {
        dg_str_format(out, "%-11s %s = ", i == 0 ? "what if" : "", changes[i].key);
        add_value(out, changes[i].after);
        dg_str_add(out, ", was ");
        add_value(out, changes[i].before);
        dg_str_add(out, is_read(&plan->view, changes[i].key)
                            ? "\n" : " (no plan reads it: another key stands in for it)\n");
    }
}

static void add_plan(struct dg_str *out, const char *label, const struct dg_plan *plan)
{
    dg_str_format(out, "%-11s tile %u x %u, kc %llu x %llu, mc %llu x %llu, nc %llu x %llu, %s%s; "
                  "bound by %s\n", label, plan->tile.rows, plan->tile.vectors * plan->body.lanes,
                  (ull)plan->kc_elements, (ull)plan->k_blocks, (ull)plan->mc, (ull)plan->m_blocks,
                  (ull)plan->nc, (ull)plan->n_blocks,
                  dg_inner_text(plan->inner),
                  plan->prefetch ? ", prefetch" : "", plan->binding);
}

static void add_row(struct dg_str *out, const char *id, dg_cost a, dg_cost b, dg_cost whole)
{
    struct dg_str left, right;
    dg_str_init(&left, out->arena);
    dg_str_init(&right, out->arena);
    dg_str_fixed(&left, cycles_of(a), 1);
    dg_str_fixed(&right, cycles_of(b), 1);
    dg_str_format(out, "  %-9s %16s %16s  ", id, dg_str_text(&left), dg_str_text(&right));
    dg_str_fixed(out, whole > 0 ? 100 * (double)(b - a) / (double)whole : 0, 2);
    dg_str_add(out, "%\n");
}

static void as_text(struct dg_str *out, const struct dg_change *changes, size_t count,
                    const struct dg_plan_result *a, const struct dg_plan_result *b)
{
    add_changes(out, changes, count, b);
    add_plan(out, "the chip", &a->best);
    add_plan(out, "changed", &b->best);
    dg_str_format(out, "  %-9s %16s %16s  %s\n", "cycles", "the chip", "changed",
                  "difference, of the chip's whole");
    for (size_t i = 0; i < a->best.term_count; i++)
        if (a->best.terms[i].cost != 0 || b->best.terms[i].cost != 0)
            add_row(out, a->best.terms[i].id, a->best.terms[i].cost, b->best.terms[i].cost,
                    a->best.cycles);
    add_row(out, "all", a->best.cycles, b->best.cycles, a->best.cycles);
}

static void add_plan_json(struct dg_str *out, const char *name, const struct dg_plan *plan)
{
    dg_str_format(out, "  \"%s\": {\"tile\": {\"mr\": %u, \"nr\": %u}, \"blocks\": {\"kc\": %llu, "
                  "\"mc\": %llu, \"nc\": %llu}, \"binding\": ", name, plan->tile.rows,
                  plan->tile.vectors * plan->body.lanes, (ull)plan->kc_elements, (ull)plan->mc,
                  (ull)plan->nc);
    dg_str_quoted(out, plan->binding);
    dg_str_add(out, ", \"terms\": {");
    for (size_t i = 0; i < plan->term_count; i++) {
        dg_str_format(out, "%s\"%s\": ", i > 0 ? ", " : "", plan->terms[i].id);
        dg_str_double(out, cycles_of(plan->terms[i].cost));
    }
    dg_str_add(out, "}, \"predicted_cycles\": ");
    dg_str_double(out, cycles_of(plan->cycles));
    dg_str_add(out, "}");
}

static void as_json(struct dg_str *out, const struct dg_change *changes, size_t count,
                    const struct dg_plan_result *a, const struct dg_plan_result *b)
{
    dg_str_add(out, "{\n  \"changes\": {");
    for (size_t i = 0; i < count; i++) {
        dg_str_add(out, i > 0 ? ", " : "");
        dg_str_quoted(out, changes[i].key);
        dg_str_add(out, ": ");
        if (changes[i].after != NULL)
            dg_str_double(out, changes[i].after->number);
        else
            dg_str_add(out, "null");
    }
    dg_str_add(out, "},\n");
    add_plan_json(out, "chip", &a->best);
    dg_str_add(out, ",\n");
    add_plan_json(out, "changed", &b->best);
    dg_str_add(out, "\n}\n");
}

static bool compare(const struct dg_gen_input *in, const char *settings, bool json,
                    struct dg_arena *arena, struct dg_error *e)
{
    struct dg_profile changed;
    struct dg_plan_result other;
    const struct dg_change *changes;
    size_t count;
    struct dg_str out;
    if (!dg_profile_change(&in->profile, settings, arena, &changed, &changes, &count, e) ||
        !dg_plan_make(&in->problem, &changed, in->strict, arena, &other, e))
        return false;
    dg_str_init(&out, arena);
    if (json)
        as_json(&out, changes, count, &in->plan, &other);
    else
        as_text(&out, changes, count, &in->plan, &other);
    if (out.failed)
        return dg_fail_memory(e, "plan");
    dg_print_plain(stdout, dg_str_text(&out));
    return dg_stdout_done(e);
}

bool dg_cli_gen_what_if(const struct dg_gen_input *in, const char *settings, bool json,
                        struct dg_error *e)
{
    struct dg_arena arena;
    dg_arena_init(&arena);
    bool good = compare(in, settings, json, &arena, e);
    dg_arena_free(&arena);
    return good;
}
