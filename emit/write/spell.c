/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations by the text templates of the ISA's rows. */
#include <assert.h>
#include <string.h>

#include "emit/write/target.h"

const struct dg_target *dg_target_for(const struct dg_isa *isa)
{
    static const struct dg_target *const targets[] = { &dg_target_x86_64, &dg_target_aarch64 };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i]->architecture, isa->architecture) == 0)
            return targets[i];
    return NULL;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* {1}, {x1}, {1+8}: returns what is behind it, NULL when it is none of these. */
static const char *operand_at(const char *at, char *view, unsigned *index, int64_t *add)
{
    *view = 0;
    *add = 0;
    at++;
    if (*at >= 'a' && *at <= 'z')
        *view = *at++;
    if (!digit(*at))
        return NULL;
    *index = (unsigned)(*at++ - '0');
    if (*at == '+')
        for (at++; digit(*at); at++)
            *add = *add * 10 + (*at - '0');
    return *at == '}' ? at + 1 : NULL;
}

static void spell_operand(struct dg_str *out, const struct dg_target *target,
                          const struct dg_function *f, const struct dg_ir_op *op, unsigned index,
                          char view, int64_t add)
{
    const struct dg_ir_operand *o = &op->operand[index];
    assert(o->kind != DG_IR_NONE);       /* else one of the template is missing */
    if (o->kind == DG_IR_LABEL)
        dg_str_format(out, "%s_%u", f->label, o->index);
    else
        target->operand(out, op, index, view, add);
}

void dg_spell(struct dg_str *out, const struct dg_target *target, const struct dg_function *f,
              const struct dg_ir_op *op)
{
    char view;
    unsigned index;
    int64_t add;
    dg_str_addc(out, '\t');
    for (const char *at = op->op->text; *at != '\0';) {
        const char *next = *at == '{' ? operand_at(at, &view, &index, &add) : NULL;
        if (next != NULL && index < 4) {
            spell_operand(out, target, f, op, index, view, add);
            at = next;
        } else if (strncmp(at, "{k}", 3) == 0 || strncmp(at, "{K}", 3) == 0) {
            target->mask(out, dg_ir_mask(f->code, op->part), at[1] == 'k');
            at += 3;
        } else {
            dg_str_addc(out, *at++);
        }
    }
    dg_str_addc(out, '\n');
}
