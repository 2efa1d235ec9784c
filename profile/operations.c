/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells name operations, or types and widths of vectors. What an architecture has stands in its ISA
 * tables: a cell of anything else would be passed over by all that reads the profile. */
#include <string.h>

#include "base/names.h"
#include "base/str.h"
#include "isa/isa.h"
#include "profile/reading.h"

enum { NAME = 64 };

/* A part of a text that names an operation, or only type and width. */
struct part {
    const char *text;
    size_t first, last;
    bool operation;
};

/* "fma.f32.256" or "f32.256" */
static void spell(const struct dg_op *op, bool operation, char out[NAME])
{
    dg_format(out, NAME, "%s%s%s.%u", operation ? op->name : "", operation ? "." : "", op->dtype,
              op->bits);
}

static bool listed(const char *architecture, const char *name, bool operation)
{
    bool any = false;
    for (size_t i = 0; dg_isas[i] != NULL; i++)
        for (size_t j = 0; j < dg_isas[i]->op_count; j++) {
            char row[NAME];
            if (strcmp(dg_isas[i]->architecture, architecture) != 0)
                break;
            spell(&dg_isas[i]->ops[j], operation, row);
            if (strcmp(row, name) == 0)
                return true;
            any = true;
        }
    return !any;                                  /* without tables there is nothing to say */
}

/* Empty when nothing is near. */
static void nearest(const char *architecture, const char *name, bool operation, char out[NAME])
{
    unsigned best = (unsigned)strlen(name) / 2 + 1;
    out[0] = '\0';
    for (size_t i = 0; dg_isas[i] != NULL; i++)
        for (size_t j = 0; j < dg_isas[i]->op_count; j++) {
            char row[NAME];
            if (strcmp(dg_isas[i]->architecture, architecture) != 0)
                break;
            spell(&dg_isas[i]->ops[j], operation, row);
            unsigned distance = dg_name_distance(name, row);
            if (distance < best) {
                best = distance;
                memcpy(out, row, sizeof row);
            }
        }
}

static bool check_part(const struct dg_json *json, const char *pointer, const char *architecture,
                       struct part part)
{
    char name[NAME], near[NAME], rule[128];
    struct dg_str todo;
    size_t size = part.last - part.first < NAME ? part.last - part.first : NAME - 1;
    memcpy(name, part.text + part.first, size);
    name[size] = '\0';
    if (listed(architecture, name, part.operation))
        return true;
    nearest(architecture, name, part.operation, near);
    dg_str_init(&todo, json->arena);
    if (near[0] != '\0') {
        dg_str_add(&todo, "did you mean ");
        dg_str_addn(&todo, part.text, part.first);
        dg_str_format(&todo, "%s%s?", near, part.text + part.last);
    } else {
        dg_str_add(&todo, "remove it; deepgemm-probe writes all that there are");
    }
    dg_format(rule, sizeof rule, part.operation ? "is not an operation of %s"
                                                : "is not a type and width of %s", architecture);
    return dg_json_fail(json, pointer, rule, name, dg_str_text(&todo));
}

/* Where the segment of a key starts; each holds at least a letter. */
static size_t segment(const char *key, size_t number)
{
    size_t at = 0;
    for (; number > 0; number--)
        at += strcspn(key + at, ".") + 1;
    return at;
}

/* The part of a cell's key, by the holes in the pattern of its family; false: it has none. */
static bool part_of(const char *key, struct part *out)
{
    const struct dg_field *field = dg_field_of(key);
    const char *type = field != NULL ? strstr(field->key, "<dtype>") : NULL;
    size_t number = 0;
    if (type == NULL)
        return false;
    for (const char *c = field->key; c < type; c++)
        number += *c == '.';
    out->text = key;
    out->operation = strstr(field->key, "<name>.<dtype>") != NULL;
    out->first = segment(key, out->operation ? number - 1 : number);
    out->last = segment(key, number + 1);
    out->last += strcspn(key + out->last, ".");
    return true;
}

bool dg_operation_check(const struct dg_json *json, const char *pointer, const char *architecture,
                        const char *key)
{
    struct part part;
    return !part_of(key, &part) || check_part(json, pointer, architecture, part);
}

bool dg_users_check(const struct dg_json *json, const char *at, const char *architecture,
                    const struct dg_entry *entry)
{
    const struct dg_value *value = &entry->value;
    if (value->kind != DG_VALUE_LIST || !dg_key_matches(DG_USERS_KEY, entry->key))
        return true;
    for (size_t i = 0; i < value->list_count; i++) {
        char pointer[DG_POINTER_SIZE], index[24];
        const char *text = value->list[i];
        dg_format(index, sizeof index, "%zu", i);
        dg_pointer_add(pointer, at, index);
        if (!check_part(json, pointer, architecture,
                        (struct part){ text, 0, strcspn(text, ":"), true }))
            return false;
    }
    return true;
}
