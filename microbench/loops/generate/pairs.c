/* SPDX-License-Identifier: Apache-2.0
 * Pair loops: two rows side by side, independent of each other, in a few ratios. Their rates show
 * which rows share a resource. Which rows: pairs.def, in the target's own width. */
#include "microbench/loops/generate/generate.h"

#include <string.h>

static const struct paired { const char *kind, *name, *dtype; } paired[] = {
#define PAIRED(kind, name, dtype) {#kind, #name, #dtype},
#include "microbench/loops/pairs.def"
#undef PAIRED
};
enum { PAIRED_COUNT = sizeof paired / sizeof *paired, GROUPS = 24, DESTINATIONS = 3 };
static const struct ratio { unsigned a, b; } ratios[] = {{1, 1}, {2, 1}, {1, 2}};
#define LOOP_PROTOTYPE "void dg_loop_%u(uint64_t trips, void *block);\n"

/* The registers that one row of a loop may use: accumulators need as many as there are, the
 * others only a few, because nothing waits for their results. */
struct share { unsigned first, count; };

static bool accumulates(const struct dg_op *op)
{
    return op->operands[0] == 'a';
}

static void split(const struct dg_isa *isa, const struct dg_op *const ops[2],
                  struct share shares[2])
{
    unsigned accumulators = 0, others = 0, next = 0;
    for (unsigned i = 0; i < 2; i++) {
        accumulators += gen_is_vector(ops[i]) && accumulates(ops[i]);
        others += gen_is_vector(ops[i]) && !accumulates(ops[i]);
    }
    unsigned left = isa->vector_registers - 2 - others * DESTINATIONS;
    for (unsigned i = 0; i < 2; i++) {
        shares[i].first = gen_is_vector(ops[i]) ? next : 0;
        shares[i].count = !gen_is_vector(ops[i]) ? 8
                        : accumulates(ops[i]) ? left / (accumulators > 1 ? 2 : 1) : DESTINATIONS;
        next += gen_is_vector(ops[i]) ? shares[i].count : 0;
    }
}

/* Groups of counts[i] of ops[i], GROUPS of them, registers and addresses going round. */
static void body(struct gen *g, const struct dg_isa *isa, const struct dg_op *const ops[2],
                 struct ratio ratio)
{
    const unsigned counts[2] = {ratio.a, ratio.b};
    struct share shares[2];
    unsigned done[2] = {0};
    split(isa, ops, shares);
    for (unsigned group = 0; group < GROUPS; group++)
        for (unsigned i = 0; i < 2; i++)
            for (unsigned n = 0; n < counts[i]; n++, done[i]++)
                gen_rate_instance(g, ops[i], isa->vector_registers,
                                  shares[i].first + done[i] % shares[i].count, done[i],
                                  !gen_is_vector(ops[i]));
}

static void pair(struct gen *g, const struct dg_isa *isa, const struct dg_op *a,
                 const struct dg_op *b, struct ratio ratio)
{
    const struct dg_op *const ops[] = {a, b};
    char label[32], key_a[64], key_b[64], features[TEXT];
    gen_features(features, a, b);
    unsigned number = gen_begin(g, LOOP_PROTOTYPE, features);
    snprintf(label, sizeof label, ".Lloop%u", g->labels++);
    gen_enter(g, a->dtype, a->bits, isa->vector_registers);
    fprintf(g->s, "\t.p2align 6\n%s:\n", label);
    body(g, isa, ops, ratio);
    gen_count_down(g, label);
    gen_leave(g, strcmp(isa->name, "x86_64-sse2") == 0 ? 0 : 256);
    gen_end(g, number);
    gen_key(a, key_a);
    gen_key(b, key_b);
    fprintf(g->table[TABLE_LOOPS],
            "    {DG_LOOP_PAIR, \"%s\", \"%s\", 0, 0, %u, %u, \"%s\", %d, dg_loop_%u},\n",
            key_a, key_b, ratio.a, ratio.b, features, GROUPS, number);
}

/* Rows of a kind; none when the kind's own type is not among them. */
static unsigned find(const struct dg_isa *isa, const char *kind, unsigned bits,
                     const struct dg_op **ops)
{
    unsigned count = 0;
    bool own = strcmp(kind, "scalar") == 0;
    for (unsigned i = 0; i < PAIRED_COUNT; i++) {
        const struct dg_op *op = strcmp(paired[i].kind, kind) != 0 ? NULL
                               : dg_isa_op_named(isa, paired[i].name, paired[i].dtype, bits);
        if (op != NULL)
            ops[count++] = op;
        own |= op != NULL && strcmp(op->dtype, kind) == 0;
    }
    return own ? count : 0;
}

static void pairs_of(struct gen *g, const struct dg_isa *isa, const char *kind)
{
    const struct dg_op *ops[PAIRED_COUNT];
    unsigned vectors = find(isa, kind, isa->vector_bits, ops);
    unsigned count = vectors + find(isa, "scalar", 64, ops + vectors);
    for (unsigned i = 0; i < vectors; i++)
        for (unsigned j = i + 1; j < count; j++)
            for (unsigned r = 0; r < 3; r++)
                pair(g, isa, ops[i], ops[j], ratios[r]);
}

void gen_pairs(struct gen *g, const struct dg_isa *isa)
{
    for (unsigned i = 0; i < PAIRED_COUNT; i++) {
        bool again = i > 0 && strcmp(paired[i].kind, paired[i - 1].kind) == 0;
        if (!again && strcmp(paired[i].kind, "scalar") != 0)
            pairs_of(g, isa, paired[i].kind);
    }
}
