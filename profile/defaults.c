/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/fields.h"

const struct dg_default dg_defaults[] = {
#define DEFAULT(key, architecture, value, source) { key, architecture, value, NULL, source },
#define DEFAULT_LIST(key, architecture, source, ...) \
    { key, architecture, 0, (const char *const[]){ __VA_ARGS__, NULL }, source },
#include "profile/defaults.def"
#undef DEFAULT
#undef DEFAULT_LIST
};
const size_t dg_default_count = sizeof dg_defaults / sizeof *dg_defaults;

/* `*` in the pattern takes one whole segment of the key. */
static bool fits(const char *pattern, const char *key)
{
    while (*pattern != '\0') {
        if (*pattern == '*') {
            while (*key != '\0' && *key != '.')
                key++;
            pattern++;
        } else if (*pattern++ != *key++) {
            return false;
        }
    }
    return *key == '\0';
}

const struct dg_default *dg_default_of(const char *key, const char *architecture)
{
    for (size_t i = 0; i < dg_default_count; i++) {
        const struct dg_default *row = &dg_defaults[i];
        bool here = row->architecture[0] == '*' ||
                    (architecture != NULL &&
                     dg_key_compare(row->architecture, architecture) == 0);
        if (here && fits(row->key, key))
            return row;
    }
    return NULL;
}
