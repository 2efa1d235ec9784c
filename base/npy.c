/* SPDX-License-Identifier: Apache-2.0 */
#include "base/npy.h"

#include <string.h>

#include "base/file.h"
#include "base/str.h"

static const struct { const char *name; unsigned char size; } types[DG_NPY_TYPE_COUNT] = {
    [DG_NPY_F16] = { "<f2", 2 }, [DG_NPY_F32] = { "<f4", 4 }, [DG_NPY_F64] = { "<f8", 8 },
    [DG_NPY_I8] = { "|i1", 1 }, [DG_NPY_U8] = { "|u1", 1 }, [DG_NPY_I16] = { "<i2", 2 },
    [DG_NPY_I32] = { "<i4", 4 }, [DG_NPY_I64] = { "<i8", 8 },
};

static const unsigned char magic[6] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };
enum { PREAMBLE_1 = 10, PREAMBLE_2 = 12, ALIGNMENT = 64 };

size_t dg_npy_type_size(enum dg_npy_type type)
{
    return types[type].size;
}

const char *dg_npy_type_name(enum dg_npy_type type)
{
    return types[type].name;
}

static bool bad(struct dg_error *e, const char *path, const char *rule, const char *value)
{
    return dg_fail(e, DG_EXIT_INPUT, path, rule, value, "write it with numpy.save()");
}

/* Product of the shape and the type's size; false on overflow. */
static bool bytes_of(const struct dg_npy *array, uint64_t *out)
{
    uint64_t bytes = types[array->type].size;
    for (unsigned i = 0; i < array->dimension_count; i++)
        if (__builtin_mul_overflow(bytes, array->dimension[i], &bytes))
            return false;
    *out = bytes;
    return true;
}

/* The header is a Python literal with three keys in any order; it ends with blanks and a newline.
 * `at` walks over it. */
struct reader {
    const char *at, *end, *path;
    struct dg_error *e;
};

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t'))
        r->at++;
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* A quoted text without escapes. */
static bool take_text(struct reader *r, char *out, size_t size)
{
    skip_blanks(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return false;
    char quote = *r->at++;
    size_t length = 0;
    while (r->at < r->end && *r->at != quote && length + 1 < size)
        out[length++] = *r->at++;
    out[length] = '\0';
    return take(r, quote);
}

static bool take_word(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool take_shape(struct reader *r, struct dg_npy *out)
{
    if (!take(r, '('))
        return false;
    while (!take(r, ')')) {
        uint64_t value = 0;
        skip_blanks(r);
        if (out->dimension_count == DG_NPY_DIMENSIONS || r->at == r->end ||
            *r->at < '0' || *r->at > '9')
            return false;
        for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, (uint64_t)(*r->at - '0'), &value))
                return false;
        out->dimension[out->dimension_count++] = value;
        if (!take(r, ',')) {
            if (!take(r, ')'))
                return false;
            break;
        }
    }
    return true;
}

static bool take_order(struct reader *r)
{
    if (take_word(r, "False"))
        return true;
    return bad(r->e, r->path, "must be in C order (fortran_order False)", "");
}

static bool take_type(struct reader *r, enum dg_npy_type wanted)
{
    char name[32], rule[64];
    if (!take_text(r, name, sizeof name))
        return bad(r->e, r->path, "dtype must be a simple one", "a structured or unknown dtype");
    if (strcmp(name, types[wanted].name) == 0)
        return true;
    dg_format(rule, sizeof rule, "dtype must be %s", types[wanted].name);
    return dg_fail(r->e, DG_EXIT_INPUT, r->path, rule, name,
                   "convert it with numpy's astype() and check that the values mean the same");
}

static bool take_header(struct reader *r, enum dg_npy_type wanted, struct dg_npy *out)
{
    unsigned seen = 0;
    char key[32];
    const char *rule = "header must hold descr, fortran_order and shape once each";
    if (!take(r, '{'))
        return bad(r->e, r->path, rule, "no dictionary");
    while (!take(r, '}')) {
        if (!take_text(r, key, sizeof key) || !take(r, ':'))
            return bad(r->e, r->path, rule, "no key");
        unsigned bit = strcmp(key, "descr") == 0 ? 1 : strcmp(key, "fortran_order") == 0 ? 2
                     : strcmp(key, "shape") == 0 ? 4 : 8;
        if (bit == 8 || (seen & bit) != 0)
            return bad(r->e, r->path, rule, key);
        seen |= bit;
        if (bit == 1 && !take_type(r, wanted))
            return false;
        if (bit == 2 && !take_order(r))
            return false;
        if (bit == 4 && !take_shape(r, out))
            return bad(r->e, r->path, "shape must be a tuple of at most 8 plain integers", "");
        take(r, ',');
    }
    return seen == 7 || bad(r->e, r->path, rule, "too few keys");
}

/* Where the header text begins and how long it is, by the file's version. */
static bool find_header(const unsigned char *bytes, size_t size, size_t *start, size_t *length)
{
    if (size < PREAMBLE_2 || memcmp(bytes, magic, sizeof magic) != 0)
        return false;
    unsigned major = bytes[6];
    if (major < 1 || major > 3)
        return false;
    *start = major == 1 ? PREAMBLE_1 : PREAMBLE_2;
    *length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (major > 1)
        *length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    return *length <= size - *start;
}

bool dg_npy_read(const char *path, enum dg_npy_type wanted, size_t limit, struct dg_arena *arena,
                 struct dg_npy *out, struct dg_error *e)
{
    size_t size = 0, start = 0, length = 0;
    uint64_t bytes = 0;
    char *raw = dg_file_read(path, limit, arena, &size, e);
    if (raw == NULL)
        return false;
    if (!find_header((const unsigned char *)raw, size, &start, &length))
        return bad(e, path, "must be a .npy file of version 1, 2 or 3", "");
    struct reader r = { raw + start, raw + start + length, path, e };
    *out = (struct dg_npy){ .type = wanted };
    if (!take_header(&r, wanted, out))
        return false;
    if (!bytes_of(out, &bytes) || bytes != size - start - length) {
        char value[64];
        dg_format(value, sizeof value, "%zu bytes", size - start - length);
        return bad(e, path, "data must have exactly the size of its shape", value);
    }
    void *data = dg_alloc(arena, bytes == 0 ? 1 : (size_t)bytes);
    if (data == NULL)
        return dg_fail_memory(e, path);
    memcpy(data, raw + start + length, (size_t)bytes);
    out->data = data;
    out->size = (size_t)bytes;
    return true;
}

bool dg_npy_write(const char *path, const struct dg_npy *array, struct dg_error *e)
{
    struct dg_str s;
    uint64_t bytes;
    if (!bytes_of(array, &bytes) || bytes != array->size)
        return dg_fail(e, DG_EXIT_INTERNAL, path, "array size differs from its shape", "", "");
    dg_str_init(&s, NULL);
    dg_str_addn(&s, magic, sizeof magic);
    dg_str_addn(&s, "\1\0\0\0", 4);
    dg_str_format(&s, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                  types[array->type].name);
    for (unsigned i = 0; i < array->dimension_count; i++)
        dg_str_format(&s, i == 0 ? "%llu," : " %llu,", (unsigned long long)array->dimension[i]);
    if (array->dimension_count > 1)
        s.length--;                            /* (2, 3) but (2,): as NumPy writes them */
    dg_str_add(&s, "), }");
    while (!s.failed && (s.length + 1) % ALIGNMENT != 0)
        dg_str_addc(&s, ' ');
    dg_str_addc(&s, '\n');
    size_t header = s.length - PREAMBLE_1;
    dg_str_addn(&s, array->data, array->size);
    bool ok = !s.failed;
    if (ok) {
        s.text[8] = (char)(header & 255);
        s.text[9] = (char)(header >> 8);
        ok = dg_file_write(path, s.text, s.length, e);
    } else {
        dg_fail_memory(e, path);
    }
    dg_str_free(&s);
    return ok;
}
