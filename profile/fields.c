/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/fields.h"

#define DISCRETE true
#define CONTINUOUS false

const struct dg_field dg_fields[DG_FIELD_COUNT] = {
#define FIELD(key, type, unit, discrete, min, max, title) \
    { #key, DG_TYPE_##type, unit, discrete, min, max, title },
#include "profile/fields.def"
#undef FIELD
};

const struct dg_field dg_families[] = {
#define FAMILY(pattern, type, unit, discrete, min, max, title) \
    { pattern, DG_TYPE_##type, unit, discrete, min, max, title },
#include "profile/families.def"
#undef FAMILY
};
const size_t dg_family_count = sizeof dg_families / sizeof *dg_families;

int dg_key_compare(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Each skips what a hole of that kind takes; returns `at` unmoved when it does not fit. */
static const char *skip_word(const char *at, bool underscores)
{
    const char *start = at;
    while (is_lower(*at) || (at != start && (is_digit(*at) || (underscores && *at == '_'))))
        at++;
    return at;
}

static const char *skip_integer(const char *at)
{
    const char *start = at;
    while (is_digit(*at))
        at++;
    return at - start > 10 || (*start == '0' && at - start > 1) ? start : at;
}

static const char *skip_page(const char *at)
{
    const char *end = skip_integer(at);
    return end != at && *at != '0' && (*end == 'k' || *end == 'm' || *end == 'g') ? end + 1 : at;
}

static bool starts(const char *text, const char *with)
{
    while (*with != '\0' && *text == *with) {
        text++;
        with++;
    }
    return *with == '\0';
}

/* A hole at *pattern takes what it can of *key. */
static bool match_hole(const char **pattern, const char **key)
{
    const char *end = *key;
    if (starts(*pattern, "<name>"))
        end = skip_word(*key, true);
    else if (starts(*pattern, "<dtype>"))
        end = skip_word(*key, false);
    else if (starts(*pattern, "<page>"))
        end = skip_page(*key);
    else if (starts(*pattern, "<n>"))
        end = skip_integer(*key);
    if (end == *key)
        return false;
    *key = end;
    while (**pattern != '>')
        (*pattern)++;
    (*pattern)++;
    return true;
}

/* One alternative of a segment, up to | or . or the end; both are moved past what fitted. */
static bool match_alternative(const char **pattern, const char **key)
{
    const char *p = *pattern, *k = *key;
    while (*p != '\0' && *p != '.' && *p != '|') {
        if (*p == '<') {
            if (!match_hole(&p, &k))
                return false;
        } else if (*p++ != *k++) {
            return false;
        }
    }
    if (*k != '\0' && *k != '.')
        return false;
    *pattern = p;
    *key = k;
    return true;
}

static bool match_segment(const char **pattern, const char **key)
{
    bool found = false;
    for (;;) {
        found = found || match_alternative(pattern, key);
        while (**pattern != '\0' && **pattern != '.' && **pattern != '|')
            (*pattern)++;
        if (**pattern != '|')
            return found;
        (*pattern)++;
        if (found) {
            while (**pattern != '\0' && **pattern != '.')
                (*pattern)++;
            return true;
        }
    }
}

bool dg_key_matches(const char *pattern, const char *key)
{
    while (match_segment(&pattern, &key)) {
        if (*pattern == '\0' || *key == '\0')
            return *pattern == '\0' && *key == '\0';
        pattern++;
        key++;
    }
    return false;
}

const struct dg_field *dg_field_of(const char *key)
{
    for (size_t i = 0; i < DG_FIELD_COUNT; i++) {
        if (dg_key_compare(dg_fields[i].key, key) == 0)
            return &dg_fields[i];
    }
    for (size_t i = 0; i < dg_family_count; i++) {
        if (dg_key_matches(dg_families[i].key, key))
            return &dg_families[i];
    }
    return NULL;
}
