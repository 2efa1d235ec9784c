/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/claims/claims.h"

#include <string.h>

void dg_claims_add(struct dg_claims *c, const char *key, const struct dg_claim *claim)
{
    if (c->count == c->capacity) {
        size_t more = c->capacity == 0 ? 64 : 2 * c->capacity;
        struct dg_claim_row *fresh = dg_alloc_array(c->arena, more, sizeof *fresh);
        if (fresh == NULL)
            return;                              /* claims are never required */
        if (c->count > 0)
            memcpy(fresh, c->row, c->count * sizeof *fresh);
        c->row = fresh;
        c->capacity = more;
    }
    c->row[c->count++] = (struct dg_claim_row){ dg_strdup(c->arena, key), *claim };
}

void dg_claims_add_number(struct dg_claims *c, const char *key, const char *source, double value)
{
    dg_claims_add(c, key, &(struct dg_claim){
        source, { .kind = DG_VALUE_NUMBER, .number = value } });
}

void dg_claims_add_text(struct dg_claims *c, const char *key, const char *source, const char *text)
{
    dg_claims_add(c, key, &(struct dg_claim){
        source, { .kind = DG_VALUE_TEXT, .text = dg_strdup(c->arena, text) } });
}

static size_t support(const struct dg_claims *c, const char *key, double value)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += strcmp(c->row[i].key, key) == 0 && c->row[i].claim.value.number == value;
    return count;
}

double dg_claims_number(const struct dg_claims *c, const char *key, double otherwise)
{
    size_t best = 0;
    for (size_t i = 0; c != NULL && i < c->count; i++) {
        double value = c->row[i].claim.value.number;
        if (strcmp(c->row[i].key, key) != 0 || c->row[i].claim.value.kind != DG_VALUE_NUMBER)
            continue;
        size_t said = support(c, key, value);
        if (said > best || (said == best && value < otherwise)) {
            best = said;
            otherwise = value;
        }
    }
    return otherwise;
}

const struct dg_claim *dg_claims_of(const struct dg_claims *c, const char *key, size_t *count)
{
    *count = 0;
    if (c == NULL || c->count == 0)
        return NULL;
    struct dg_claim *out = dg_alloc_array(c->arena, c->count, sizeof *out);
    for (size_t i = 0; out != NULL && i < c->count; i++)
        if (strcmp(c->row[i].key, key) == 0)
            out[(*count)++] = c->row[i].claim;
    return *count > 0 ? out : NULL;
}
