/* SPDX-License-Identifier: Apache-2.0
 *
 * The check is one walk over the text by RFC 8259. It runs a second time to find the line of a
 * pointer, when there is an error to report. */
#include "profile/json.h"

#include <limits.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

struct key {
    const char *at;
    size_t length;
    unsigned line;
};

struct scan {
    const struct dg_json *json;
    const char *at, *end;
    unsigned line, depth;
    char path[DG_POINTER_SIZE];
    const char *wanted;          /* a pointer whose line is looked for; NULL: check only */
    unsigned wanted_line;
};

void dg_pointer_add(char out[DG_POINTER_SIZE], const char *pointer, const char *key)
{
    size_t n = strlen(pointer);
    memmove(out, pointer, n + 1);
    if (n + 1 < DG_POINTER_SIZE)
        out[n++] = '/';
    for (; *key != '\0' && n + 2 < DG_POINTER_SIZE; key++) {
        if (*key == '~' || *key == '/') {
            out[n++] = '~';
            out[n++] = *key == '~' ? '0' : '1';
        } else {
            out[n++] = *key;
        }
    }
    out[n] = '\0';
}

static bool fail_at(const struct dg_json *json, unsigned line, const char *pointer,
                    const char *rule, const char *value, const char *todo)
{
    char where[256];
    const char *separator = pointer[0] == '\0' ? "" : ": ";
    if (line > 0)
        dg_format(where, sizeof where, "%s:%u%s%s", json->where, line, separator, pointer);
    else
        dg_format(where, sizeof where, "%s%s%s", json->where, separator, pointer);
    return dg_fail(json->e, DG_EXIT_INPUT, where, rule, value, todo);
}

static bool broken(struct scan *s, const char *rule, const char *todo)
{
    char value[32];
    size_t n = 0;
    for (; s->at + n < s->end && n < 20 && (unsigned char)s->at[n] >= ' '; n++)
        value[n] = s->at[n];
    value[n] = '\0';
    return fail_at(s->json, s->line, s->path, rule, s->at < s->end ? value : "end of the file",
                   todo);
}

static void blanks(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n'))
        s->line += *s->at++ == '\n';
}

/* Bytes of the UTF-8 character at c, 0 when there is none (overlong and surrogate forms too). */
static size_t utf8_length(const char *c, const char *end)
{
    static const struct { unsigned char low, high, second_low, second_high, length; } rows[] = {
        { 0x00, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
        { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
        { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };
    const unsigned char *u = (const unsigned char *)c;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = rows[i].length;
        if (*u < rows[i].low || *u > rows[i].high)
            continue;
        if ((size_t)(end - c) < n)
            return 0;
        if (n > 1 && (u[1] < rows[i].second_low || u[1] > rows[i].second_high))
            return 0;
        for (size_t k = 2; k < n; k++)
            if (u[k] < 0x80 || u[k] > 0xbf)
                return 0;
        return n;
    }
    return 0;
}

/* The four digits of \uXXXX at c, or UINT_MAX. */
static unsigned escaped_unit(const char *c, const char *end)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    unsigned unit = 0;
    if (end - c < 6 || c[0] != '\\' || c[1] != 'u')
        return UINT_MAX;
    for (size_t i = 2; i < 6; i++) {
        const char *digit = c[i] == '\0' ? NULL : strchr(digits, c[i]);
        if (digit == NULL)
            return UINT_MAX;
        unit = unit << 4 | (unsigned)((digit - digits) & 15);
    }
    return unit;
}

static bool is_in(unsigned unit, unsigned low, unsigned high)
{
    return unit >= low && unit <= high;
}

/* All that cJSON refuses, so that when it fails all the same, memory ran out. */
static bool scan_escape(struct scan *s, const char *c, size_t *length)
{
    unsigned first = escaped_unit(c, s->end);
    *length = 2;
    if (s->end - c > 1 && c[1] != '\0' && strchr("\"\\/bfnrt", c[1]) != NULL)
        return true;
    if (first == 0)
        return broken(s, "a text must not hold a zero character", "remove \\u0000");
    bool pair = is_in(first, 0xd800, 0xdbff) &&
                is_in(escaped_unit(c + 6, s->end), 0xdc00, 0xdfff);
    *length = pair ? 12 : 6;
    return (first != UINT_MAX && !is_in(first, 0xd800, 0xdfff)) || pair ||
           broken(s, "an escape in a text is wrong", "write plain text in quotes");
}

/* A text from its opening quote to behind the closing one; false when it has none. */
static bool scan_text(struct scan *s)
{
    const char *c = s->at + 1;
    for (size_t n; c < s->end && *c != '"'; c += n) {
        n = utf8_length(c, s->end);
        if (n == 0)
            return broken(s, "a text must be UTF-8", "save the file as UTF-8");
        if ((unsigned char)*c < ' ')
            return broken(s, "a text must not hold control characters",
                          "write them as escapes, or close the text on its line");
        if (*c == '\\' && !scan_escape(s, c, &n))
            return false;
    }
    if (c >= s->end)
        return broken(s, "a text must be closed by a quote", "add the missing quote");
    s->at = c + 1;
    return true;
}

static const char any_value[] =
    "write a number, a text in quotes, true, false, null, [...] or {...}";

/* cJSON takes any letters that strtod takes, and rounds integers beyond 2^53 in silence. */
static bool scan_number(struct scan *s)
{
    static const double exact = 9007199254740992.0;
    char text[64];
    size_t n = 0;
    bool integer = true;
    for (; s->at + n < s->end && strchr("+-.0123456789eE", s->at[n]) != NULL; n++)
        integer = integer && strchr(".eE", s->at[n]) == NULL;
    if (n == 0)
        return broken(s, "is not JSON", any_value);
    if (n >= sizeof text)
        return broken(s, "a number must be shorter", "round it: doubles hold 17 digits");
    memcpy(text, s->at, n);
    text[n] = '\0';
    double value;
    const char *rule;
    if (!dg_parse_double(text, &value, &rule))
        return broken(s, rule, "write the number as JSON wants it");
    if (integer && (value >= exact || value <= -exact))
        return broken(s, "an integer must be below 2^53, where doubles are exact",
                      "write a smaller number");
    s->at += n;
    return true;
}

static bool scan_word(struct scan *s, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return broken(s, "is not JSON", any_value);
    s->at += n;
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    size_t n = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->at, y->at, n);
    if (order == 0)
        order = (x->length > y->length) - (x->length < y->length);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static bool no_repeats(struct scan *s, struct key *keys, size_t count)
{
    if (count > 1)
        qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count; i++) {
        const struct key *a = &keys[i - 1], *b = &keys[i];
        if (a->length != b->length || memcmp(a->at, b->at, a->length) != 0)
            continue;
        char key[128], pointer[DG_POINTER_SIZE], rule[96];
        size_t n = a->length < sizeof key - 1 ? a->length : sizeof key - 1;
        memcpy(key, a->at, n);
        key[n] = '\0';
        dg_pointer_add(pointer, s->path, key);
        dg_format(rule, sizeof rule, "a key may stand once, this one is on lines %u and %u",
                  a->line, b->line);
        return fail_at(s->json, b->line, pointer, rule, key, "remove one of the two");
    }
    return true;
}

/* Keeps `keys` growing in the arena. */
static struct key *next_key(struct scan *s, struct key **keys, size_t *count, size_t *capacity)
{
    if (*count == *capacity) {
        size_t more = *capacity == 0 ? 16 : 2 * *capacity;
        struct key *grown = dg_alloc_array(s->json->arena, more, sizeof *grown);
        if (grown == NULL)
            return NULL;
        if (*count > 0)
            memcpy(grown, *keys, *count * sizeof *grown);
        *keys = grown;
        *capacity = more;
    }
    return &(*keys)[(*count)++];
}

static bool scan_value(struct scan *s);

static void note(struct scan *s)
{
    if (s->wanted != NULL && s->wanted_line == 0 && strcmp(s->wanted, s->path) == 0)
        s->wanted_line = s->line;
}

/* "key": value */
static bool scan_member(struct scan *s, struct key *key)
{
    if (s->at >= s->end || *s->at != '"')
        return broken(s, "expected a key in quotes", "check commas and quotes before this place");
    const char *start = s->at + 1;
    if (!scan_text(s))
        return false;
    *key = (struct key){ start, (size_t)(s->at - 1 - start), s->line };
    if (memchr(start, '\\', key->length) != NULL || key->length >= 128)
        return broken(s, "a key must be short and without escapes", "write its letters plainly");
    char name[128];
    memcpy(name, start, key->length);
    name[key->length] = '\0';
    dg_pointer_add(s->path, s->path, name);
    note(s);
    blanks(s);
    if (s->at >= s->end || *s->at != ':')
        return broken(s, "expected a colon behind the key", "write \"key\": value");
    s->at++;
    return scan_value(s);
}

/* Behind a member or element: true at a comma; *more false at the closing bracket. */
static bool scan_comma(struct scan *s, char closing, bool *more)
{
    blanks(s);
    if (s->at < s->end && (*s->at == ',' || *s->at == closing)) {
        *more = *s->at++ == ',';
        blanks(s);
        return true;
    }
    return broken(s, closing == '}' ? "expected a comma or }" : "expected a comma or ]",
                  "check the line before this place");
}

static bool scan_object(struct scan *s)
{
    struct key *keys = NULL;
    size_t count = 0, capacity = 0, length = strlen(s->path);
    bool more = true;
    s->at++;
    blanks(s);
    if (s->at < s->end && *s->at == '}') {
        s->at++;
        return true;
    }
    while (more) {
        struct key *key = next_key(s, &keys, &count, &capacity);
        if (key == NULL)
            return dg_fail_memory(s->json->e, s->json->where);
        if (!scan_member(s, key) || !scan_comma(s, '}', &more))
            return false;
        s->path[length] = '\0';
    }
    return no_repeats(s, keys, count);
}

static bool scan_array(struct scan *s)
{
    size_t length = strlen(s->path), index = 0;
    bool more = true;
    s->at++;
    blanks(s);
    if (s->at < s->end && *s->at == ']') {
        s->at++;
        return true;
    }
    while (more) {
        char number[24];
        dg_format(number, sizeof number, "%zu", index++);
        dg_pointer_add(s->path, s->path, number);
        note(s);
        if (!scan_value(s) || !scan_comma(s, ']', &more))
            return false;
        s->path[length] = '\0';
    }
    return true;
}

static bool scan_nested(struct scan *s)
{
    if (s->depth == DG_JSON_DEPTH)
        return broken(s, "is nested too deeply", "hardware files need three levels");
    s->depth++;
    bool ok = *s->at == '{' ? scan_object(s) : scan_array(s);
    s->depth--;
    return ok;
}

static bool scan_value(struct scan *s)
{
    blanks(s);
    if (s->at >= s->end)
        return broken(s, "a value is missing", "the file seems cut off; write it again");
    switch (*s->at) {
    case '{': case '[': return scan_nested(s);
    case '"': return scan_text(s);
    case 't': return scan_word(s, "true");
    case 'f': return scan_word(s, "false");
    case 'n': return scan_word(s, "null");
    default: return scan_number(s);
    }
}

static bool scan_all(struct scan *s)
{
    /* some editors begin a file with the mark of UTF-8; cJSON passes over it too */
    if (s->end - s->at >= 3 && memcmp(s->at, "\xef\xbb\xbf", 3) == 0)
        s->at += 3;
    if (!scan_value(s))
        return false;
    blanks(s);
    return s->at == s->end || broken(s, "there must be nothing behind the closing bracket",
                                     "remove what follows");
}

unsigned dg_json_line(const struct dg_json *json, const char *pointer)
{
    struct dg_error ignored;
    struct dg_json quiet = *json;
    quiet.e = &ignored;
    struct scan s = { .json = &quiet, .at = json->text, .end = json->text + json->size,
                      .line = 1, .wanted = pointer };
    scan_all(&s);
    return s.wanted_line;
}

bool dg_json_fail(const struct dg_json *json, const char *pointer, const char *rule,
                  const char *value, const char *todo)
{
    return fail_at(json, dg_json_line(json, pointer), pointer[0] != '\0' ? pointer : "/", rule,
                   value, todo);
}

/* cJSON reads and prints numbers through the decimal separator of the thread's locale. */
struct plain_locale { locale_t plain, before; };

static struct plain_locale enter_plain(void)
{
    struct plain_locale l = { .plain = newlocale(LC_ALL_MASK, "C", (locale_t)0) };
    if (l.plain != (locale_t)0)
        l.before = uselocale(l.plain);
    return l;
}

static void leave_plain(struct plain_locale l)
{
    if (l.plain == (locale_t)0)
        return;
    uselocale(l.before);
    freelocale(l.plain);
}

bool dg_json_fail_item(const struct dg_json *json, const char *pointer, const char *rule,
                       const cJSON *item, const char *todo)
{
    struct plain_locale l = enter_plain();
    char *text = cJSON_PrintUnformatted(item);
    leave_plain(l);
    dg_json_fail(json, pointer, rule, text, todo);
    cJSON_free(text);
    return false;
}

cJSON *dg_json_parse(const struct dg_json *json)
{
    struct scan s = { .json = json, .at = json->text, .end = json->text + json->size, .line = 1 };
    if (!scan_all(&s))
        return NULL;
    struct plain_locale l = enter_plain();
    cJSON *tree = cJSON_ParseWithLength(json->text, json->size);
    leave_plain(l);
    if (tree == NULL)
        dg_fail_memory(json->e, json->where);
    return tree;
}
