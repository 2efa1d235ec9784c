/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/fields.h"
#include "profile/profile.h"

const struct dg_value *dg_profile_find(const struct dg_profile *profile, const char *key)
{
    size_t low = 0, high = profile->entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = dg_key_compare(profile->entries[middle].key, key);
        if (order == 0) {
            const struct dg_value *value = &profile->entries[middle].value;
            return value->kind == DG_VALUE_NULL ? NULL : value;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct dg_answer *dg_profile_evidence(const struct dg_profile *profile, const char *key)
{
    size_t low = 0, high = profile->measurement_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = dg_key_compare(profile->measurements[middle].key, key);
        if (order == 0)
            return &profile->measurements[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

double dg_profile_number(const struct dg_profile *profile, const char *key, double otherwise)
{
    const struct dg_value *value = dg_profile_find(profile, key);
    return value != NULL && value->kind == DG_VALUE_NUMBER ? value->number : otherwise;
}

const char *dg_profile_text(const struct dg_profile *profile, const char *key)
{
    const struct dg_value *value = dg_profile_find(profile, key);
    return value != NULL && value->kind == DG_VALUE_TEXT ? value->text : NULL;
}

const struct dg_value *dg_profile_fact(const struct dg_profile *profile, const char *key)
{
    for (size_t i = 0; i < profile->environment_count; i++)
        if (dg_key_compare(profile->environment[i].key, key) == 0)
            return profile->environment[i].value.kind != DG_VALUE_NULL ?
                   &profile->environment[i].value : NULL;
    return NULL;
}
