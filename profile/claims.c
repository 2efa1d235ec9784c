/* SPDX-License-Identifier: Apache-2.0
 *
 * What the machine claims against what was measured. */
#include <math.h>
#include <string.h>

#include "profile/reading.h"
#include "profile/writer.h"

/* How far a claim may lie from a value that is not discrete: a bandwidth or latency of a data
 * sheet within a tenth; the share of a cache that one core can keep within a factor of two. */
static double tolerance(const char *key)
{
    return strstr(key, "effective_size") != NULL ? 1.0 : 0.1;
}

static bool numbers_agree(const struct dg_answer *answer, const struct dg_field *field,
                          double claim)
{
    double value = answer->value.number;
    if (claim == value || (claim >= answer->low && claim <= answer->high))
        return true;
    return !field->discrete && fabs(claim - value) <= tolerance(answer->key) * fabs(value);
}

enum dg_agreement dg_claim_agrees(const struct dg_answer *answer, const struct dg_claim *claim)
{
    const struct dg_field *field = dg_field_of(answer->key);
    if (field == NULL || answer->value.kind == DG_VALUE_NULL ||
        claim->value.kind == DG_VALUE_NULL || claim->value.kind != answer->value.kind)
        return DG_NOT_COMPARED;
    bool same = answer->value.kind == DG_VALUE_NUMBER ?
        numbers_agree(answer, field, claim->value.number) :
        dg_value_equal(&answer->value, &claim->value);
    return same ? DG_AGREES : DG_CONTRADICTED;
}

enum dg_agreement dg_answer_agrees(const struct dg_answer *answer)
{
    enum dg_agreement all = DG_NOT_COMPARED;
    for (size_t i = 0; i < answer->claim_count; i++) {
        enum dg_agreement one = dg_claim_agrees(answer, &answer->claims[i]);
        if (one == DG_CONTRADICTED)
            return one;
        if (one == DG_AGREES)
            all = one;
    }
    return all;
}
