/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of operations side by side, fitted into resources. Times are kept over the repeats; the fit
 * is made of the fastest, so that each repeat's answer takes in the earlier ones. */
#include "probes/probe.h"

#include <string.h>

#include "isa/isa.h"
#include "probes/infer/rate.h"

enum { NAME = 48, REPEATS = 12, MOST_PAIRS = 400 };

/* What is timed side by side; a kind's operations stand together. */
static const struct { const char *kind, *name, *dtype; } paired[] = {
#define PAIRED(kind, name, dtype) { #kind, #name, #dtype },
#include "microbench/loops/pairs.def"
#undef PAIRED
};
enum { PAIRED_COUNT = sizeof paired / sizeof *paired, KINDS = 8 };
/* Groups: one to one, and twice as many of either. */
static const unsigned groups[][2] = { { 1, 1 }, { 1, 2 }, { 2, 1 } };
enum { GROUPS = sizeof groups / sizeof *groups };

struct pair_memory {
    double cycles[REPEATS];
    unsigned long samples;
    size_t repeats;
    unsigned a, b, count_a, count_b;
};
struct memory {
    char name[DG_FIT_OPS][NAME];
    double alone[DG_FIT_OPS];
    size_t ops;
    struct pair_memory pair[MOST_PAIRS];
    size_t pairs;
};

static void add_op(struct dg_context *ctx, struct memory *m, const char *name)
{
    char key[NAME + 16];
    dg_format(key, sizeof key, "op.%s.per_cycle", name);
    double rate = dg_known(ctx, key, 0);
    if (rate <= 0 || m->ops == DG_FIT_OPS)
        return;
    dg_format(m->name[m->ops], NAME, "%s", name);
    m->alone[m->ops++] = 1 / rate;
}

/* Returns how many have the type that the kind is named by: without them it is none. */
static size_t find_ops(struct dg_context *ctx, struct memory *m, const char *kind, unsigned bits)
{
    char name[NAME];
    size_t own = 0;
    for (size_t i = 0; i < PAIRED_COUNT; i++) {
        if (strcmp(paired[i].kind, kind) != 0)
            continue;
        dg_format(name, sizeof name, "%s.%s.%u", paired[i].name, paired[i].dtype, bits);
        size_t before = m->ops;
        add_op(ctx, m, name);
        own += m->ops - before > 0 && strcmp(paired[i].dtype, kind) == 0;
    }
    return own;
}

static struct pair_memory *pair_of(struct memory *m, unsigned a, unsigned b, unsigned count_a,
                                   unsigned count_b)
{
    for (size_t i = 0; i < m->pairs; i++) {
        struct pair_memory *p = &m->pair[i];
        if (p->a == a && p->b == b && p->count_a == count_a && p->count_b == count_b)
            return p;
    }
    if (m->pairs == MOST_PAIRS)
        return NULL;
    struct pair_memory *p = &m->pair[m->pairs++];
    *p = (struct pair_memory){ .a = a, .b = b, .count_a = count_a, .count_b = count_b };
    return p;
}

static void read_pair(struct dg_context *ctx, struct memory *m, unsigned a, unsigned b,
                      const unsigned group[2])
{
    struct dg_measure reading;
    struct dg_loop loop = { .kind = DG_LOOP_PAIR, .op = m->name[a], .other = m->name[b],
                            .count_a = group[0], .count_b = group[1] };
    if (!dg_read_loop(ctx, &loop, ctx->quick ? 5 : 9, &reading) || reading.fastest.median <= 0)
        return;
    struct pair_memory *p = pair_of(m, a, b, group[0], group[1]);
    if (p == NULL || p->repeats == REPEATS)
        return;
    p->cycles[p->repeats++] = reading.fastest.median;
    p->samples += reading.samples;
}

static const char *user_text(struct dg_context *ctx, const char *name, double units)
{
    /* twentieths: finer than pairs can be told apart */
    unsigned twentieths = (unsigned)(units * 20 + 0.5);
    return dg_text(ctx->arena, "%s:%u.%02u", name, twentieths / 20, twentieths % 20 * 5);
}

static void say_resource(struct dg_context *ctx, const struct memory *m, const char *name,
                         const struct dg_resource *r, unsigned long samples)
{
    char key[3 * NAME];
    const char **users = dg_alloc_array(ctx->arena, DG_FIT_OPS, sizeof *users);
    size_t count = 0;
    for (size_t i = 0; users != NULL && i < m->ops; i++)
        if (r->units[i] > 0.024)
            users[count++] = user_text(ctx, m->name[i], r->units[i]);
    if (count == 0)
        return;
    dg_format(key, sizeof key, "res.%s.capacity", name);
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "1/cycle", .value = r->capacity, .low = 0.98 * r->capacity,
        .high = 1.02 * r->capacity, .confidence = 1, .samples = samples,
        .method = "fit of single and pair rates" });
    dg_format(key, sizeof key, "res.%s.users", name);
    dg_say_list(ctx, key, "fit of single and pair rates", users, count);
}

/* The name of a user without dtype and bits. */
static void short_name(char out[NAME], const char *name)
{
    memcpy(out, name, NAME);
    out[strcspn(out, ".")] = '\0';
}

/* f32_256_fma: kind, bits, and the first operation that uses it; of a shared one the first two. */
static void name_resource(char out[2 * NAME], const struct memory *m, const struct dg_resource *r,
                          const char *kind, unsigned bits, unsigned number)
{
    char users[2][NAME] = { "op", "" }, end[16] = "";
    size_t count = 0;
    for (size_t i = 0; i < m->ops; i++)
        if (r->units[i] > 0.024 && count++ < 2)
            short_name(users[count - 1], m->name[i]);
    if (r->kind == DG_FIT_ISSUE)
        memcpy(users[0], "issue", 6);
    if (number > 0)
        dg_format(end, sizeof end, "_%u", number + 1);
    bool both = count > 1 && r->kind == DG_FIT_SHARED;
    dg_format(out, 2 * NAME, "%s_%u_%s%s%s%s", kind, bits, users[0], both ? "_" : "",
              both ? users[1] : "", end);
}

static void say_fit(struct dg_context *ctx, const struct memory *m, const char *kind,
                    unsigned bits, const struct dg_fit *fit, unsigned long samples)
{
    char names[DG_FIT_RESOURCES][2 * NAME];
    for (size_t i = 0; i < fit->count; i++) {
        unsigned number = 0;
        bool taken = true;
        while (taken) {
            name_resource(names[i], m, &fit->resource[i], kind, bits, number++);
            taken = false;
            for (size_t j = 0; j < i; j++)
                taken |= strcmp(names[i], names[j]) == 0;
        }
        say_resource(ctx, m, names[i], &fit->resource[i], samples);
    }
}

static void fit_kind(struct dg_context *ctx, struct memory *m, const char *kind, unsigned bits)
{
    struct dg_pair_time *time = dg_alloc_array(ctx->scratch, m->pairs + 1, sizeof *time);
    struct dg_fit *fit = dg_alloc(ctx->scratch, sizeof *fit);
    unsigned long samples = 0;
    if (time == NULL || fit == NULL || m->pairs == 0)
        return;
    for (size_t i = 0; i < m->pairs; i++) {
        double values[REPEATS];
        memcpy(values, m->pair[i].cycles, sizeof values);
        time[i] = (struct dg_pair_time){
            m->pair[i].a, m->pair[i].b, m->pair[i].count_a, m->pair[i].count_b,
            dg_stat_fastest(values, m->pair[i].repeats).median };
        samples += m->pair[i].samples;
    }
    struct dg_fit_input input = { m->ops, m->alone, time, m->pairs };
    dg_infer_resources(&input, fit);
    say_fit(ctx, m, kind, bits, fit, samples);
}

static void measure_kind(struct dg_context *ctx, struct memory *m, const char *kind, unsigned bits)
{
    m->ops = 0;
    if (find_ops(ctx, m, kind, bits) == 0)
        return;
    size_t vectors = m->ops;
    find_ops(ctx, m, "scalar", 64);
    for (unsigned a = 0; a < vectors; a++)
        for (unsigned b = a + 1; b < m->ops; b++)
            for (size_t g = 0; g < GROUPS && !ctx->stopped; g++)
                read_pair(ctx, m, a, b, groups[g]);
    if (!ctx->stopped)
        fit_kind(ctx, m, kind, bits);
}

void dg_probe_pairs(struct dg_context *ctx)
{
    unsigned bits = dg_kernel_bits(ctx);
    if (*ctx->carry == NULL)
        *ctx->carry = dg_alloc_array(ctx->arena, KINDS, sizeof(struct memory));
    struct memory *memory = *ctx->carry;
    const char *kind = "scalar";
    for (size_t i = 0, kinds = 0; memory != NULL && i < PAIRED_COUNT && kinds < KINDS; i++) {
        bool fresh = strcmp(paired[i].kind, kind) != 0 && strcmp(paired[i].kind, "scalar") != 0;
        kind = paired[i].kind;
        if (fresh && (!ctx->quick || strcmp(kind, "f32") == 0))
            measure_kind(ctx, &memory[kinds++], kind, bits);
    }
}
