/* SPDX-License-Identifier: Apache-2.0
 * Pair loops: two rows side by side, independent of each other, in a few ratios. Their rates show
 * which rows share a resource. "all" as the other row means one each of fma, add, mul, load,
 * broadcast and store. */
#include "microbench/loops/generate/generate.h"

#include <string.h>

static const enum dg_sem partners[] = {
    DG_SEM_FMA, DG_SEM_ADD, DG_SEM_MUL, DG_SEM_LOAD, DG_SEM_BROADCAST, DG_SEM_STORE,
    DG_SEM_FMA_LOAD, DG_SEM_FMA_BROADCAST, DG_SEM_LOAD_ELEMENT, DG_SEM_FMA_ELEMENT,
};
enum { PARTNERS = sizeof partners / sizeof *partners, GROUPS = 24, DESTINATIONS = 3 };
static const struct ratio { unsigned a, b; } ratios[] = {{1, 1}, {2, 1}, {1, 2}};
#define LOOP_PROTOTYPE "void dg_loop_%u(uint64_t trips, void *block);\n"

/* The registers that one row of a loop may use: accumulators need as many as there are, the
 * others only a few, because nothing waits for their results. */
struct share { unsigned first, count; };

static bool accumulates(const struct dg_op *op)
{
    return op->operands[0] == 'a';
}

static void split(const struct dg_isa *isa, const struct dg_op *const *ops, unsigned count,
                  struct share *shares)
{
    unsigned accumulators = 0, others = 0, next = 0;
    for (unsigned i = 0; i < count; i++) {
        accumulators += gen_is_vector(ops[i]) && accumulates(ops[i]);
        others += gen_is_vector(ops[i]) && !accumulates(ops[i]);
    }
    unsigned destinations = others > 2 ? 1 : DESTINATIONS;
    unsigned left = isa->vector_registers - 2 - others * destinations;
    for (unsigned i = 0; i < count; i++) {
        shares[i].first = gen_is_vector(ops[i]) ? next : 0;
        bool adds_up = accumulates(ops[i]) && accumulators > 0;
        shares[i].count = !gen_is_vector(ops[i]) ? 8
                        : adds_up ? left / accumulators : destinations;
        next += gen_is_vector(ops[i]) ? shares[i].count : 0;
    }
}

static unsigned begin(struct gen *g, const struct dg_isa *isa, const struct dg_op *op, char *label)
{
    unsigned number = gen_begin(g, LOOP_PROTOTYPE);
    snprintf(label, 32, ".Lloop%u", g->labels++);
    gen_enter(g, op->dtype, gen_is_vector(op) ? op->bits : 0, isa->vector_registers);
    fprintf(g->s, "\t.p2align 6\n%s:\n", label);
    return number;
}

/* Groups of counts[i] of ops[i], GROUPS of them, registers and addresses going round. */
static void body(struct gen *g, const struct dg_isa *isa, const struct dg_op *const *ops,
                 const unsigned *counts, unsigned count)
{
    struct share shares[PARTNERS];
    unsigned done[PARTNERS] = {0};
    split(isa, ops, count, shares);
    for (unsigned group = 0; group < GROUPS; group++)
        for (unsigned i = 0; i < count; i++)
            for (unsigned n = 0; n < counts[i]; n++, done[i]++)
                gen_rate_instance(g, ops[i], isa->vector_registers,
                                  shares[i].first + done[i] % shares[i].count, done[i],
                                  !gen_is_vector(ops[i]));
}

static void end(struct gen *g, const struct dg_isa *isa, const char *label, unsigned number)
{
    gen_count_down(g, label);
    gen_leave(g, strcmp(isa->name, "x86_64-sse2") == 0 ? 0 : 256);
    gen_end(g, number);
}

static void pair(struct gen *g, const struct dg_isa *isa, const struct dg_op *a,
                 const struct dg_op *b, struct ratio ratio)
{
    const struct dg_op *ops[] = {a, b};
    unsigned counts[] = {ratio.a, ratio.b};
    char label[32], key_a[64], key_b[64], features[TEXT];
    unsigned number = begin(g, isa, a, label);
    body(g, isa, ops, counts, 2);
    end(g, isa, label, number);
    gen_key(a, key_a);
    gen_key(b, key_b);
    gen_features(features, a, b);
    fprintf(g->table[TABLE_LOOPS],
            "    {DG_LOOP_PAIR, \"%s\", \"%s\", 0, 0, %u, %u, \"%s\", %d, dg_loop_%u},\n",
            key_a, key_b, ratio.a, ratio.b, features, GROUPS, number);
}

static void all_together(struct gen *g, const struct dg_isa *isa,
                         const struct dg_op *const *ops, unsigned count)
{
    static const unsigned ones[PARTNERS] = {1, 1, 1, 1, 1, 1};
    char label[32], key[64], features[TEXT];
    unsigned number = begin(g, isa, ops[0], label);
    body(g, isa, ops, ones, count);
    end(g, isa, label, number);
    gen_key(ops[0], key);
    gen_features(features, ops[0], ops[1]);
    fprintf(g->table[TABLE_LOOPS],
            "    {DG_LOOP_PAIR, \"%s\", \"all\", 0, 0, 1, 1, \"%s\", %d, dg_loop_%u},\n",
            key, features, GROUPS, number);
}

static void pairs_of(struct gen *g, const struct dg_isa *isa, const char *dtype, unsigned bits)
{
    static const char *const scalars[] = {"add", "prefetch_l1"};
    const struct dg_op *ops[PARTNERS];
    unsigned count = 0;
    for (unsigned i = 0; i < PARTNERS; i++) {
        const struct dg_op *op = dg_isa_op(isa, partners[i], dtype, bits, 0);
        if (op != NULL && gen_first_of_key(isa, op))
            ops[count++] = op;
    }
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = i + 1; j < count; j++)
            for (unsigned r = 0; r < 3; r++)
                pair(g, isa, ops[i], ops[j], ratios[r]);
        for (unsigned s = 0; s < 2; s++) {
            const struct dg_op *scalar = dg_isa_op_named(isa, scalars[s], "i64", 64);
            for (unsigned r = 0; scalar != NULL && r < 3; r++)
                pair(g, isa, ops[i], scalar, ratios[r]);
        }
    }
    /* The other multiply-adds would leave too few accumulators to each. */
    while (count > 0 && ops[count - 1]->sem != DG_SEM_STORE)
        count--;
    if (count > 2 && accumulates(ops[0]))
        all_together(g, isa, ops, count);
}

void gen_pairs(struct gen *g, const struct dg_isa *isa)
{
    static const char *const dtypes[] = {"f32", "f64"};
    static const unsigned bits[] = {128, 256, 512};
    for (unsigned d = 0; d < 2; d++)
        for (unsigned b = 0; b < 3; b++)
            pairs_of(g, isa, dtypes[d], bits[b]);
}
