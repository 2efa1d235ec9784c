/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/number.h"
#include "emit/write/json.h"

enum { DEPTH = 16, PLACE = 192, ITEMS = 8192 };   /* a duplicate check costs items squared */

struct parser {
    const char *at, *end, *start;
    struct dg_arena *arena;
    struct dg_json *out;
    size_t capacity;
    char place[PLACE];
    struct dg_error *e;
};

static bool value(struct parser *p, unsigned depth);

static bool bad(struct parser *p, const char *rule)
{
    char where[sizeof p->e->where];
    unsigned line = 1;
    for (const char *c = p->start; c < p->at; c++)
        line += *c == '\n';
    dg_format(where, sizeof where, "%s:%u", p->out->where, line);
    dg_fail(p->e, DG_EXIT_INPUT, where, rule, p->place, "generate the kernel again");
    return false;
}

static void blanks(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

static bool take(struct parser *p, char c)
{
    blanks(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static struct dg_json_item *add(struct parser *p, enum dg_json_kind kind)
{
    struct dg_json *out = p->out;
    if (out->count == ITEMS)
        return NULL;
    if (out->count == p->capacity) {
        size_t capacity = p->capacity * 2 + 64;
        struct dg_json_item *more = dg_alloc_array(p->arena, capacity, sizeof *more);
        if (more == NULL)
            return NULL;
        if (out->count > 0)
            memcpy(more, out->items, out->count * sizeof *more);
        out->items = more;
        p->capacity = capacity;
    }
    struct dg_json_item *item = &out->items[out->count++];
    *item = (struct dg_json_item){ .place = dg_strdup(p->arena, p->place), .kind = kind };
    return item->place == NULL ? NULL : item;
}

static bool hex4(struct parser *p, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        char c = p->at < p->end ? *p->at : '\0';
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 16;
        if (digit == 16)
            return false;
        *out = *out * 16 + digit;
    }
    return true;
}

/* Only the basic plane without surrogates: nothing here writes others. */
static bool escape(struct parser *p, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = p->at < p->end ? *p->at++ : '\0';
    const char *found = c != '\0' ? strchr(from, c) : NULL;
    unsigned code;
    if (found != NULL)
        code = (unsigned char)to[found - from];
    else if (c != 'u' || !hex4(p, &code) || code == 0 || (code >= 0xD800 && code < 0xE000))
        return false;
    if (code < 0x80) {
        *(*out)++ = (char)code;
    } else {
        if (code >= 0x800) {
            *(*out)++ = (char)(0xE0 | code >> 12);
            *(*out)++ = (char)(0x80 | (code >> 6 & 0x3F));
        } else {
            *(*out)++ = (char)(0xC0 | code >> 6);
        }
        *(*out)++ = (char)(0x80 | (code & 0x3F));
    }
    return true;
}

/* The opening quote is taken. */
static char *string(struct parser *p)
{
    const char *close = p->at;
    while (close < p->end && *close != '"')
        close += *close == '\\' && close + 1 < p->end ? 2 : 1;
    char *text = close < p->end ? dg_alloc(p->arena, (size_t)(close - p->at) + 1) : NULL;
    char *out = text;
    if (text == NULL)
        return NULL;
    while (p->at < close) {
        char c = *p->at++;
        if ((unsigned char)c < ' ')
            return NULL;
        if (c != '\\')
            *out++ = c;
        else if (!escape(p, &out))
            return NULL;
    }
    p->at = close + 1;
    return text;
}

static bool enter(struct parser *p, size_t length, const char *name)
{
    if (length + strlen(name) + 2 > PLACE)
        return bad(p, "has a name that is too long");
    p->place[length] = '/';
    strcpy(p->place + length + 1, name);
    return true;
}

static bool members(struct parser *p, size_t self, unsigned depth, bool object)
{
    size_t length = strlen(p->place), count = 0;
    char close = object ? '}' : ']';
    if (take(p, close))
        return true;
    do {
        char index[24];
        const char *name = index;
        dg_format(index, sizeof index, "%zu", count++);
        if (object && (!take(p, '"') || (name = string(p)) == NULL || !take(p, ':')))
            return bad(p, "must have a name in quotes and a colon here");
        if (!enter(p, length, name))
            return false;
        if (object && dg_json_find(p->out, p->place) != NULL)
            return bad(p, "must not stand twice");
        if (!value(p, depth + 1))
            return false;
        p->place[length] = '\0';
    } while (take(p, ','));
    p->out->items[self].count = count;
    return take(p, close) || bad(p, "must be followed by a comma or the closing bracket");
}

static bool number(struct parser *p)
{
    char text[DG_NUMBER_SIZE * 2];
    size_t length = 0;
    while (p->at < p->end && *p->at != '\0' && strchr("+-.0123456789eE", *p->at) != NULL &&
           length + 1 < sizeof text)
        text[length++] = *p->at++;
    text[length] = '\0';
    struct dg_json_item *item = add(p, DG_JSON_NUMBER);
    if (item == NULL || !dg_parse_double(text, &item->number, NULL))
        return bad(p, "must be a JSON value");
    return true;
}

static bool word(struct parser *p)
{
    static const struct { const char *text; enum dg_json_kind kind; } words[] = {
        { "null", DG_JSON_NULL }, { "true", DG_JSON_TRUE }, { "false", DG_JSON_FALSE },
    };
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i].text);
        if ((size_t)(p->end - p->at) >= length && memcmp(p->at, words[i].text, length) == 0) {
            p->at += length;
            return add(p, words[i].kind) != NULL || bad(p, "must have less in it");
        }
    }
    return number(p);
}

static bool value(struct parser *p, unsigned depth)
{
    blanks(p);
    if (depth > DEPTH)
        return bad(p, "must not be nested this deep");
    const char *start = p->at;
    size_t self = p->out->count;
    bool ok;
    char c = p->at < p->end ? *p->at : '\0';
    if (c == '{' || c == '[') {
        p->at++;
        ok = add(p, c == '{' ? DG_JSON_OBJECT : DG_JSON_ARRAY) != NULL &&
             members(p, self, depth, c == '{');
    } else if (c == '"') {
        p->at++;
        struct dg_json_item *item = add(p, DG_JSON_TEXT);
        ok = item != NULL && ((item->text = string(p)) != NULL ||
                              bad(p, "must be a closed text with right escapes"));
    } else {
        ok = word(p);
    }
    if (ok) {
        p->out->items[self].raw = start;
        p->out->items[self].raw_size = (size_t)(p->at - start);
    }
    return ok;
}

bool dg_json_flatten(const char *text, size_t size, const char *where, struct dg_arena *arena,
                     struct dg_json *out, struct dg_error *e)
{
    struct dg_error none;
    *out = (struct dg_json){ .where = where };
    struct parser p = {
        .at = text, .end = text + size, .start = text, .arena = arena, .out = out,
        .e = e != NULL ? e : &none,
    };
    *p.e = (struct dg_error){ 0 };
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)    /* the mark of UTF-8 */
        p.at += 3;
    if (!value(&p, 0))
        return p.e->rule[0] != '\0' ? false : bad(&p, "must have less in it");
    blanks(&p);
    if (p.at != p.end)
        return bad(&p, "must end after the closing bracket");
    return true;
}

struct dg_json_item *dg_json_find(struct dg_json *json, const char *place)
{
    for (size_t i = json->count; i-- > 0;)
        if (strcmp(json->items[i].place, place) == 0)
            return &json->items[i];
    return NULL;
}
