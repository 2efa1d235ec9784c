/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/change.h"

#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "profile/reading.h"

enum { MOST = 64 };
#define SEPARATORS ", \t"

struct setting { const char *whole, *key, *value; };

static bool refuse(struct dg_error *e, const struct setting *s, const char *rule, const char *todo)
{
    return dg_fail(e, DG_EXIT_USAGE, "--what-if", rule, s->whole, todo);
}

static const char *copied(struct dg_arena *arena, const char *text, size_t length)
{
    char *out = dg_alloc(arena, length + 1);
    if (out != NULL)
        memcpy(out, text, length);
    return out;
}

/* The next KEY=VALUE; false at the end, or without memory (out->whole NULL). */
static bool next_setting(const char **text, struct dg_arena *arena, struct setting *out)
{
    const char *p = *text + strspn(*text, SEPARATORS);
    size_t length = strcspn(p, SEPARATORS), key = strcspn(p, "=" SEPARATORS);
    bool has_value = key < length;
    out->whole = copied(arena, p, length);
    out->key = copied(arena, p, key);
    out->value = copied(arena, p + key + has_value, length - key - has_value);
    *text = p + length;
    return length > 0 && out->whole != NULL && out->key != NULL && out->value != NULL;
}

/* One value, read by the rules of its key from a profile of its own. */
static bool read_value(const struct dg_profile *base, const struct setting *s,
                       struct dg_arena *arena, const struct dg_value **out, struct dg_error *e)
{
    struct dg_profile *one = dg_alloc(arena, sizeof *one);
    struct dg_str text;
    double ignored;
    if (strcmp(s->value, "null") != 0 && !dg_parse_double(s->value, &ignored, NULL))
        return refuse(e, s, "must be KEY=NUMBER or KEY=null",
                      "such as --what-if l2_size=2097152,bw.l2.read.1=48");
    dg_str_init(&text, arena);
    dg_str_add(&text, "{\"name\": \"x\", \"architecture\": ");
    const char *architecture = dg_profile_text(base, "architecture");
    dg_str_quoted(&text, architecture != NULL ? architecture : "portable");
    dg_str_add(&text, ", ");
    dg_str_quoted(&text, s->key);
    dg_str_format(&text, ": %s}", s->value);
    if (one == NULL || text.failed)
        return dg_fail_memory(e, "--what-if");
    if (!dg_profile_read_text(text.text, text.length, "--what-if", arena, one, e)) {
        if (e != NULL)
            e->exit_code = DG_EXIT_USAGE;
        return false;
    }
    *out = dg_profile_find(one, s->key);
    return true;
}

/* `change` in `entries`, which have room for one more. */
static size_t put(struct dg_entry *entries, size_t count, const struct dg_change *change)
{
    size_t i = 0;
    while (i < count && strcmp(entries[i].key, change->key) != 0)
        i++;
    if (change->after != NULL) {
        entries[i] = (struct dg_entry){ change->key, *change->after };
        return i == count ? count + 1 : count;
    }
    if (i == count)
        return count;
    entries[i] = entries[count - 1];
    return count - 1;
}

bool dg_profile_change(const struct dg_profile *base, const char *settings,
                       struct dg_arena *arena, struct dg_profile *out,
                       const struct dg_change **changes, size_t *count, struct dg_error *e)
{
    struct dg_entry *entries = dg_alloc_array(arena, base->entry_count + MOST, sizeof *entries);
    struct dg_change *made = dg_alloc_array(arena, MOST, sizeof *made);
    struct setting s;
    size_t entry_count = base->entry_count;
    if (entries == NULL || made == NULL)
        return dg_fail_memory(e, "--what-if");
    memcpy(entries, base->entries, base->entry_count * sizeof *entries);
    for (*count = 0; next_setting(&settings, arena, &s); (*count)++) {
        if (*count == MOST)
            return refuse(e, &s, "there may be at most 64 changes", "give fewer");
        made[*count] = (struct dg_change){ s.key, dg_profile_find(base, s.key), NULL };
        if (!read_value(base, &s, arena, &made[*count].after, e))
            return false;
        entry_count = put(entries, entry_count, &made[*count]);
    }
    dg_entries_sort(entries, entry_count);
    *out = *base;
    out->entries = entries;
    out->entry_count = entry_count;
    *changes = made;
    return *count > 0 || dg_fail(e, DG_EXIT_USAGE, "--what-if", "must change something", "",
                                 "give KEY=NUMBER, such as l2_size=2097152");
}
