/* SPDX-License-Identifier: Apache-2.0 */
#include "microbench/bodies.h"

#include <string.h>

#define BODY(name, element, narrow, moved, load, broadcast, multiply, folded, products, add, \
             unless) \
    {#name, element, narrow, #moved, load, broadcast, multiply, folded, products, add, unless},
const struct dg_mix_body dg_mix_bodies[] = {
#include "microbench/bodies.def"
};
#undef BODY
const size_t dg_mix_body_count = sizeof dg_mix_bodies / sizeof *dg_mix_bodies;

const struct dg_mix_body *dg_mix_body_named(const char *name)
{
    for (size_t i = 0; i < dg_mix_body_count; i++)
        if (strcmp(dg_mix_bodies[i].name, name) == 0)
            return &dg_mix_bodies[i];
    return NULL;
}

/* "fma.f32", or a name and its dtype apart, at the width of the target. */
static const struct dg_op *op_named(const struct dg_isa *isa, const char *name, const char *dtype)
{
    char text[32];
    const char *dot = strchr(name, '.');
    size_t length = dot != NULL ? (size_t)(dot - name) : strlen(name);
    if (length >= sizeof text)
        return NULL;
    memcpy(text, name, length);
    text[length] = '\0';
    return dg_isa_op_named(isa, text, dot != NULL ? dot + 1 : dtype, isa->vector_bits);
}

static bool fill(const struct dg_isa *isa, const struct dg_mix_body *b, struct dg_mix_form *out)
{
    const char *const names[DG_MIX_PARTS] = {
        [DG_MIX_LOAD] = b->load, [DG_MIX_BROADCAST] = b->broadcast,
        [DG_MIX_MULTIPLY] = b->multiply, [DG_MIX_FOLDED] = b->folded, [DG_MIX_ADD] = b->add,
        [DG_MIX_STORE] = "store", [DG_MIX_ZERO] = "zero",
        [DG_MIX_RELOAD] = "load",
    };
    *out = (struct dg_mix_form){.body = b, .isa = isa};
    for (int part = 0; part < DG_MIX_PARTS; part++) {
        if (names[part] != NULL)
            out->op[part] = op_named(isa, names[part], b->moved);
        if (out->op[part] == NULL && part != DG_MIX_FOLDED)
            return false;
    }
    /* of the same name, elsewhere, there may be one that accumulates, half a vector at a time */
    out->accumulates = out->op[DG_MIX_MULTIPLY]->operands[0] == 'a';
    return out->accumulates != b->products;
}

bool dg_mix_form_of(const struct dg_isa *isa, const char *name, struct dg_mix_form *out)
{
    for (size_t i = 0; i < dg_mix_body_count; i++)
        if (strcmp(dg_mix_bodies[i].name, name) == 0 && fill(isa, &dg_mix_bodies[i], out))
            return true;
    return false;
}

unsigned dg_mix_registers(const struct dg_mix_form *form, unsigned vectors, unsigned rows)
{
    unsigned held = vectors <= rows ? vectors : rows;
    return vectors * rows + held + 1 + !form->accumulates;
}

bool dg_mix_form_usable(const struct dg_mix_form *form, const char *const *features, size_t count)
{
    for (int part = 0; part < DG_MIX_PARTS; part++)
        if (form->op[part] != NULL && !dg_features_have(features, count, form->op[part]->feature))
            return false;
    return dg_features_have(features, count, form->isa->features);
}
