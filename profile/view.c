/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "profile/fields.h"
#include "profile/profile.h"

void dg_view_init(struct dg_view *view, const struct dg_profile *profile,
                  struct dg_arena *arena, bool strict)
{
    *view = (struct dg_view){ .profile = profile, .arena = arena, .strict = strict };
}

/* Where the key stands, or would have to be put in, so that the list stays sorted. */
static size_t place_of(const struct dg_view *view, const char *key)
{
    size_t low = 0, high = view->read_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dg_key_compare(view->reads[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool grow(struct dg_view *view)
{
    if (view->read_count < view->read_capacity)
        return true;
    size_t capacity = view->read_capacity == 0 ? 64 : 2 * view->read_capacity;
    struct dg_read *reads = dg_alloc_array(view->arena, capacity, sizeof *reads);
    if (reads == NULL)
        return false;
    for (size_t i = 0; i < view->read_count; i++)
        reads[i] = view->reads[i];
    view->reads = reads;
    view->read_capacity = capacity;
    return true;
}

/* The record of a key, made at its first reading; NULL: no memory. */
static struct dg_read *record(struct dg_view *view, const char *key)
{
    size_t place = place_of(view, key);
    if (place < view->read_count && dg_key_compare(view->reads[place].key, key) == 0)
        return &view->reads[place];
    char *copy = dg_strdup(view->arena, key);
    if (copy == NULL || !grow(view))
        return NULL;
    for (size_t i = view->read_count; i > place; i--)
        view->reads[i] = view->reads[i - 1];
    view->read_count++;
    const struct dg_value *value = dg_profile_find(view->profile, key);
    view->reads[place] = (struct dg_read){ .key = copy, .value = value };
    if (value != NULL && value->kind == DG_VALUE_NUMBER)
        view->reads[place].used = value->number;
    return &view->reads[place];
}

static bool is_number(const struct dg_read *read)
{
    return read->value != NULL && read->value->kind == DG_VALUE_NUMBER;
}

bool dg_view_cell(struct dg_view *view, const char *key, double *out)
{
    struct dg_read *read = record(view, key);
    if (read == NULL || !is_number(read))
        return false;
    *out = read->value->number;
    return true;
}

/* A cell and the scalar that says the same: the cell wins, the scalar stands in for it. */
static const struct { const char *cell, *scalar; bool per_cycle; } pairs[] = {
    { "bw.dram.triad.all", "memory_bandwidth_gbps", false },
    { "bw.dram.read.1", "l2_to_dram_bandwidth_gbps", false },
    { "bw.l2.read.1", "l1_to_l2_bandwidth_gbps", true },
};

/* The partner of `key` (its scalar, or its cell) when the file has that one and not `key` itself
 * or when the cell outranks it. Cells per cycle are joined to GB/s by the clock. */
static bool from_partner(struct dg_view *view, const char *key, bool cell_first, double *out)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool is_scalar = dg_key_compare(pairs[i].scalar, key) == 0;
        bool is_cell = dg_key_compare(pairs[i].cell, key) == 0;
        if (cell_first ? !is_scalar : !is_cell)
            continue;
        double value, clock_hz;
        if (!dg_view_cell(view, is_scalar ? pairs[i].cell : pairs[i].scalar, &value))
            return false;
        if (!pairs[i].per_cycle) {
            *out = value;
            return true;
        }
        if (!dg_view_field(view, "clock_hz", &clock_hz))
            return false;
        *out = is_scalar ? value * clock_hz / 1e9 : value * 1e9 / clock_hz;
        return true;
    }
    return false;
}

static bool assume(struct dg_view *view, struct dg_read *read, double *out)
{
    const struct dg_default *row =
        dg_default_of(read->key, dg_profile_text(view->profile, "architecture"));
    if (view->strict || row == NULL || row->list != NULL) {
        if (view->missing == NULL)
            view->missing = read->key;
        return false;
    }
    read->assumed = true;
    read->used = row->value;
    *out = row->value;
    return true;
}

bool dg_view_field(struct dg_view *view, const char *key, double *out)
{
    if (from_partner(view, key, true, out) || dg_view_cell(view, key, out) ||
        from_partner(view, key, false, out))
        return true;
    struct dg_read *read = record(view, key);
    return read != NULL && assume(view, read, out);
}

bool dg_view_list(struct dg_view *view, const char *key, const char *const **list, size_t *count)
{
    struct dg_read *read = record(view, key);
    if (read == NULL)
        return false;
    if (read->value != NULL && read->value->kind == DG_VALUE_LIST) {
        *list = read->value->list;
        *count = read->value->list_count;
        return true;
    }
    const struct dg_default *row =
        dg_default_of(key, dg_profile_text(view->profile, "architecture"));
    if (view->strict || row == NULL || row->list == NULL) {
        if (view->missing == NULL)
            view->missing = read->key;
        return false;
    }
    read->assumed = true;
    *list = row->list;
    for (*count = 0; row->list[*count] != NULL; (*count)++)
        continue;
    return true;
}
