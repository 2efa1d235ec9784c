/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/compare.h"

#include <math.h>

#include "profile/reading.h"
#include "profile/render.h"

static const struct dg_value *known(const struct dg_value *value)
{
    return value->kind == DG_VALUE_NULL ? NULL : value;
}

static struct dg_difference difference_of(const char *key, const struct dg_value *a,
                                          const struct dg_value *b)
{
    const struct dg_field *field = dg_field_of(key);
    struct dg_difference d = { .key = key, .a = known(a), .b = known(b) };
    d.discrete = field == NULL || field->discrete;    /* name and architecture are */
    d.conflict = d.discrete && d.a != NULL && d.b != NULL;
    if (!d.discrete && d.a != NULL && d.b != NULL && d.a->kind == DG_VALUE_NUMBER &&
        d.b->kind == DG_VALUE_NUMBER)
        d.relative = fabs(d.a->number - d.b->number) / fmax(fabs(d.a->number), fabs(d.b->number));
    return d;
}

bool dg_profile_compare(const struct dg_profile *a, const struct dg_profile *b,
                        struct dg_arena *arena, struct dg_difference **out, size_t *count)
{
    static const struct dg_value null = { .kind = DG_VALUE_NULL };
    size_t i = 0, j = 0, n = 0;
    struct dg_difference *list = dg_alloc_array(arena, a->entry_count + b->entry_count + 1,
                                                sizeof *list);
    if (list == NULL)
        return false;
    while (i < a->entry_count || j < b->entry_count) {
        int order = i == a->entry_count ? 1 : j == b->entry_count ? -1 :
                    dg_key_compare(a->entries[i].key, b->entries[j].key);
        const char *key = order <= 0 ? a->entries[i].key : b->entries[j].key;
        const struct dg_value *x = order <= 0 ? &a->entries[i++].value : &null;
        const struct dg_value *y = order >= 0 ? &b->entries[j++].value : &null;
        if (!dg_value_equal(x, y))
            list[n++] = difference_of(key, x, y);
    }
    *out = list;
    *count = n;
    return true;
}

void dg_compare_print(const struct dg_difference *differences, size_t count, double tolerance,
                      struct dg_str *out)
{
    static const struct dg_value null = { .kind = DG_VALUE_NULL };
    for (size_t i = 0; i < count; i++) {
        const struct dg_difference *d = &differences[i];
        bool both = d->a != NULL && d->b != NULL;
        if (!d->discrete && both && d->relative <= tolerance)
            continue;
        dg_str_format(out, "%-34s ", d->key);
        dg_render_value(out, d->a != NULL ? d->a : &null);
        dg_str_add(out, " -> ");
        dg_render_value(out, d->b != NULL ? d->b : &null);
        if (d->conflict) {
            dg_str_add(out, "  must be equal on one chip");
        } else if (both && d->relative > 0) {
            dg_str_add(out, "  ");
            dg_str_fixed(out, 100 * d->relative, 1);
            dg_str_add(out, " %");
        }
        dg_str_addc(out, '\n');
    }
}
