/* SPDX-License-Identifier: Apache-2.0
 * Latency and rate loops, one row at a time. Values stay normal and non-zero: accumulators start
 * at 1, sums add 2^-40, products multiply by 1, so that nothing grows and nothing underflows. */
#include "microbench/loops/generate/generate.h"

#include <string.h>

#include "microbench/loops/chains.h"
#include "microbench/loops/loops.h"

/* Steps of a trip; a dependent loop of 8-bit multiply-accumulates has 1000. */
enum { UNROLL = 64, LONG_UNROLL = 1000 };
#define LOOP_PROTOTYPE "void dg_loop_%u(uint64_t trips, void *block);\n"

/* The other source of an operation: 1 for products and extremes, 2^-40 for sums. */
static bool multiplies(const struct dg_op *op)
{
    static const char *const names[] = {"mul", "max", "min"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op->name, names[i]) == 0)
            return true;
    return false;
}

/* Every operand of a row as a constant, memory by the instance's number. */
static void constants(const struct gen *g, const struct dg_op *op, unsigned registers,
                      unsigned index, struct operand *out)
{
    bool written = op->operands[0] == 'm' || op->operands[0] == 'c';
    unsigned bytes = op->bits / 8 > 0 ? op->bits / 8 : 8;
    for (int i = 0; op->operands[i] != '\0'; i++) {
        out[i].vector = out[i].offset = -1;
        out[i].crossing = op->operands[i] == 'c';
        out[i].text[0] = '\0';
        switch (op->operands[i]) {
        case 't':
            out[i].vector = (int)registers - 3;
            break;
        case 'v': case 'a': case 'd':
            out[i].vector = (int)registers - (multiplies(op) || written || i < 2 ? 1 : 2);
            break;
        case 'r': case 'g': case 'h':
            snprintf(out[i].text, sizeof out[i].text, "%s", gen_scalar_constant(g));
            break;
        case 'i':
            snprintf(out[i].text, sizeof out[i].text, g->x86 ? "$3" : "#3");
            break;
        case 's':
            snprintf(out[i].text, sizeof out[i].text, g->x86 ? "%u(%%rsp)" : "[sp, #%u]",
                     index * 8 % 128);
            break;
        case 'm': case 'c':
            /* no line is longer than 256 bytes: at a multiple of that every line ends */
            out[i].offset = (int)((written ? DG_BLOCK_STORE : gen_memory(op->dtype)) +
                                  (out[i].crossing ? (index % 3 + 1) * 256 : index * bytes % 1024));
            break;
        }
    }
    /* a comparison with itself is known without being made */
    if (strcmp(op->operands, "vv") == 0)
        out[1].vector = (int)registers - 2;
    /* a = a + v: the only source is the addend. */
    if (strcmp(op->operands, "av") == 0 && !multiplies(op))
        out[1].vector = (int)registers - 2;
    if (strcmp(op->operands, "avm") == 0)
        out[1].vector = (int)registers - 2;
}

static void set_register(const struct gen *g, const struct dg_op *op, int operand, unsigned reg,
                         struct operand *out)
{
    if (strchr("dav", op->operands[operand]) != NULL)
        out[operand].vector = (int)reg;
    else
        snprintf(out[operand].text, sizeof out[operand].text, "%s", gen_scalar(g, reg));
}

bool gen_rate_instance(struct gen *g, const struct dg_op *op, unsigned registers, unsigned reg,
                       unsigned index, bool chained)
{
    struct operand operands[MAX_OPERANDS];
    int written;
    constants(g, op, registers, index, operands);
    if (gen_writes(op, &written)) {
        set_register(g, op, written, reg, operands);
        /* x = x + c: the chain goes through the first source. */
        if (chained && op->operands[written] == 'd' && op->operands[1] == 'v' &&
            op->sem != DG_SEM_MOVE)
            set_register(g, op, 1, reg, operands);
    }
    return gen_line(g, op, operands);
}

static void loop_entry(struct gen *g, const struct dg_op *op, const char *kind, unsigned operand,
                       unsigned chains, unsigned per_trip, unsigned number)
{
    char key[64];
    gen_key(op, key);
    fprintf(g->table[TABLE_LOOPS],
            "    {%s, \"%s\", NULL, %u, %u, 0, 0, \"%s\", %u, dg_loop_%u},\n",
            kind, key, operand, chains, op->feature, per_trip, number);
}

static void absent(struct gen *g, const struct dg_op *op, const char *reason)
{
    char key[64];
    gen_key(op, key);
    fprintf(g->table[TABLE_ABSENT], "    {\"%s\", \"%s\"},\n", key, reason);
}

/* One step of a chain through `operand`; rows that also accumulate go to and fro between two
 * registers, so that only the way through `operand` is the newest value. */
static bool chain_step(struct gen *g, const struct dg_op *op, unsigned registers, int operand,
                       int written, unsigned step)
{
    struct operand operands[MAX_OPERANDS];
    bool alternate = operand != written &&
                     (op->operands[written] == 'a' || op->operands[written] == 'h' ||
                      op->sem == DG_SEM_MOVE || op->sem == DG_SEM_COPY);
    unsigned to = alternate ? step & 1 : 0;
    constants(g, op, registers, 0, operands);
    if (operand != written && strcmp(op->operands, "avv") == 0)
        operands[operand == 1 ? 2 : 1].vector = (int)registers - 2;
    if (operand == 2 && strcmp(op->operands, "dvv") == 0)
        operands[1].vector = (int)registers - (multiplies(op) ? 1 : 2);
    set_register(g, op, written, to, operands);
    if (operand != written)
        set_register(g, op, operand, alternate ? 1 - to : 0, operands);
    return gen_line(g, op, operands);
}

static void latency_loop(struct gen *g, const struct dg_isa *isa, const struct dg_op *op,
                         int operand, int written)
{
    char label[32];
    unsigned bits = gen_is_vector(op) ? op->bits : 0;
    unsigned number = gen_begin(g, LOOP_PROTOTYPE, op->feature);
    unsigned unroll = op->operands[operand] == 'a' && strstr(op->dtype, "8") != NULL ? LONG_UNROLL
                                                                                     : UNROLL;
    snprintf(label, sizeof label, ".Lloop%u", g->labels++);
    gen_enter(g, op->dtype, bits, bits > 0 ? isa->vector_registers : 0);
    fprintf(g->s, "\t.p2align 6\n%s:\n\t.rept %u\n", label, unroll / 2);
    chain_step(g, op, isa->vector_registers, operand, written, 0);
    chain_step(g, op, isa->vector_registers, operand, written, 1);
    fprintf(g->s, "\t.endr\n");
    gen_count_down(g, label);
    gen_leave(g, strcmp(isa->name, "x86_64-sse2") == 0 || bits == 0 ? 0 : 256);
    gen_end(g, number);
    loop_entry(g, op, "DG_LOOP_LATENCY", (unsigned)operand, 1, unroll, number);
}

static void rate_loop(struct gen *g, const struct dg_isa *isa, const struct dg_op *op,
                      unsigned chains)
{
    char label[32];
    unsigned bits = gen_is_vector(op) ? op->bits : 0;
    unsigned repeats = (UNROLL + chains - 1) / chains;
    unsigned number = gen_begin(g, LOOP_PROTOTYPE, op->feature);
    snprintf(label, sizeof label, ".Lloop%u", g->labels++);
    gen_enter(g, op->dtype, bits, bits > 0 ? isa->vector_registers : 0);
    fprintf(g->s, "\t.p2align 6\n%s:\n\t.rept %u\n", label, repeats);
    for (unsigned i = 0; i < chains; i++)
        gen_rate_instance(g, op, isa->vector_registers, i, i, true);
    fprintf(g->s, "\t.endr\n");
    gen_count_down(g, label);
    gen_leave(g, strcmp(isa->name, "x86_64-sse2") == 0 || bits == 0 ? 0 : 256);
    gen_end(g, number);
    loop_entry(g, op, "DG_LOOP_RATE", 0, chains, chains * repeats, number);
}

/* Why a row has no latency loop; NULL: it has. */
static const char *no_latency(const struct dg_op *op)
{
    int written;
    if (!gen_writes(op, &written))
        return "gives no register: only its rate is measured";
    if (op->operands[written] == 'a' || op->operands[written] == 'h')
        return NULL;
    if (strpbrk(op->operands, "mcs") != NULL)
        return "from memory to a register: chases measure it";
    if (strpbrk(op->operands, op->operands[written] == 'd' ? "r" : "v") != NULL)
        return "from one kind of register to the other: only the way there and back is a chain";
    if (strpbrk(op->operands, "vr") == NULL)
        return "reads no register: only its rate is measured";
    return NULL;
}

static bool understood(const struct gen *g, const struct dg_op *op, unsigned registers)
{
    struct operand operands[MAX_OPERANDS];
    char text[TEXT];
    if (strlen(op->operands) > MAX_OPERANDS || strspn(op->operands, "davtmcghris") !=
        strlen(op->operands))
        return false;
    constants(g, op, registers, 0, operands);
    return gen_render(g, op, operands, text);
}

static void latencies(struct gen *g, const struct dg_isa *isa, const struct dg_op *op)
{
    const char *reason = no_latency(op);
    int written = 0;
    if (reason != NULL) {
        absent(g, op, reason);
        return;
    }
    gen_writes(op, &written);
    for (int i = 0; op->operands[i] != '\0'; i++) {
        /* Two-operand float sums to and fro would grow without end. */
        bool grows = i == 1 && strcmp(op->operands, "av") == 0;
        if (strchr("avhr", op->operands[i]) != NULL && !grows)
            latency_loop(g, isa, op, i, written);
    }
}

static void operation(struct gen *g, const struct dg_isa *isa, const struct dg_op *op)
{
    if (strchr(op->operands, 'l') != NULL) {
        absent(g, op, "a branch: part of every loop");
        return;
    }
    if (op->part != 0 && op->sem != DG_SEM_FOLD && op->sem != DG_SEM_LANES_DOWN) {
        absent(g, op, "pieces of a vector: the rows that these are made of are measured");
        return;
    }
    if (!understood(g, op, isa->vector_registers)) {
        absent(g, op, "template not understood by the generator");
        return;
    }
    latencies(g, isa, op);
    unsigned most = gen_is_vector(op) ? isa->vector_registers - 2 : gen_scalars(g);
    if (strchr(op->operands, 't') != NULL)
        most--;
    for (unsigned i = 0; i < DG_CHAIN_COUNTS; i++)
        if (dg_chain_counts[i].chains <= most && dg_chain_counts[i].reach <= dg_chain_reach(op))
            rate_loop(g, isa, op, dg_chain_counts[i].chains);
}

/* Scalar rows are shared by the targets of an architecture: the first one's loops serve all. */
static bool done_before(const struct dg_isa *isa, const struct dg_op *op)
{
    for (size_t i = 0; dg_isas[i] != isa; i++)
        if (strcmp(dg_isas[i]->architecture, isa->architecture) == 0 && !gen_is_vector(op) &&
            dg_isa_op_named(dg_isas[i], op->name, op->dtype, op->bits) != NULL)
            return true;
    return false;
}

void gen_operations(struct gen *g, const struct dg_isa *isa)
{
    for (size_t i = 0; i < isa->op_count; i++) {
        const struct dg_op *op = &isa->ops[i];
        if (gen_first_of_key(isa, op) && !done_before(isa, op))
            operation(g, isa, op);
    }
}
