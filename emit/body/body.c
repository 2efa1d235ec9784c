/* SPDX-License-Identifier: Apache-2.0
 *
 * The outer-product recipe. One operand of a step is held in registers for the whole step, the
 * other passes through one register: B vectors are held when the tile is taller than wide, A
 * broadcasts when it is wider, whichever needs fewer registers. Memory operands of the multiply
 * are never used: they load once per multiply, and load ports are the scarcer resource. */
#include "emit/body/body.h"

struct recipe {
    const char *name;
    enum dg_dtype dtype;
    const char *element, *a, *b, *c, *source;
    unsigned group, lane;
    enum dg_sem chain;
    const char *chain_dtype;
    bool flip;
    const char *mix;
};

static const struct recipe recipes[] = {
#define RECIPE(name, dtype, sum, a, b, c, source, group, lane, chain, chain_dtype, flip, mix) \
    { name, DG_##dtype, #sum, #a, #b, #c, #source, group, lane, DG_SEM_##chain, #chain_dtype, \
      flip, #mix },
#include "emit/body/recipes.def"
};

/* Where the multiply takes one lane of a register, the row's element needs no spreading. */
static void prefer_elements(struct dg_body *body)
{
    unsigned bits = body->isa->vector_bits;
    const struct dg_op *load = dg_isa_op(body->isa, DG_SEM_LOAD_ELEMENT, body->element, bits, 0);
    const struct dg_op *fma = dg_isa_op(body->isa, DG_SEM_FMA_ELEMENT, body->element, bits, 0);
    if (load != NULL && fma != NULL) {
        body->broadcast = load;
        body->chain = fma;
    }
}

static bool same(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a == *b;
}

/* AVX2 is never without AVX. */
static bool is_implied(const struct dg_body *body, const char *feature)
{
    return dg_feature_listed(body->features, feature) ||
           (same(feature, "avx") && dg_feature_listed(body->features, "avx2"));
}

/* Appends what is not yet in the list; false: no room. */
static bool add_features(struct dg_body *body, const char *more)
{
    size_t end = 0;
    while (body->features[end] != '\0')
        end++;
    while (*more != '\0') {
        char one[32];
        size_t length = 0;
        for (; more[length] != '\0' && more[length] != ','; length++)
            if (length + 1 < sizeof one)
                one[length] = more[length];
        if (length + 1 > sizeof one || end + length + 2 > sizeof body->features)
            return false;
        one[length] = '\0';
        if (!is_implied(body, one)) {
            if (end > 0)
                body->features[end++] = ',';
            for (size_t i = 0; i <= length; i++)
                body->features[end + i] = one[i];
            end += length;
        }
        more += length + (more[length] == ',');
    }
    return true;
}

/* Takes an operation into the recipe; false: the target has none. */
static bool take(struct dg_body *body, enum dg_sem sem, const char *dtype, unsigned part,
                 const struct dg_op **out)
{
    *out = dg_isa_op(body->isa, sem, dtype, body->isa->vector_bits, part);
    return *out != NULL && add_features(body, (*out)->feature);
}

/* What the packer needs, and the last, partly filled step, where a lane holds a group. */
static bool take_group(struct dg_body *body, const struct recipe *recipe)
{
    const struct dg_op *ignored;
    bool ok = take(body, DG_SEM_LOAD, recipe->source, 0, &ignored);
    if (same(recipe->source, recipe->b))
        return ok;
    const char *group = same(recipe->a, "f32") ? recipe->source : recipe->a;
    ok = ok && take(body, DG_SEM_SHIFT_LEFT, "s32", 0, &ignored) &&
         take(body, DG_SEM_SHIFT_RIGHT, "s32", 0, &ignored) &&
         take(body, DG_SEM_OR, "s32", 0, &ignored);
    for (unsigned part = 1; ok && part < body->group; part++)
        ok = take(body, DG_SEM_BROADCAST_GROUP, group, part, &body->part[part]);
    return ok;
}

static bool take_flip(struct dg_body *body)
{
    const struct dg_op *ignored;
    return take(body, DG_SEM_XOR, "s32", 0, &body->flip) &&
           take(body, DG_SEM_SPLAT, "s32", 0, &ignored) &&
           take(body, DG_SEM_SUB, "s32", 0, &ignored) &&
           take(body, DG_SEM_ADD_LOAD, "s32", 0, &ignored);
}

/* Where a step has one vector of B, what is broadcast is used once: from memory it needs neither an
 * operation nor a register of its own. */
static void take_folded(struct dg_body *body, const struct recipe *recipe)
{
    if (recipe->chain == DG_SEM_FMA && same(recipe->a, body->element) && !recipe->flip &&
        body->chain->sem == DG_SEM_FMA)
        body->folded = dg_isa_op(body->isa, DG_SEM_FMA_BROADCAST, body->element,
                                 body->isa->vector_bits, 0);
}

/* Columns along K: where elements of A, B and C in memory are alike and parts have any size. */
static void take_along(struct dg_body *body, const struct recipe *recipe)
{
    const struct dg_isa *isa = body->isa;
    unsigned bits = isa->vector_bits;
    if (recipe->group != 1 || !same(recipe->a, recipe->b) || !same(recipe->b, recipe->c) ||
        !same(recipe->b, recipe->source))
        return;
    for (unsigned part = 1; part < body->lanes; part++)
        if (dg_isa_op(isa, DG_SEM_LANES_DOWN, body->element, bits, part) == NULL ||
            dg_isa_op(isa, DG_SEM_LOAD_PART, recipe->b, bits, part) == NULL ||
            dg_isa_op(isa, DG_SEM_STORE_PART, recipe->c, bits, part) == NULL)
            return;
    for (unsigned level = 1; 1u << level <= body->lanes; level++)
        if (dg_isa_op(isa, DG_SEM_FOLD, body->element, bits, level) == NULL)
            return;
    body->along = dg_isa_op(isa, DG_SEM_FMA, body->element, bits, 0);
}

static bool follow(const struct dg_isa *isa, const struct recipe *recipe, struct dg_body *out)
{
    *out = (struct dg_body){
        .name = recipe->name, .isa = isa, .dtype = recipe->dtype, .element = recipe->element,
        .mix = recipe->mix, .c = recipe->c, .source = recipe->source, .group = recipe->group,
        .a_bytes = dg_dtypes[recipe->dtype].a_bytes, .b_bytes = recipe->lane,
        .c_bytes = dg_dtypes[recipe->dtype].c_bytes,
        .sum_bytes = recipe->dtype == DG_F64 ? 8 : 4,
        .lanes = isa->vector_bits / (recipe->dtype == DG_F64 ? 64 : 32),
    };
    if (!add_features(out, isa->features) ||
        !take(out, DG_SEM_LOAD, recipe->b, 0, &out->load) ||
        !take(out, DG_SEM_BROADCAST, recipe->a, 0, &out->broadcast) ||
        !take(out, DG_SEM_STORE, recipe->c, 0, &out->store) ||
        !take(out, DG_SEM_ZERO, recipe->element, 0, &out->zero) ||
        !take(out, recipe->chain, recipe->chain_dtype, 0, &out->chain) ||
        !take_group(out, recipe) || (recipe->flip && !take_flip(out)))
        return false;
    if (out->group == 1)
        prefer_elements(out);
    take_folded(out, recipe);
    take_along(out, recipe);
    return true;
}

bool dg_body_for(const struct dg_isa *isa, enum dg_dtype dtype, const char *const *features,
                 size_t feature_count, struct dg_body *out)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (recipes[i].dtype == dtype && follow(isa, &recipes[i], out) &&
            (features == NULL || dg_features_have(features, feature_count, out->features)))
            return true;
    return false;
}

/* Where the next operation goes: the array as long as there is room, the count always. */
struct list {
    struct dg_body_op *out;
    size_t capacity, count;
};

static void put(struct list *list, const struct dg_op *op, struct dg_body_operand x,
                struct dg_body_operand y, struct dg_body_operand z)
{
    struct dg_body_operand scratch = { DG_SCRATCH, 0, 0 };
    if (list->out != NULL && list->count < list->capacity)
        list->out[list->count] = (struct dg_body_op){ op, { x, y, z, scratch } };
    list->count++;
}

static struct dg_body_operand operand(enum dg_role role, unsigned row, unsigned vector)
{
    return (struct dg_body_operand){ role, row, vector };
}

static void put_load(struct list *list, const struct dg_body *body, unsigned vector)
{
    put(list, body->load, operand(DG_B, 0, vector), operand(DG_B, 0, vector),
        operand(DG_NONE, 0, 0));
}

static void put_broadcast(struct list *list, const struct dg_body *body, unsigned row)
{
    put(list, body->broadcast, operand(DG_A, row, 0), operand(DG_A, row, 0),
        operand(DG_NONE, 0, 0));
    if (body->flip != NULL)
        put(list, body->flip, operand(DG_A, row, 0), operand(DG_A, row, 0),
            operand(DG_FLIP, 0, 0));
}

static void put_multiply(struct list *list, const struct dg_body *body, unsigned row,
                         unsigned vector)
{
    struct dg_body_operand a = operand(DG_A, row, 0), b = operand(DG_B, 0, vector);
    bool element = body->chain->sem == DG_SEM_FMA_ELEMENT;
    put(list, body->chain, operand(DG_ACC, row, vector), element ? b : a, element ? a : b);
}

static void step_holding_b(struct list *list, const struct dg_body *body, struct dg_tile tile)
{
    for (unsigned j = 0; j < tile.vectors; j++)
        put_load(list, body, j);
    for (unsigned i = 0; i < tile.rows; i++) {
        put_broadcast(list, body, i);
        for (unsigned j = 0; j < tile.vectors; j++)
            put_multiply(list, body, i, j);
    }
}

static void step_holding_a(struct list *list, const struct dg_body *body, struct dg_tile tile)
{
    for (unsigned i = 0; i < tile.rows; i++)
        put_broadcast(list, body, i);
    for (unsigned j = 0; j < tile.vectors; j++) {
        put_load(list, body, j);
        for (unsigned i = 0; i < tile.rows; i++)
            put_multiply(list, body, i, j);
    }
}

static void step_folded(struct list *list, const struct dg_body *body, unsigned rows)
{
    put_load(list, body, 0);
    for (unsigned i = 0; i < rows; i++)
        put(list, body->folded, operand(DG_ACC, i, 0), operand(DG_B, 0, 0), operand(DG_A, i, 0));
}

size_t dg_body_step(const struct dg_body *body, struct dg_tile tile, struct dg_body_op *out,
                    size_t capacity)
{
    struct list list = { out, capacity, 0 };
    if (tile.vectors == 1 && body->folded != NULL)
        step_folded(&list, body, tile.rows);
    else if (tile.vectors <= tile.rows)
        step_holding_b(&list, body, tile);
    else
        step_holding_a(&list, body, tile);
    return list.count;
}

static bool has_scratch(const struct dg_op *op)
{
    const char *letter = op->operands;
    while (*letter != '\0' && *letter != 't')
        letter++;
    return *letter != '\0';
}

unsigned dg_body_registers(const struct dg_body *body, struct dg_tile tile)
{
    unsigned held = tile.rows < tile.vectors ? tile.rows : tile.vectors;
    if (tile.vectors == 1 && body->folded != NULL)
        held = 0;                                 /* rows come from memory */
    return tile.rows * tile.vectors + held + 1 + (body->flip != NULL) + has_scratch(body->chain);
}

static void put_along(struct list *list, const struct dg_body *body, enum dg_role role, unsigned i)
{
    struct dg_body_operand x = role == DG_A ? operand(DG_A, i, 0) : operand(DG_B, 0, i);
    put(list, body->load, x, x, operand(DG_NONE, 0, 0));
}

size_t dg_body_along_step(const struct dg_body *body, struct dg_along tile,
                          struct dg_body_op *out, size_t capacity)
{
    struct list list = { out, capacity, 0 };
    bool holds_b = tile.columns <= tile.rows;
    unsigned held = holds_b ? tile.columns : tile.rows;
    unsigned others = holds_b ? tile.rows : tile.columns;
    for (unsigned i = 0; i < held; i++)
        put_along(&list, body, holds_b ? DG_B : DG_A, i);
    for (unsigned i = 0; i < others; i++) {
        put_along(&list, body, holds_b ? DG_A : DG_B, i);
        for (unsigned j = 0; j < held; j++) {
            unsigned row = holds_b ? i : j, column = holds_b ? j : i;
            put(&list, body->along, operand(DG_ACC, row, column), operand(DG_A, row, 0),
                operand(DG_B, 0, column));
        }
    }
    return list.count;
}

unsigned dg_body_along_registers(struct dg_along tile)
{
    unsigned held = tile.rows < tile.columns ? tile.rows : tile.columns;
    return tile.rows * tile.columns + held + 1;
}

unsigned dg_along_pitch(unsigned columns)
{
    unsigned pitch = 1;
    while (pitch < columns)
        pitch *= 2;
    return pitch;
}

bool dg_along_holds(struct dg_along tile, unsigned lane)
{
    unsigned pitch = dg_along_pitch(tile.columns);
    return lane / pitch < tile.rows && lane % pitch < tile.columns;
}

/* Of a level's nodes those that are over some sum: the first lane of a node tells. */
unsigned dg_along_folds(struct dg_along tile, unsigned lanes, unsigned level)
{
    unsigned folds = 0, all = tile.rows * dg_along_pitch(tile.columns);
    all = (all + lanes - 1) / lanes * lanes;      /* whole trees */
    for (unsigned lane = 0; lane < all; lane += 1u << level)
        folds += dg_along_holds(tile, lane);
    return folds;
}
