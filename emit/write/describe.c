/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/number.h"
#include "base/sha256.h"
#include "base/str.h"
#include "emit/plan/roofs.h"
#include "emit/write/describe.h"

/* Canonical JSON: the same value gives the same bytes. */
static const char *canonical(const struct dg_value *value, struct dg_arena *arena)
{
    struct dg_str out;
    dg_str_init(&out, arena);
    switch (value != NULL ? value->kind : DG_VALUE_NULL) {
    case DG_VALUE_NULL:
        dg_str_add(&out, "null");
        break;
    case DG_VALUE_NUMBER:
        dg_str_double(&out, value->number);
        break;
    case DG_VALUE_TEXT:
        dg_str_quoted(&out, value->text);
        break;
    case DG_VALUE_LIST:
        dg_str_addc(&out, '[');
        for (size_t i = 0; i < value->list_count; i++) {
            dg_str_add(&out, i > 0 ? "," : "");
            dg_str_quoted(&out, value->list[i]);
        }
        dg_str_addc(&out, ']');
        break;
    }
    return out.failed ? NULL : dg_str_text(&out);
}

static bool describe_profile(const struct dg_view *view, struct dg_arena *arena,
                             struct dg_manifest *out)
{
    struct dg_manifest_key *keys = dg_alloc_array(arena, view->read_count + 1, sizeof *keys);
    char *hex = dg_alloc(arena, DG_SHA256_HEX);
    struct dg_str text;
    if (keys == NULL || hex == NULL)
        return false;
    dg_str_init(&text, arena);
    for (size_t i = 0; i < view->read_count; i++) {
        const struct dg_read *read = &view->reads[i];
        keys[i] = (struct dg_manifest_key){ read->key, canonical(read->value, arena),
                                            read->assumed, read->used };
        if (keys[i].value == NULL)
            return false;
        dg_str_format(&text, "%s %s\n", keys[i].key, keys[i].value);
    }
    if (text.failed)
        return false;
    dg_sha256_hex(text.text, text.length, hex);
    out->profile.hash = hex;
    out->profile.keys = keys;
    out->profile.key_count = view->read_count;
    return true;
}

/* "intel 6 167", as far as it is known. NULL: no memory. */
static const char *chip_text(const struct dg_roofs *roofs, struct dg_arena *arena)
{
    struct dg_str text;
    dg_str_init(&text, arena);
    for (size_t i = 0; i < sizeof roofs->chip / sizeof *roofs->chip; i++)
        if (roofs->chip[i] != NULL)
            dg_str_format(&text, "%s%s", text.length > 0 ? " " : "", roofs->chip[i]);
    return text.failed ? NULL : text.length > 0 ? text.text : "";
}

static void describe_problem(const struct dg_kernel *k, struct dg_manifest *out)
{
    const struct dg_problem *p = k->problem;
    out->problem.m = p->m, out->problem.n = p->n, out->problem.k = p->k;
    out->problem.dtype = dg_dtype_names[p->dtype];
    out->problem.layout_a = dg_layout_text(p->layout_a);
    out->problem.layout_b = dg_layout_text(p->layout_b);
    out->problem.layout_c = dg_layout_text(p->layout_c);
    out->problem.lda = p->lda, out->problem.ldb = p->ldb, out->problem.ldc = p->ldc;
    out->problem.beta = p->beta;
    out->problem.a_bytes = dg_dtypes[p->dtype].a_bytes;
    out->problem.b_bytes = dg_dtypes[p->dtype].b_bytes;
    out->problem.c_bytes = dg_dtypes[p->dtype].c_bytes;
    out->problem.packed_b_size = k->packed_b_size;
    out->problem.packed_b_alignment = k->pack != NULL ? DG_PACKED_ALIGNMENT : 0;
}

static bool describe_plan(const struct dg_plan *plan, struct dg_arena *arena,
                          struct dg_manifest *out)
{
    struct dg_manifest_term *terms = dg_alloc_array(arena, plan->term_count + 1, sizeof *terms);
    if (terms == NULL)
        return false;
    out->plan.mr = plan->tile.rows;
    out->plan.nr = plan->tile.vectors * plan->body.lanes;
    out->plan.vectors = plan->tile.vectors;
    out->plan.kc = plan->kc_elements, out->plan.mc = plan->mc, out->plan.nc = plan->nc;
    out->plan.inner = plan->inner == DG_PANELS_OUTER ? "panels_outer" : "tiles_outer";
    out->plan.prefetch = plan->prefetch;
    out->plan.along = plan->along;
    out->plan.unroll = plan->unroll;
    out->plan.binding = plan->binding != NULL ? plan->binding : "";
    for (size_t i = 0; i < plan->term_count; i++)
        terms[i] = (struct dg_manifest_term){ plan->terms[i].id, plan->terms[i].title,
                                              (double)plan->terms[i].cost / DG_COST_ONE };
    out->predicted.cycles = (double)plan->cycles / DG_COST_ONE;
    out->predicted.bound = (double)plan->bound / DG_COST_ONE;
    out->predicted.terms = terms;
    out->predicted.term_count = plan->term_count;
    out->traffic.l2_bytes = plan->l2_bytes;
    out->traffic.l3_bytes = plan->l3_bytes;
    out->traffic.dram_bytes = plan->dram_bytes;
    return true;
}

/* What the verifier compares with; before the profile, whose keys it adds to. */
static bool describe_roofs(const struct dg_plan *plan, struct dg_view *view,
                           struct dg_arena *arena, struct dg_manifest *out)
{
    struct dg_roofs roofs;
    char *op = dg_alloc(arena, 64);
    if (op == NULL)
        return false;
    const struct dg_op *chain = plan->body.chain;
    dg_format(op, 64, "%s.%s.%u", chain->name, chain->dtype, chain->bits);
    dg_plan_roofs(plan, view, &roofs);
    out->profile.name = roofs.profile != NULL ? roofs.profile : "";
    out->profile.chip = chip_text(&roofs, arena);
    out->roofs.peak = (double)plan->peak / DG_COST_ONE;
    out->roofs.peak_op = op;
    out->roofs.lanes = plan->body.lanes * plan->body.group;
    out->roofs.clock_hz = (double)plan->clock_hz;
    out->roofs.l1 = dg_round_digits(roofs.l1, 6);
    out->roofs.l2 = dg_round_digits(roofs.l2, 6);
    out->roofs.l3 = dg_round_digits(roofs.l3, 6);
    out->roofs.dram = dg_round_digits(roofs.dram, 6);
    return out->profile.chip != NULL;
}

bool dg_describe(const struct dg_kernel *kernel, struct dg_view *view,
                 struct dg_arena *arena, struct dg_manifest *out)
{
    const struct dg_isa *isa = kernel->plan->body.isa;
    const struct dg_problem *p = kernel->problem;
    *out = (struct dg_manifest){
        .tool_version = kernel->tool_version, .name = p->name, .isa = isa->name,
        .architecture = isa->architecture, .features = kernel->plan->body.features,
    };
    describe_problem(kernel, out);
    if (!describe_plan(kernel->plan, arena, out))
        return false;
    out->traffic.operations = 2 * p->m * p->n * p->k;
    return describe_roofs(kernel->plan, view, arena, out) &&
           describe_profile(view, arena, out);
}
