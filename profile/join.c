/* SPDX-License-Identifier: Apache-2.0
 *
 * Flat values against their evidence. A person edits the flat value, so it wins: the old evidence
 * is no longer about it, and the value is reported as asserted. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "profile/reading.h"

static bool is_identity(const char *key)
{
    return strcmp(key, "name") == 0 || strcmp(key, "architecture") == 0;
}

static void describe(const struct dg_value *value, char *out, size_t size)
{
    char number[DG_NUMBER_SIZE];
    switch (value->kind) {
    case DG_VALUE_NUMBER:
        dg_write_double(number, value->number);
        dg_format(out, size, "%s", number);
        break;
    case DG_VALUE_TEXT: dg_format(out, size, "\"%s\"", value->text); break;
    case DG_VALUE_LIST: dg_format(out, size, "a list of %zu", value->list_count); break;
    default: dg_format(out, size, "null"); break;
    }
}

/* True when the evidence is about this flat value. */
static bool supports(const struct dg_field *field, const struct dg_answer *answer,
                     const struct dg_value *flat)
{
    struct dg_value rounded = dg_flat_value(field, answer);
    if (dg_value_equal(&rounded, flat))
        return true;
    /* evidence is written with six figures, so that rounding it again may end elsewhere */
    double near = 0.002 * fabs(answer->value.number);
    return flat->kind == DG_VALUE_NUMBER && answer->value.kind == DG_VALUE_NUMBER &&
           field->type == DG_TYPE_NUMBER && answer->low < answer->high &&
           flat->number >= answer->low - near && flat->number <= answer->high + near;
}

static struct dg_answer assert_value(const char *key, const struct dg_field *field,
                                     const struct dg_value *flat)
{
    return (struct dg_answer){ .key = key, .unit = field->unit, .value = *flat,
                               .low = flat->number, .high = flat->number,
                               .status = DG_ASSERTED, .method = "typed by hand" };
}

/* The evidence of a flat value as it stands now: kept, or replaced with a warning. */
static bool settle(struct dg_profile *profile, struct dg_arena *arena,
                   const struct dg_entry *entry, struct dg_answer *answer)
{
    const struct dg_field *field = dg_field_of(entry->key);
    char text[320], now[96], before[96];
    if (supports(field, answer, &entry->value))
        return true;
    describe(&entry->value, now, sizeof now);
    describe(&answer->value, before, sizeof before);
    if (entry->value.kind != DG_VALUE_NULL) {
        dg_format(text, sizeof text, "%s: %s was typed by hand and is used; its old evidence (%s, "
                  "%s) is not about it", entry->key, now, before,
                  dg_status_names[answer->status]);
        struct dg_answer made = assert_value(entry->key, field, &entry->value);
        made.claims = answer->claims;
        made.claim_count = answer->claim_count;
        *answer = made;
    } else {
        dg_format(text, sizeof text, "%s: set to null by hand; its old evidence (%s, %s) is not "
                  "used", entry->key, before, dg_status_names[answer->status]);
        *answer = (struct dg_answer){ .key = entry->key, .unit = field->unit,
                                      .status = DG_UNAVAILABLE, .reason = "set to null by hand",
                                      .help = "probe again, or type a value" };
    }
    return dg_warn(profile, arena, text);
}

/* Evidence whose flat value is gone. */
static bool orphan(struct dg_profile *profile, struct dg_arena *arena, struct dg_answer *answer)
{
    const struct dg_entry gone = { answer->key, { .kind = DG_VALUE_NULL } };
    return answer->value.kind == DG_VALUE_NULL || settle(profile, arena, &gone, answer);
}

bool dg_evidence_join(struct dg_profile *profile, const struct dg_answer *answers, size_t count,
                      struct dg_arena *arena)
{
    struct dg_answer *out = dg_alloc_array(arena, count + profile->entry_count + 1, sizeof *out);
    size_t n = 0, i = 0, j = 0;
    if (out == NULL)
        return false;
    while (i < profile->entry_count || j < count) {
        const struct dg_entry *entry = &profile->entries[i];
        int order = i == profile->entry_count ? 1 : j == count ? -1 :
                    dg_key_compare(entry->key, answers[j].key);
        bool ok = true;
        if (order > 0) {
            out[n] = answers[j++];
            ok = orphan(profile, arena, &out[n++]);
        } else if (order == 0) {
            out[n] = answers[j++];
            ok = settle(profile, arena, &profile->entries[i++], &out[n++]);
        } else {
            i++;
            if (!is_identity(entry->key) && entry->value.kind != DG_VALUE_NULL)
                out[n++] = assert_value(entry->key, dg_field_of(entry->key), &entry->value);
        }
        if (!ok)
            return false;
    }
    profile->measurements = out;
    profile->measurement_count = n;
    return true;
}
