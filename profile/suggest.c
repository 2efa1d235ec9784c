/* SPDX-License-Identifier: Apache-2.0
 *
 * "Did you mean": the nearest valid key to one that is not. */
#include <string.h>

#include "base/names.h"
#include "profile/reading.h"

enum { KEY_SIZE = 128, WORDS = 12 };

static size_t segment_length(const char *text)
{
    return strcspn(text, ".");
}

/* One segment of a pattern as it would be written: the key's own where that fits, the nearest
 * alternative, or the pattern's letters. */
static void complete_segment(const char *pattern, size_t length, const char *key, size_t key_length,
                             char *out)
{
    char copy[KEY_SIZE], own[KEY_SIZE];
    const char *words[WORDS];
    size_t count = 0;
    memcpy(copy, pattern, length);
    copy[length] = '\0';
    memcpy(own, key, key_length);
    own[key_length] = '\0';
    if (dg_key_matches(copy, own)) {
        strcpy(out, own);
        return;
    }
    for (char *at = copy; at != NULL && count < WORDS; count++) {
        words[count] = at;
        at = strchr(at, '|');
        if (at != NULL)
            *at++ = '\0';
    }
    const char *near = dg_name_nearest(own, words, count);
    strcpy(out, near != NULL ? near : words[0]);
}

/* The pattern with its holes filled from the key; false when they differ in their segments. */
static bool complete(const char *pattern, const char *key, char out[KEY_SIZE])
{
    out[0] = '\0';
    if (strlen(key) >= KEY_SIZE / 2)
        return false;
    for (;;) {
        size_t p = segment_length(pattern), k = segment_length(key), n = strlen(out);
        char segment[KEY_SIZE];
        complete_segment(pattern, p, key, k, segment);
        if (n + strlen(segment) + 2 > KEY_SIZE)
            return false;
        strcat(out, segment);
        if (pattern[p] == '\0' || key[k] == '\0')
            return pattern[p] == '\0' && key[k] == '\0';
        strcat(out, ".");
        pattern += p + 1;
        key += k + 1;
    }
}

static const char *nearest_cell(const char *key, char out[KEY_SIZE])
{
    unsigned best = 0;
    bool found = false;
    for (size_t i = 0; i < dg_family_count; i++) {
        char candidate[KEY_SIZE];
        if (!complete(dg_families[i].key, key, candidate))
            continue;
        unsigned distance = dg_name_distance(key, candidate);
        if (distance <= strlen(key) / 2 && (!found || distance < best)) {
            best = distance;
            found = true;
            strcpy(out, candidate);
        }
    }
    return found ? out : NULL;
}

bool dg_suggest_key(const char *key, const char *const *more, size_t more_count, char *out,
                    size_t size)
{
    const char *known[DG_FIELD_COUNT + 16];
    char cell[KEY_SIZE];
    size_t count = 0;
    for (; count < more_count && count < 16; count++)
        known[count] = more[count];
    for (size_t i = 0; i < DG_FIELD_COUNT; i++)
        known[count++] = dg_fields[i].key;
    const char *near = strchr(key, '.') != NULL ? nearest_cell(key, cell) :
                       dg_name_nearest(key, known, count);
    if (near == NULL)
        return false;
    dg_format(out, size, "%s", near);
    return true;
}
