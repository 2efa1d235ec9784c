/* SPDX-License-Identifier: Apache-2.0
 *
 * What a step of a tile takes: the operations of its recipe against the chip's resources. */
#include "emit/plan/constants.h"
#include "profile/fields.h"

enum { KEY_SIZE = 96 };

static void op_name(const struct dg_op *op, char out[KEY_SIZE])
{
    dg_format(out, KEY_SIZE, "%s.%s.%u", op->name, op->dtype, op->bits);
}

static const struct dg_op *part_op(const struct dg_body *body, enum dg_part_op part)
{
    switch (part) {
    case DG_PART_LOAD: return body->load;
    case DG_PART_BROADCAST: return body->broadcast;
    case DG_PART_CHAIN: return body->chain;
    case DG_PART_FLIP: return body->flip;         /* NULL: the recipe has none */
    case DG_PART_FOLDED: return body->folded;     /* likewise */
    default: return body->store;
    }
}

/* "1", "0.5": no exponent; negative for anything else. */
static double decimal(const char *text)
{
    double value = 0, unit = 1;
    bool fraction = false, digits = false;
    for (; *text != '\0'; text++) {
        if (*text == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (*text < '0' || *text > '9')
            return -1;
        digits = true;
        value = value * 10 + (*text - '0');
        unit = fraction ? unit * 10 : unit;
    }
    return digits ? value / unit : -1;
}

/* Units that `name` takes in a list of "fma.f32.256:1.0"; 0: it is no user. */
static double units_of(const char *const *users, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (name[j] != '\0' && users[i][j] == name[j])
            j++;
        if (name[j] != '\0' || users[i][j] != ':')
            continue;
        double units = decimal(users[i] + j + 1);
        if (units > 0)
            return units;
    }
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = 0, tail = 0;
    while (text[length] != '\0')
        length++;
    while (end[tail] != '\0')
        tail++;
    if (length < tail)
        return false;
    return dg_key_compare(text + length - tail, end) == 0;
}

static bool uses(const struct dg_value *users, const struct dg_body *body)
{
    char name[KEY_SIZE];
    for (int part = 0; part < DG_PART_COUNT; part++) {
        if (part_op(body, (enum dg_part_op)part) == NULL)
            continue;
        op_name(part_op(body, (enum dg_part_op)part), name);
        if (units_of(users->list, users->list_count, name) > 0)
            return true;
    }
    return false;
}

/* One res.NAME. Resources that no operation of the body uses are not read: what is measured of
 * other types is no part of a kernel's identity. */
static bool read_one(struct dg_view *view, const struct dg_body *body, const char *key,
                     struct dg_constants *out)
{
    char users_key[KEY_SIZE], name[KEY_SIZE];
    size_t length = 0;
    for (const char *dot = key + 4; *dot != '.'; dot++)
        length++;
    dg_format(name, sizeof name, "%s", key + 4);
    name[length < sizeof name ? length : sizeof name - 1] = '\0';
    dg_format(users_key, sizeof users_key, "res.%s.users", name);
    const struct dg_value *listed = dg_profile_find(view->profile, users_key);
    const char *const *users;
    size_t count;
    double capacity;
    if (listed == NULL || !uses(listed, body) || !dg_view_list(view, users_key, &users, &count) ||
        !dg_view_cell(view, key, &capacity))
        return true;
    struct dg_resource resource = { .name = dg_strdup(view->arena, name) };
    for (int part = 0; part < DG_PART_COUNT; part++) {
        if (part_op(body, (enum dg_part_op)part) == NULL)
            continue;
        op_name(part_op(body, (enum dg_part_op)part), name);
        resource.price[part] = dg_price_of(units_of(users, count, name) / capacity);
    }
    if (out->resource_count < DG_RESOURCES)
        out->resource[out->resource_count++] = resource;
    return resource.name != NULL;
}

static bool read_all(struct dg_view *view, const struct dg_body *body, struct dg_constants *out)
{
    const struct dg_profile *profile = view->profile;
    for (size_t i = 0; i < profile->entry_count; i++) {
        const char *key = profile->entries[i].key;
        bool is_capacity = key[0] == 'r' && key[1] == 'e' && key[2] == 's' && key[3] == '.' &&
                           ends_with(key, ".capacity");
        if (is_capacity && !read_one(view, body, key, out))
            return false;
    }
    return true;
}

static bool has_user(const struct dg_constants *c, int part)
{
    for (size_t i = 0; i < c->resource_count; i++)
        if (c->resource[i].price[part] > 0)
            return true;
    return false;
}

/* Operations that no resource knows: their own rate, loads and broadcasts on one resource. */
static bool complete(struct dg_view *view, const struct dg_body *body, struct dg_constants *out)
{
    static const char *const names[DG_PART_COUNT] = { "load", "load", "multiply", "store",
                                                       "flip", "folded" };
    struct dg_resource *last = NULL;
    for (int part = 0; part < DG_PART_COUNT; part++) {
        if (part_op(body, (enum dg_part_op)part) == NULL ||
            (has_user(out, part) && part != DG_PART_CHAIN))
            continue;
        char name[KEY_SIZE], key[KEY_SIZE];
        double rate;
        op_name(part_op(body, (enum dg_part_op)part), name);
        dg_format(key, sizeof key, "op.%s.per_cycle", name);
        if (!dg_view_field(view, key, &rate))
            return false;
        if (part == DG_PART_CHAIN)
            out->chain_rate = dg_price_of(1 / rate);
        if (has_user(out, part))
            continue;
        if (last == NULL || dg_key_compare(last->name, names[part]) != 0) {
            if (out->resource_count == DG_RESOURCES)
                return true;
            last = &out->resource[out->resource_count++];
            last->name = names[part];
        }
        last->price[part] = dg_price_of(1 / rate);
    }
    return true;
}

/* Multiplies that start in a cycle by the narrowest resource that every operation of a step takes,
 * rounded; 0: there is none. Such resources are known by their users, names mean nothing. */
static unsigned issue_width(const struct dg_constants *c)
{
    enum { MOST = 64 };
    dg_price slot = 0;
    for (size_t i = 0; i < c->resource_count; i++) {
        const dg_price *price = c->resource[i].price;
        if (price[DG_PART_LOAD] > 0 && price[DG_PART_BROADCAST] > 0 && price[DG_PART_CHAIN] > slot)
            slot = price[DG_PART_CHAIN];
    }
    if (slot == 0)
        return 0;
    dg_price width = (DG_PRICE_ONE + slot / 2) / slot;
    return width < 1 ? 1 : width > MOST ? MOST : (unsigned)width;
}

/* False: not in the profile. */
static bool read_rate(struct dg_view *view, const struct dg_op *op, dg_price *out)
{
    char name[KEY_SIZE], key[KEY_SIZE];
    double rate;
    op_name(op, name);
    dg_format(key, sizeof key, "op.%s.per_cycle", name);
    const char *kept = dg_strdup(view->arena, key);
    if (kept == NULL || !dg_view_cell(view, kept, &rate))
        return false;
    *out = dg_price_of(1 / rate);
    return true;
}

/* What ends a tile along K, by rates of its own; no such tile where one is not known. */
static void read_along(struct dg_view *view, const struct dg_body *body, struct dg_constants *out)
{
    const struct dg_isa *isa = body->isa;
    unsigned bits = isa->vector_bits;
    out->along = body->along != NULL &&
                 read_rate(view, dg_isa_op(isa, DG_SEM_LANES_DOWN, body->element, bits, 1),
                           &out->lanes_down);
    for (unsigned level = 1; level <= DG_FOLD_LEVELS && 1u << level <= body->lanes; level++)
        out->along = out->along &&
                     read_rate(view, dg_isa_op(isa, DG_SEM_FOLD, body->element, bits, level),
                               &out->fold[level]);
}

bool dg_resources_read(struct dg_view *view, const struct dg_body *body,
                       struct dg_constants *out)
{
    bool read = read_all(view, body, out);
    out->issue = issue_width(out);
    read_along(view, body, out);
    return read && complete(view, body, out);
}

static dg_price price_of(const struct dg_constants *c, const struct dg_body_op *step, size_t count,
                         const char **binding)
{
    uint64_t parts[DG_PART_COUNT] = { 0 };
    for (size_t i = 0; i < count; i++)
        for (int part = 0; part < DG_PART_COUNT; part++)
            parts[part] += step[i].op == part_op(c->body, (enum dg_part_op)part);
    dg_price worst = c->latency;
    bool bound = false;
    *binding = "latency of the accumulator chain";
    for (size_t i = 0; i < c->resource_count; i++) {
        dg_price price = 0;
        for (int part = 0; part < DG_PART_COUNT; part++)
            price += (dg_price)parts[part] * c->resource[i].price[part];
        if (price > worst || (price == worst && !bound)) {
            worst = price;
            bound = true;                         /* of equal ones the first by name */
            *binding = c->resource[i].name;
        }
    }
    return worst;
}

enum { MOST_OPS = 256 };                          /* of a step */

dg_price dg_step_price(const struct dg_constants *c, struct dg_tile tile, const char **binding)
{
    struct dg_body_op step[MOST_OPS];
    size_t count = dg_body_step(c->body, tile, step, MOST_OPS);
    return price_of(c, step, count < MOST_OPS ? count : MOST_OPS, binding);
}

dg_price dg_along_step_price(const struct dg_constants *c, struct dg_along tile,
                             const char **binding)
{
    struct dg_body_op step[MOST_OPS];
    size_t count = dg_body_along_step(c->body, tile, step, MOST_OPS);
    return price_of(c, step, count < MOST_OPS ? count : MOST_OPS, binding);
}
