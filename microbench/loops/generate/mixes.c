/* SPDX-License-Identifier: Apache-2.0
 * Mixes: `vectors` loads of a stream and `rows` broadcasts a step, a multiply for each pair of
 * them, then the accumulators are stored and the streams move on. What a multiply is made of says
 * bodies.def; the rows' text comes from isa/. */
#include "microbench/loops/generate/generate.h"

#include <stddef.h>
#include <string.h>

#include "microbench/bodies.h"
#include "microbench/loops/loops.h"

#define MIX_PROTOTYPE "void dg_loop_%u(struct dg_mix_state *state);\n"
#define AT(field) offsetof(struct dg_mix_state, field)

struct mix {
    struct gen *g;
    struct dg_mix_form form;
    unsigned bits, vectors, rows, prefetch;
    unsigned bytes, narrow;              /* of a vector, and what it takes of the stream */
    bool hold_vectors;                   /* else the broadcasts are held */
    unsigned temporary;                  /* first register after the accumulators */
    unsigned product;                    /* where the multiply does not accumulate */
};

/* Pointers into the rows: on x86 each serves four, on AArch64 one (x18 is the platform's). What
 * moves from turn to turn stays in registers, as in a kernel; through memory a turn with stores
 * came out up to 20 cycles dearer. On x86 %r15 holds S, %rbx C, %rbp the prefetches. */
static const char *const x86_rows[] = {"%r8", "%r9", "%r10", "%r11", "%r12", "%r13", "%r14"};
static const char *const arm_rows[] = {
    "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
    "x19", "x20", "x21", "x22", "x23", "x24",
};
/* On AArch64: the first row's pointer too, turns until S moves, the next panel, turns left. */
#define ARM_S "x25"
#define ARM_R "x26"
#define ARM_C "x27"
#define ARM_REPEAT_LEFT "x28"
#define ARM_PREFETCH "x7"
#define ARM_NEXT "x29"
#define ARM_TURNS "x30"

static unsigned accumulator(const struct mix *m, unsigned row, unsigned vector)
{
    return row * m->vectors + vector;
}

static void line(const struct mix *m, const struct dg_op *op, int a, int b, int c,
                 const char *memory)
{
    struct operand operands[MAX_OPERANDS] = {
        {a, -1, false, ""}, {b, -1, false, ""}, {c, -1, false, ""}, {-1, -1, false, ""},
    };
    for (int i = 0; i < MAX_OPERANDS && op->operands[i] != '\0'; i++)
        if (op->operands[i] == 'm') {
            operands[i].vector = -1;
            snprintf(operands[i].text, sizeof operands[i].text, "%s", memory);
        }
    gen_line(m->g, op, operands);
}

/* Row i: four share a pointer on x86 (pointer, + stride, + 2 strides, + 3 strides). */
static void row_address(const struct mix *m, unsigned row, unsigned step, char out[48])
{
    unsigned offset = step * m->form.body->element;
    const char *pointer = m->g->x86 ? x86_rows[row / 4] : NULL;
    if (!m->g->x86)
        snprintf(out, 48, "[%s, #%u]", arm_rows[row], offset);
    else if (row % 4 == 0)
        snprintf(out, 48, "%u(%s)", offset, pointer);
    else if (row % 4 == 1)
        snprintf(out, 48, "%u(%s,%%rax)", offset, pointer);
    else if (row % 4 == 2)
        snprintf(out, 48, "%u(%s,%%rax,2)", offset, pointer);
    else
        snprintf(out, 48, "%u(%s,%%rdx)", offset, pointer);
}

static void vector_load(const struct mix *m, unsigned vector, unsigned step, unsigned into)
{
    char memory[48];
    unsigned offset = (step * m->vectors + vector) * m->narrow;
    snprintf(memory, sizeof memory, m->g->x86 ? "%u(%%rsi)" : "[x1, #%u]", offset);
    line(m, m->form.op[DG_MIX_LOAD], (int)into, -1, -1, memory);
}

static void row_load(const struct mix *m, unsigned row, unsigned step, unsigned into)
{
    char memory[48];
    row_address(m, row, step, memory);
    line(m, m->form.op[DG_MIX_BROADCAST], (int)into, -1, -1, memory);
}

static void multiply(const struct mix *m, int sum, int of_stream, int of_rows)
{
    const struct dg_op *const *op = m->form.op;
    int product = (int)m->product;
    if (m->form.accumulates) {
        line(m, op[DG_MIX_MULTIPLY], sum, of_stream, of_rows, "");
        return;
    }
    line(m, op[DG_MIX_MULTIPLY], product, of_stream, of_rows, "");
    line(m, op[DG_MIX_ADD], sum, sum, product, "");
}

/* One vector, and each row straight from memory. */
static void folded_step(const struct mix *m, unsigned n)
{
    vector_load(m, 0, n, m->temporary);
    for (unsigned row = 0; row < m->rows; row++) {
        char memory[48];
        row_address(m, row, n, memory);
        line(m, m->form.op[DG_MIX_FOLDED], (int)accumulator(m, row, 0), (int)m->temporary, -1,
             memory);
    }
}

/* The smaller side is held, the other passes through one register. */
static void step(const struct mix *m, unsigned n)
{
    if (m->vectors == 1 && m->form.op[DG_MIX_FOLDED] != NULL) {
        folded_step(m, n);
        return;
    }
    unsigned held = m->hold_vectors ? m->vectors : m->rows;
    unsigned passing = m->hold_vectors ? m->rows : m->vectors;
    unsigned through = m->temporary + held;
    for (unsigned i = 0; i < held; i++) {
        if (m->hold_vectors)
            vector_load(m, i, n, m->temporary + i);
        else
            row_load(m, i, n, m->temporary + i);
    }
    for (unsigned p = 0; p < passing; p++) {
        if (m->hold_vectors)
            row_load(m, p, n, through);
        else
            vector_load(m, p, n, through);
        for (unsigned i = 0; i < held; i++) {
            unsigned row = m->hold_vectors ? p : i, vector = m->hold_vectors ? i : p;
            unsigned of_rows = m->hold_vectors ? through : m->temporary + i;
            unsigned of_stream = m->hold_vectors ? m->temporary + i : through;
            multiply(m, (int)accumulator(m, row, vector), (int)of_stream, (int)of_rows);
        }
    }
}

static void zero_all(const struct mix *m)
{
    for (unsigned i = 0; i < m->vectors * m->rows; i++)
        line(m, m->form.op[DG_MIX_ZERO], (int)i, -1, -1, "");
}

static void store_all(const struct mix *m, bool read)
{
    FILE *s = m->g->s;
    for (unsigned row = 0; row < m->rows; row++) {
        for (unsigned v = 0; v < m->vectors; v++) {
            char memory[48];
            int from = (int)accumulator(m, row, v), free = (int)m->temporary;
            snprintf(memory, sizeof memory, m->g->x86 ? "%u(%%rbx)" : "[x5, #%u]", v * m->bytes);
            if (read) {
                line(m, m->form.op[DG_MIX_RELOAD], free, -1, -1, memory);
                line(m, m->form.op[DG_MIX_ADD], from, from, free, "");
            }
            line(m, m->form.op[DG_MIX_STORE], -1, from, -1, memory);
        }
        if (row + 1 < m->rows)
            fprintf(s, m->g->x86 ? "\tadd %%rdx, %%rbx\n" : "\tadd x5, x5, x6\n");
    }
}

static void x86_turn_start(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    fprintf(s, ".Lturn%u:\n\tmov %zu(%%rdi), %%rcx\n\tmov %%r15, %%rsi\n"
            "\tmov %zu(%%rdi), %%rax\n\tlea (%%rax,%%rax,2), %%rdx\n",
            label, AT(trips), AT(row_stride));
    for (unsigned i = 1; i < (m->rows + 3) / 4; i++)
        fprintf(s, "\tlea (%s,%%rax,4), %s\n", x86_rows[i - 1], x86_rows[i]);
    zero_all(m);
    fprintf(s, "\t.p2align 5\n.Ltrip%u:\n", label);
}

static void x86_trip_end(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    for (unsigned i = 0; i < m->prefetch; i++)
        fprintf(s, "\tprefetcht1 %u(%%rbp)\n", 64 * i);
    if (m->prefetch > 0)
        fprintf(s, "\tadd $%u, %%rbp\n", 64 * m->prefetch);
    for (unsigned i = 0; i < (m->rows + 3) / 4; i++)
        fprintf(s, "\tadd $%u, %s\n", DG_MIX_STEPS * m->form.body->element, x86_rows[i]);
    fprintf(s, "\tadd $%u, %%rsi\n\tdec %%rcx\n\tjnz .Ltrip%u\n",
            DG_MIX_STEPS * m->vectors * m->narrow, label);
}

/* The stack holds what the rows of C and the steps of A moved their pointers by. */
enum { C_BACK = 0, R_BACK = 8, FRAME = 16 };

static void x86_stores(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    fprintf(s, "\tmov %zu(%%rdi), %%rdx\n\tmov %zu(%%rdi), %%eax\n"
            "\tcmp $1, %%eax\n\tjb .Lmove%u\n\tja .Lread%u\n",
            AT(c_row_stride), AT(mode), label, label);
    store_all(m, false);
    fprintf(s, "\tjmp .Lback%u\n.Lread%u:\n", label, label);
    store_all(m, true);
    fprintf(s, ".Lback%u:\n\tsub %u(%%rsp), %%rbx\n.Lmove%u:\n", label, C_BACK, label);
}

/* A stream's pointer moves on by its turn and wraps at its region's end, without a branch. */
static void x86_advance(FILE *s, const char *pointer, size_t turn, size_t start, size_t end)
{
    fprintf(s, "\tadd %zu(%%rdi), %s\n\tcmp %zu(%%rdi), %s\n\tcmovae %zu(%%rdi), %s\n", turn,
            pointer, end, pointer, start, pointer);
}

static void x86_moves(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    fprintf(s, "\tsub %u(%%rsp), %%r8\n", R_BACK);
    x86_advance(s, "%r8", AT(r_turn), AT(r_start), AT(r_end));
    x86_advance(s, "%rbx", AT(c_turn), AT(c_start), AT(c_end));
    fprintf(s, "\tdecq %zu(%%rdi)\n\tjnz .Lstay%u\n\tmov %zu(%%rdi), %%rax\n"
            "\tmov %%rax, %zu(%%rdi)\n", AT(repeat_left), label, AT(s_repeat), AT(repeat_left));
    x86_advance(s, "%r15", AT(s_turn), AT(s_start), AT(s_end));
    if (m->prefetch > 0) {
        fprintf(s, "\tmov %zu(%%rdi), %%rbp\n", AT(next));
        x86_advance(s, "%rbp", AT(s_turn), AT(s_start), AT(s_end));
        fprintf(s, "\tmov %%rbp, %zu(%%rdi)\n\tjmp .Lnext%u\n", AT(next), label);
    }
    fprintf(s, ".Lstay%u:\n", label);
    if (m->prefetch > 0) {
        /* The whole next panel is on its way: start over instead of running ahead of it. */
        fprintf(s, "\tmov %zu(%%rdi), %%rax\n\tmov %zu(%%rdi), %%rdx\n\tadd %%rax, %%rdx\n"
                "\tcmp %%rdx, %%rbp\n\tcmovae %%rax, %%rbp\n.Lnext%u:\n",
                AT(next), AT(panel), label);
    }
    fprintf(s, "\tdecq %zu(%%rdi)\n\tjnz .Lturn%u\n", AT(turns), label);
}

static void x86_mix(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    fprintf(s, "\tpush %%rbx\n\tpush %%rbp\n\tpush %%r12\n\tpush %%r13\n\tpush %%r14\n"
            "\tpush %%r15\n\tsub $%u, %%rsp\n"
            "\timul $%u, %zu(%%rdi), %%rax\n\tmov %%rax, %u(%%rsp)\n"
            "\timul $%u, %zu(%%rdi), %%rax\n\tmov %%rax, %u(%%rsp)\n"
            "\tmov %zu(%%rdi), %%r15\n\tmov %zu(%%rdi), %%r8\n\tmov %zu(%%rdi), %%rbx\n"
            "\tmov %zu(%%rdi), %%rbp\n",
            FRAME, m->rows - 1, AT(c_row_stride), C_BACK,
            DG_MIX_STEPS * m->form.body->element, AT(trips), R_BACK,
            AT(s), AT(r), AT(c), AT(prefetch));
    fprintf(s, "\t.p2align 5\n");
    x86_turn_start(m, label);
    for (unsigned i = 0; i < DG_MIX_STEPS; i++)
        step(m, i);
    x86_trip_end(m, label);
    x86_stores(m, label);
    x86_moves(m, label);
    fprintf(s, "\tmov %%r15, %zu(%%rdi)\n\tmov %%r8, %zu(%%rdi)\n\tmov %%rbx, %zu(%%rdi)\n"
            "\tmov %%rbp, %zu(%%rdi)\n\tvzeroupper\n\tadd $%u, %%rsp\n\tpop %%r15\n"
            "\tpop %%r14\n\tpop %%r13\n\tpop %%r12\n\tpop %%rbp\n\tpop %%rbx\n\tret\n",
            AT(s), AT(r), AT(c), AT(prefetch), FRAME);
}

static void arm_save(FILE *s)
{
    for (unsigned i = 8; i < 16; i += 2)
        fprintf(s, "\tstp d%u, d%u, [sp, #-16]!\n", i, i + 1);
    for (unsigned i = 19; i < 31; i += 2)
        fprintf(s, "\tstp x%u, x%u, [sp, #-16]!\n", i, i + 1);
}

static void arm_restore(FILE *s)
{
    for (unsigned i = 31; i > 19; i -= 2)
        fprintf(s, "\tldp x%u, x%u, [sp], #16\n", i - 2, i - 1);
    for (unsigned i = 16; i > 8; i -= 2)
        fprintf(s, "\tldp d%u, d%u, [sp], #16\n", i - 2, i - 1);
    fprintf(s, "\tret\n");
}

/* ldp or stp of what the state keeps side by side. */
static void arm_state(FILE *s, const char *load_or_store)
{
    _Static_assert(AT(r) == AT(s) + 8 && AT(turns) == AT(c) + 8 && AT(next) == AT(prefetch) + 8,
                   "moved in pairs");
    fprintf(s, "\t%sp " ARM_S ", " ARM_R ", [x0, #%zu]\n\t%sp " ARM_C ", " ARM_TURNS
            ", [x0, #%zu]\n\t%sp " ARM_PREFETCH ", " ARM_NEXT ", [x0, #%zu]\n"
            "\t%sr " ARM_REPEAT_LEFT ", [x0, #%zu]\n", load_or_store, AT(s), load_or_store, AT(c),
            load_or_store, AT(prefetch), load_or_store, AT(repeat_left));
}

static void arm_turn_start(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    fprintf(s, ".Lturn%u:\n\tldr x2, [x0, #%zu]\n\tldr x6, [x0, #%zu]\n\tmov x1, " ARM_S "\n"
            "\tmov %s, " ARM_R "\n", label, AT(trips), AT(row_stride), arm_rows[0]);
    for (unsigned i = 1; i < m->rows; i++)
        fprintf(s, "\tadd %s, %s, x6\n", arm_rows[i], arm_rows[i - 1]);
    zero_all(m);
    fprintf(s, "\t.p2align 5\n.Ltrip%u:\n", label);
}

static void arm_trip_end(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    for (unsigned i = 0; i < m->prefetch; i++)
        fprintf(s, "\tprfm pldl2keep, [" ARM_PREFETCH ", #%u]\n", 64 * i);
    if (m->prefetch > 0)
        fprintf(s, "\tadd " ARM_PREFETCH ", " ARM_PREFETCH ", #%u\n", 64 * m->prefetch);
    for (unsigned i = 0; i < m->rows; i++)
        fprintf(s, "\tadd %s, %s, #%u\n", arm_rows[i], arm_rows[i],
                DG_MIX_STEPS * m->form.body->element);
    fprintf(s, "\tadd x1, x1, #%u\n\tsubs x2, x2, #1\n\tb.ne .Ltrip%u\n",
            DG_MIX_STEPS * m->vectors * m->narrow, label);
}

static void arm_stores(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    fprintf(s, "\tldr x3, [x0, #%zu]\n\tldr x6, [x0, #%zu]\n\tmov x5, " ARM_C "\n"
            "\tcmp x3, #1\n\tb.lo .Lmove%u\n\tb.hi .Lread%u\n",
            AT(mode), AT(c_row_stride), label, label);
    store_all(m, false);
    fprintf(s, "\tb .Lmove%u\n.Lread%u:\n", label, label);
    store_all(m, true);
    fprintf(s, ".Lmove%u:\n", label);
}

/* As x86_advance; turn, start and end of a stream stand side by side. */
static void arm_advance(FILE *s, const char *pointer, size_t turn)
{
    fprintf(s, "\tldp x3, x4, [x0, #%zu]\n\tldr x5, [x0, #%zu]\n\tadd %s, %s, x3\n"
            "\tcmp %s, x5\n\tcsel %s, x4, %s, hs\n", turn, turn + 16, pointer, pointer, pointer,
            pointer, pointer);
}

static void arm_moves(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    _Static_assert(AT(s_start) == AT(s_turn) + 8 && AT(s_end) == AT(s_turn) + 16 &&
                   AT(r_start) == AT(r_turn) + 8 && AT(r_end) == AT(r_turn) + 16 &&
                   AT(c_start) == AT(c_turn) + 8 && AT(c_end) == AT(c_turn) + 16,
                   "turn, start, end");
    arm_advance(s, ARM_R, AT(r_turn));
    arm_advance(s, ARM_C, AT(c_turn));
    fprintf(s, "\tsubs " ARM_REPEAT_LEFT ", " ARM_REPEAT_LEFT ", #1\n\tb.ne .Lstay%u\n"
            "\tldr " ARM_REPEAT_LEFT ", [x0, #%zu]\n", label, AT(s_repeat));
    arm_advance(s, ARM_S, AT(s_turn));
    if (m->prefetch > 0) {
        arm_advance(s, ARM_NEXT, AT(s_turn));
        fprintf(s, "\tmov " ARM_PREFETCH ", " ARM_NEXT "\n\tb .Lnext%u\n", label);
    }
    fprintf(s, ".Lstay%u:\n", label);
    if (m->prefetch > 0)
        fprintf(s, "\tldr x4, [x0, #%zu]\n\tadd x4, " ARM_NEXT ", x4\n\tcmp " ARM_PREFETCH ", x4\n"
                "\tcsel " ARM_PREFETCH ", " ARM_NEXT ", " ARM_PREFETCH ", hs\n.Lnext%u:\n",
                AT(panel), label);
    fprintf(s, "\tsubs " ARM_TURNS ", " ARM_TURNS ", #1\n\tb.ne .Lturn%u\n", label);
}

static void arm_mix(const struct mix *m, unsigned label)
{
    arm_save(m->g->s);
    arm_state(m->g->s, "ld");
    fprintf(m->g->s, "\t.p2align 5\n");
    arm_turn_start(m, label);
    for (unsigned i = 0; i < DG_MIX_STEPS; i++)
        step(m, i);
    arm_trip_end(m, label);
    arm_stores(m, label);
    arm_moves(m, label);
    arm_state(m->g->s, "st");
    arm_restore(m->g->s);
}

static void add_feature(char out[TEXT], const struct dg_op *op)
{
    size_t used = strlen(out);
    if (op != NULL && op->feature[0] != '\0' && strstr(out, op->feature) == NULL)
        snprintf(out + used, TEXT - used, "%s%s", used > 0 ? "," : "", op->feature);
}

static void one_mix(struct mix *m)
{
    struct gen *g = m->g;
    char features[TEXT] = "";
    for (int part = 0; part < DG_MIX_PARTS; part++)
        add_feature(features, m->form.op[part]);
    unsigned number = gen_begin(g, MIX_PROTOTYPE, features), label = g->labels++;
    if (g->x86)
        x86_mix(m, label);
    else
        arm_mix(m, label);
    gen_end(g, number);
    fprintf(g->table[TABLE_MIXES], "    {\"%s\", %u, %u, %u, %u, \"%s\", dg_loop_%u},\n",
            m->form.body->name, m->bits, m->vectors, m->rows, m->prefetch, features, number);
}

/* Without prefetch; one line a trip, when the panel is passed often; all of its lines. What moves
 * is the same bytes whatever they are multiplied as: prefetches stand beside the first body. */
static void shape(struct mix *m)
{
    unsigned all = DG_MIX_STEPS * m->vectors * m->narrow / 64;
    m->hold_vectors = m->vectors <= m->rows;
    m->temporary = m->vectors * m->rows;
    m->product = m->temporary + (m->hold_vectors ? m->vectors : m->rows) + 1;
    m->prefetch = 0;
    one_mix(m);
    if (strcmp(m->form.body->name, dg_mix_bodies[0].name) != 0)
        return;
    m->prefetch = 1;
    one_mix(m);
    m->prefetch = all;
    if (all > 1)
        one_mix(m);
}

void gen_mixes(struct gen *g, const struct dg_isa *isa)
{
    struct mix m = {.g = g, .bits = isa->vector_bits, .bytes = isa->vector_bits / 8};
    unsigned most_rows = g->x86 ? 4 * sizeof x86_rows / sizeof *x86_rows
                                     : sizeof arm_rows / sizeof *arm_rows;
    for (const struct dg_mix_body *b = dg_mix_bodies; b < dg_mix_bodies + dg_mix_body_count; b++) {
        if (dg_mix_body_named(b->name) != b || !dg_mix_form_of(isa, b->name, &m.form))
            continue;
        m.narrow = m.bytes / b->narrow;
        for (m.vectors = 1; m.vectors <= 8; m.vectors++)
            for (m.rows = 1; m.rows <= most_rows; m.rows++)
                if (dg_mix_registers(&m.form, m.vectors, m.rows) <= isa->vector_registers)
                    shape(&m);
    }
}
