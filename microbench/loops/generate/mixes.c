/* SPDX-License-Identifier: Apache-2.0
 * Mixes: `vectors` loads of a stream and `rows` broadcasts a step, an fma for each pair of them,
 * then the accumulators are stored and the streams move on. The rows' text comes from isa/. */
#include "microbench/loops/generate/generate.h"

#include <stddef.h>
#include <string.h>

#include "microbench/loops/loops.h"

#define MIX_PROTOTYPE "void dg_loop_%u(struct dg_mix_state *state);\n"
#define AT(field) offsetof(struct dg_mix_state, field)

struct mix {
    struct gen *g;
    const struct dg_isa *isa;
    const char *dtype;
    const struct dg_op *load, *broadcast, *store, *zero, *fma, *add;
    unsigned bits, vectors, rows, bytes, element, prefetch;
    bool hold_vectors;                   /* else the broadcasts are held */
    unsigned temporary;                  /* first register after the accumulators */
};

/* Four rows each. %r15 holds S, %rbx C: what moves from turn to turn stays in registers, as in a
 * kernel; through memory a turn with stores came out up to 20 cycles dearer. */
static const char *const x86_rows[] = {"%r8", "%r9", "%r10", "%r11", "%r12", "%r13", "%r14"};
enum { ARM_ROWS = 16, ARM_FIRST_ROW = 9 };   /* x9..x24, one pointer a row */

static unsigned accumulator(const struct mix *m, unsigned row, unsigned vector)
{
    return row * m->vectors + vector;
}

static void line(const struct mix *m, const struct dg_op *op, int a, int b, int c,
                 const char *memory)
{
    struct operand operands[MAX_OPERANDS] = {
        {a, -1, ""}, {b, -1, ""}, {c, -1, ""}, {-1, -1, ""},
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
    unsigned offset = step * m->element;
    const char *pointer = x86_rows[row / 4];
    if (!m->g->x86)
        snprintf(out, 48, "[x%u, #%u]", ARM_FIRST_ROW + row, offset);
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
    unsigned offset = (step * m->vectors + vector) * m->bytes;
    snprintf(memory, sizeof memory, m->g->x86 ? "%u(%%rsi)" : "[x1, #%u]", offset);
    line(m, m->load, (int)into, -1, -1, memory);
}

static void row_load(const struct mix *m, unsigned row, unsigned step, unsigned into)
{
    char memory[48];
    row_address(m, row, step, memory);
    line(m, m->broadcast, (int)into, -1, -1, memory);
}

/* The smaller side is held, the other passes through one register. */
static void step(const struct mix *m, unsigned n)
{
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
            line(m, m->fma, (int)accumulator(m, row, vector), (int)of_stream, (int)of_rows, "");
        }
    }
}

static void zero_all(const struct mix *m)
{
    for (unsigned i = 0; i < m->vectors * m->rows; i++)
        line(m, m->zero, (int)i, -1, -1, "");
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
                line(m, m->load, free, -1, -1, memory);
                line(m, m->add, from, from, free, "");
            }
            line(m, m->store, -1, from, -1, memory);
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
        fprintf(s, "\tadd $%u, %s\n", DG_MIX_STEPS * m->element, x86_rows[i]);
    fprintf(s, "\tadd $%u, %%rsi\n\tdec %%rcx\n\tjnz .Ltrip%u\n",
            DG_MIX_STEPS * m->vectors * m->bytes, label);
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
            "\tmov %zu(%%rdi), %%rbp\n\t.p2align 5\n",
            FRAME, m->rows - 1, AT(c_row_stride), C_BACK, DG_MIX_STEPS * m->element, AT(trips),
            R_BACK, AT(s), AT(r), AT(c), AT(prefetch));
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
    for (unsigned i = 19; i < 25; i += 2)
        fprintf(s, "\tstp x%u, x%u, [sp, #-16]!\n", i, i + 1);
}

static void arm_restore(FILE *s)
{
    for (unsigned i = 25; i > 19; i -= 2)
        fprintf(s, "\tldp x%u, x%u, [sp], #16\n", i - 2, i - 1);
    for (unsigned i = 16; i > 8; i -= 2)
        fprintf(s, "\tldp d%u, d%u, [sp], #16\n", i - 2, i - 1);
    fprintf(s, "\tret\n");
}

static void arm_turn_start(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    fprintf(s, ".Lturn%u:\n\tldr x2, [x0, #%zu]\n\tldr x1, [x0, #%zu]\n\tldr x6, [x0, #%zu]\n"
            "\tldr x%d, [x0, #%zu]\n", label, AT(trips), AT(s), AT(row_stride), ARM_FIRST_ROW,
            AT(r));
    for (unsigned i = 1; i < m->rows; i++)
        fprintf(s, "\tadd x%u, x%u, x6\n", ARM_FIRST_ROW + i, ARM_FIRST_ROW + i - 1);
    zero_all(m);
    fprintf(s, "\t.p2align 5\n.Ltrip%u:\n", label);
}

static void arm_trip_end(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    for (unsigned i = 0; i < m->prefetch; i++)
        fprintf(s, "\tprfm pldl2keep, [x7, #%u]\n", 64 * i);
    if (m->prefetch > 0)
        fprintf(s, "\tadd x7, x7, #%u\n", 64 * m->prefetch);
    for (unsigned i = 0; i < m->rows; i++)
        fprintf(s, "\tadd x%u, x%u, #%u\n", ARM_FIRST_ROW + i, ARM_FIRST_ROW + i,
                DG_MIX_STEPS * m->element);
    fprintf(s, "\tadd x1, x1, #%u\n\tsubs x2, x2, #1\n\tb.ne .Ltrip%u\n",
            DG_MIX_STEPS * m->vectors * m->bytes, label);
}

static void arm_stores(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    fprintf(s, "\tldr x5, [x0, #%zu]\n\tldr x6, [x0, #%zu]\n\tldr x3, [x0, #%zu]\n"
            "\tcmp x3, #1\n\tb.lo .Lmove%u\n\tb.hi .Lread%u\n",
            AT(c), AT(c_row_stride), AT(mode), label, label);
    store_all(m, false);
    fprintf(s, "\tb .Lmove%u\n.Lread%u:\n", label, label);
    store_all(m, true);
    fprintf(s, ".Lmove%u:\n", label);
}

static void arm_advance(FILE *s, size_t at, size_t turn, size_t start, size_t end)
{
    fprintf(s, "\tldr x3, [x0, #%zu]\n\tldr x4, [x0, #%zu]\n\tadd x3, x3, x4\n"
            "\tldr x4, [x0, #%zu]\n\tldr x5, [x0, #%zu]\n\tcmp x3, x4\n\tcsel x3, x5, x3, hs\n"
            "\tstr x3, [x0, #%zu]\n", at, turn, end, start, at);
}

static void arm_count_down(FILE *s, size_t at)
{
    fprintf(s, "\tldr x3, [x0, #%zu]\n\tsubs x3, x3, #1\n\tstr x3, [x0, #%zu]\n", at, at);
}

static void arm_moves(const struct mix *m, unsigned label)
{
    FILE *s = m->g->s;
    arm_advance(s, AT(r), AT(r_turn), AT(r_start), AT(r_end));
    arm_advance(s, AT(c), AT(c_turn), AT(c_start), AT(c_end));
    arm_count_down(s, AT(repeat_left));
    fprintf(s, "\tb.ne .Lstay%u\n\tldr x3, [x0, #%zu]\n\tstr x3, [x0, #%zu]\n", label,
            AT(s_repeat), AT(repeat_left));
    arm_advance(s, AT(s), AT(s_turn), AT(s_start), AT(s_end));
    if (m->prefetch > 0) {
        arm_advance(s, AT(next), AT(s_turn), AT(s_start), AT(s_end));
        fprintf(s, "\tmov x7, x3\n\tb .Lnext%u\n", label);
    }
    fprintf(s, ".Lstay%u:\n", label);
    if (m->prefetch > 0)
        fprintf(s, "\tldr x3, [x0, #%zu]\n\tldr x4, [x0, #%zu]\n\tadd x4, x3, x4\n\tcmp x7, x4\n"
                "\tcsel x7, x3, x7, hs\n.Lnext%u:\n", AT(next), AT(panel), label);
    arm_count_down(s, AT(turns));
    fprintf(s, "\tb.ne .Lturn%u\n", label);
}

static void arm_mix(const struct mix *m, unsigned label)
{
    arm_save(m->g->s);
    fprintf(m->g->s, "\tldr x7, [x0, #%zu]\n", AT(prefetch));
    arm_turn_start(m, label);
    for (unsigned i = 0; i < DG_MIX_STEPS; i++)
        step(m, i);
    arm_trip_end(m, label);
    arm_stores(m, label);
    arm_moves(m, label);
    fprintf(m->g->s, "\tstr x7, [x0, #%zu]\n", AT(prefetch));
    arm_restore(m->g->s);
}

static void one_mix(struct mix *m)
{
    struct gen *g = m->g;
    char features[TEXT];
    unsigned number = gen_begin(g, MIX_PROTOTYPE), label = g->labels++;
    if (g->x86)
        x86_mix(m, label);
    else
        arm_mix(m, label);
    gen_end(g, number);
    gen_features(features, m->load, m->fma);
    fprintf(g->table[TABLE_MIXES], "    {\"%s\", %u, %u, %u, %u, \"%s\", dg_loop_%u},\n",
            m->dtype, m->bits, m->vectors, m->rows, m->prefetch, features, number);
}

/* Without prefetch; one line a trip, when the panel is passed often; all of its lines. */
static void shape(struct mix *m)
{
    unsigned all = DG_MIX_STEPS * m->vectors * m->bytes / 64;
    m->hold_vectors = m->vectors <= m->rows;
    m->temporary = m->vectors * m->rows;
    m->prefetch = 0;
    one_mix(m);
    m->prefetch = 1;
    one_mix(m);
    m->prefetch = all;
    if (all > 1)
        one_mix(m);
}

static bool rows_of(struct mix *m)
{
    const struct dg_isa *isa = m->isa;
    m->load = dg_isa_op(isa, DG_SEM_LOAD, m->dtype, m->bits, 0);
    m->store = dg_isa_op(isa, DG_SEM_STORE, m->dtype, m->bits, 0);
    m->zero = dg_isa_op(isa, DG_SEM_ZERO, m->dtype, m->bits, 0);
    /* Where the multiply-add takes one element of a register, the row is loaded that way. */
    m->broadcast = dg_isa_op(isa, DG_SEM_LOAD_ELEMENT, m->dtype, m->bits, 0);
    m->fma = dg_isa_op(isa, DG_SEM_FMA_ELEMENT, m->dtype, m->bits, 0);
    if (m->broadcast == NULL || m->fma == NULL) {
        m->broadcast = dg_isa_op(isa, DG_SEM_BROADCAST, m->dtype, m->bits, 0);
        m->fma = dg_isa_op(isa, DG_SEM_FMA, m->dtype, m->bits, 0);
    }
    m->add = dg_isa_op(isa, DG_SEM_ADD, m->dtype, m->bits, 0);
    return m->load && m->broadcast && m->store && m->zero && m->fma && m->add;
}

void gen_mixes(struct gen *g, const struct dg_isa *isa)
{
    static const char *const dtypes[] = {"f32", "f64"};
    struct mix m = {.g = g, .isa = isa, .bits = isa->vector_bits, .bytes = isa->vector_bits / 8};
    unsigned most_rows = g->x86 ? 4 * sizeof x86_rows / sizeof *x86_rows : ARM_ROWS;
    for (unsigned d = 0; d < 2; d++) {
        m.dtype = dtypes[d];
        m.element = d == 0 ? 4 : 8;
        if (!rows_of(&m))
            continue;
        for (m.vectors = 1; m.vectors <= 8; m.vectors++)
            for (m.rows = 1; m.rows <= most_rows; m.rows++) {
                unsigned held = m.vectors <= m.rows ? m.vectors : m.rows;
                if (m.vectors * m.rows + held + 1 <= isa->vector_registers)
                    shape(&m);
            }
    }
}
