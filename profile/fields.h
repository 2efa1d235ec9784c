/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of hardware.json (fields.def, families.def, defaults.def) as data. Needs no libc. */
#ifndef DG_PROFILE_FIELDS_H
#define DG_PROFILE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

enum dg_field_type { DG_TYPE_INTEGER, DG_TYPE_POW2, DG_TYPE_NUMBER, DG_TYPE_TEXT, DG_TYPE_LIST };

enum dg_field_id {
#define FIELD(key, type, unit, discrete, min, max, title) DG_FIELD_##key,
#include "profile/fields.def"
#undef FIELD
    DG_FIELD_COUNT
};

/* A scalar, or a family of cells; `key` of a family is its pattern. */
struct dg_field {
    const char *key;
    enum dg_field_type type;
    const char *unit;
    bool discrete;
    double min, max;             /* inclusive; of numbers */
    const char *title;
};

struct dg_default {
    const char *key;             /* `*` for one segment */
    const char *architecture;    /* "*": any */
    double value;
    const char *const *list;     /* NULL-terminated; NULL for numbers */
    const char *source;
};

/* The family and the scalar whose texts have a form of their own. */
#define DG_USERS_KEY "res.<name>.users"
#define DG_CPUS_KEY "cpus"

extern const struct dg_field dg_fields[DG_FIELD_COUNT];
extern const struct dg_field dg_families[];
extern const size_t dg_family_count;
extern const struct dg_default dg_defaults[];
extern const size_t dg_default_count;

/* The row of a scalar or of the family that a cell belongs to; NULL: no such key. */
const struct dg_field *dg_field_of(const char *key);
bool dg_key_matches(const char *pattern, const char *key);
/* The named default of a key on an architecture (NULL or "": only rows for any); NULL: none. */
const struct dg_default *dg_default_of(const char *key, const char *architecture);
/* strcmp, without libc */
int dg_key_compare(const char *a, const char *b);

#endif
