/* SPDX-License-Identifier: Apache-2.0
 * From a row and its operands to text, and the frame of an operation loop. */
#include "microbench/loops/generate/generate.h"

#include <string.h>

#include "microbench/loops/loops.h"

static const char *const x86_scalars[] = {
    "%rax", "%rcx", "%rdx", "%r8", "%r9", "%r10", "%r11", "%rbx", "%rbp", "%r12", "%r13", "%r14",
};
static const char *const arm_scalars[] = {
    "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
};

unsigned gen_scalars(const struct gen *g)
{
    return g->x86 ? sizeof x86_scalars / sizeof *x86_scalars
                  : sizeof arm_scalars / sizeof *arm_scalars;
}

const char *gen_scalar(const struct gen *g, unsigned index)
{
    return g->x86 ? x86_scalars[index] : arm_scalars[index];
}

const char *gen_scalar_constant(const struct gen *g)
{
    return g->x86 ? "%r15" : "x16";
}

/* Where a row loads from, and what fills its registers. */
struct values { const char *dtype; unsigned memory, one, tiny; };

static const struct values *values_of(const char *dtype)
{
    static const struct values all[] = {
        {"f64", DG_BLOCK_F64, DG_BLOCK_ONE_F64, DG_BLOCK_TINY_F64},
        {"f16", DG_BLOCK_F16, DG_BLOCK_ONE_F16, DG_BLOCK_TINY_F16},
        {"", DG_BLOCK_F32, DG_BLOCK_ONE_F32, DG_BLOCK_TINY_F32},
    };
    const struct values *v = all;
    while (v->dtype[0] != '\0' && strcmp(v->dtype, dtype) != 0)
        v++;
    return v;
}

unsigned gen_memory(const char *dtype)
{
    return values_of(dtype)->memory;
}

void gen_vector_name(const struct gen *g, unsigned bits, unsigned index, char out[8])
{
    if (g->x86)
        snprintf(out, 8, "%%%cmm%u", bits == 512 ? 'z' : bits == 256 ? 'y' : 'x', index % 100);
    else
        snprintf(out, 8, "v%u", index % 100);
}

/* The low 32 bits of a scalar register. */
static void spell_narrow(const struct gen *g, const char *text, char out[48])
{
    if (!g->x86)
        snprintf(out, 48, "w%.40s", text + 1);
    else if (text[2] >= '0' && text[2] <= '9')
        snprintf(out, 48, "%.40sd", text);
    else
        snprintf(out, 48, "%%e%.40s", text + 2);
}

/* One spelling of an operand: letter 0 is the plain one, `more` moves a memory operand on. */
static void spell(const struct gen *g, const struct dg_op *op, const struct operand *operand,
                  char letter, unsigned more, char out[48])
{
    if (operand->offset >= 0) {
        const char *place = g->x86 ? "%u(%%rsi)" : operand->crossing ? "[x17, #%u]" : "[x1, #%u]";
        unsigned half = g->x86 && operand->crossing ? op->bits / 16 : 0;
        snprintf(out, 48, place, (unsigned)operand->offset - half + more);
    } else if (operand->vector < 0 && letter == 'w') {
        spell_narrow(g, operand->text, out);
    } else if (operand->vector < 0) {
        snprintf(out, 48, "%s", operand->text);
    } else if (g->x86) {
        char name[8];
        gen_vector_name(g, letter == 'x' ? 128 : letter == 'y' ? 256 : letter == 'z' ? 512
                           : op->bits, (unsigned)operand->vector, name);
        snprintf(out, 48, "%s", name);
    } else {
        snprintf(out, 48, "%c%d", letter == 0 ? 'v' : letter, operand->vector);
    }
}

/* {0}, {x1}, {1+8}, {k}, {K}: the length, or 0 when the brace is the assembler's own. */
struct placeholder { size_t length; char letter; int index; unsigned more; };

static struct placeholder placeholder(const char *text)
{
    struct placeholder found = {0, 0, -1, 0};
    const char *p = text + 1;
    if ((p[0] == 'k' || p[0] == 'K') && p[1] == '}')
        return (struct placeholder){3, p[0], -1, 0};
    if (*p >= 'a' && *p <= 'z')
        found.letter = *p++;
    if (*p < '0' || *p >= '0' + MAX_OPERANDS)
        return found;
    found.index = *p++ - '0';
    if (*p == '+')
        for (p++; *p >= '0' && *p <= '9'; p++)
            found.more = found.more * 10 + (unsigned)(*p - '0');
    if (*p == '}')
        found.length = (size_t)(p + 1 - text);
    return found;
}

bool gen_render(const struct gen *g, const struct dg_op *op, const struct operand *operands,
                char out[TEXT])
{
    size_t used = 0;
    for (const char *p = op->text; *p != '\0';) {
        char piece[48] = {*p, '\0'};
        struct placeholder at = *p == '{' ? placeholder(p) : (struct placeholder){0};
        if (at.length > 0 && at.index >= (int)strlen(op->operands))
            return false;
        if (at.length > 0 && at.index < 0)
            snprintf(piece, sizeof piece, at.letter == 'k' ? "{%%k1}" : "%%k1");
        else if (at.length > 0)
            spell(g, op, &operands[at.index], at.letter, at.more, piece);
        if (used + strlen(piece) + 1 > TEXT)
            return false;
        memcpy(out + used, piece, strlen(piece));
        used += strlen(piece);
        p += at.length > 0 ? at.length : 1;
    }
    out[used] = '\0';
    return true;
}

bool gen_line(struct gen *g, const struct dg_op *op, const struct operand *operands)
{
    char text[TEXT];
    if (!gen_render(g, op, operands, text))
        return false;
    fprintf(g->s, "\t%s\n", text);
    return true;
}

/* The assembler takes no instruction beyond the features that the loop's entry names: a loop that
 * would need more fails to build. Names of /proc/cpuinfo are GNU as's own on x86. */
static void permit(struct gen *g, const char *features)
{
    static const char *const arm[][2] = {
        {"asimddp", "+dotprod"}, {"asimdhp", "+fp16"}, {"asimdfhm", "+fp16fml"}, {"i8mm", "+i8mm"},
        {"bf16", "+bf16"},
    };
    fprintf(g->s, g->x86 ? "\t.arch generic64\n" : "\t.arch armv8.2-a");
    while (*features != '\0') {
        size_t length = strcspn(features, ",");
        if (g->x86)
            fprintf(g->s, "\t.arch .%.*s\n", (int)length, features);
        for (size_t i = 0; !g->x86 && i < sizeof arm / sizeof *arm; i++)
            if (strlen(arm[i][0]) == length && strncmp(arm[i][0], features, length) == 0)
                fprintf(g->s, "%s", arm[i][1]);
        features += length + (features[length] == ',');
    }
    fprintf(g->s, "\n");
}

unsigned gen_begin(struct gen *g, const char *prototype, const char *features)
{
    unsigned n = g->functions++;
    permit(g, features);
    fprintf(g->declarations, prototype, n);
    fprintf(g->s, "\t.globl dg_loop_%u\n\t.hidden dg_loop_%u\n\t.type dg_loop_%u, %%function\n"
            "\t.p2align 6\ndg_loop_%u:\n", n, n, n, n);
    return n;
}

void gen_end(struct gen *g, unsigned number)
{
    fprintf(g->s, "\t.size dg_loop_%u, .-dg_loop_%u\n", number, number);
}

static void enter_x86(struct gen *g, const char *dtype, unsigned bits, unsigned registers)
{
    const struct values *v = values_of(dtype);
    bool evex = registers > 16;                  /* the upper 16 have no name in the older forms */
    fprintf(g->s, "\tpush %%rbx\n\tpush %%rbp\n\tpush %%r12\n\tpush %%r13\n\tpush %%r14\n"
            "\tpush %%r15\n\tsub $136, %%rsp\n\tmov $0x5bd1e995, %%r15\n");
    for (unsigned i = 0; i < gen_scalars(g); i++)
        fprintf(g->s, "\tlea %u(%%r15), %s\n", i, gen_scalar(g, i));
    if (evex)
        fprintf(g->s, "\tmov $0x7f, %%eax\n\tkmovw %%eax, %%k1\n");
    for (unsigned i = 0; i < registers; i++) {
        char name[8];
        gen_vector_name(g, bits, i, name);
        fprintf(g->s, "\t%s %u(%%rsi), %s\n", bits > 128 || evex ? "vmovups" : "movups",
                i + 2 == registers ? v->tiny : v->one, name);
    }
}

void gen_enter(struct gen *g, const char *dtype, unsigned bits, unsigned registers)
{
    if (g->x86) {
        enter_x86(g, dtype, bits, registers);
        return;
    }
    const struct values *v = values_of(dtype);
    for (unsigned i = 8; i < 16; i += 2)
        fprintf(g->s, "\tstp d%u, d%u, [sp, #-16]!\n", i, i + 1);
    fprintf(g->s, "\tsub sp, sp, #128\n\tmov x16, #0xe995\n\tmovk x16, #0x5bd1, lsl #16\n"
            "\tsub x17, x1, #%u\n", (bits > 0 ? bits : 64) / 16);
    for (unsigned i = 0; i < gen_scalars(g); i++)
        fprintf(g->s, "\tadd %s, x16, #%u\n", gen_scalar(g, i), i);
    for (unsigned i = 0; i < registers; i++)
        fprintf(g->s, "\tldr q%u, [x1, #%u]\n", i, i + 2 == registers ? v->tiny : v->one);
}

void gen_leave(struct gen *g, unsigned bits)
{
    if (g->x86) {
        if (bits > 128)
            fprintf(g->s, "\tvzeroupper\n");
        fprintf(g->s, "\tadd $136, %%rsp\n\tpop %%r15\n\tpop %%r14\n\tpop %%r13\n\tpop %%r12\n"
                "\tpop %%rbp\n\tpop %%rbx\n\tret\n");
        return;
    }
    fprintf(g->s, "\tadd sp, sp, #128\n");
    for (unsigned i = 16; i > 8; i -= 2)
        fprintf(g->s, "\tldp d%u, d%u, [sp], #16\n", i - 2, i - 1);
    fprintf(g->s, "\tret\n");
}

void gen_count_down(struct gen *g, const char *label)
{
    fprintf(g->s, g->x86 ? "\tdec %%rdi\n\tjnz %s\n" : "\tsubs x0, x0, #1\n\tb.ne %s\n", label);
}

bool gen_writes(const struct dg_op *op, int *operand)
{
    for (int i = 0; op->operands[i] != '\0'; i++)
        if (strchr("dagh", op->operands[i]) != NULL) {
            *operand = i;
            return true;
        }
    return false;
}

/* The union of two rows' features (rows of one loop need both). */
void gen_features(char out[TEXT], const struct dg_op *a, const struct dg_op *b)
{
    bool second = b != NULL && b->feature[0] != '\0' && strcmp(a->feature, b->feature) != 0;
    snprintf(out, TEXT, "%s%s%s", a->feature, second && a->feature[0] != '\0' ? "," : "",
             second ? b->feature : "");
}

void gen_key(const struct dg_op *op, char out[64])
{
    snprintf(out, 64, "%s.%s.%u", op->name, op->dtype, op->bits);
}

bool gen_first_of_key(const struct dg_isa *isa, const struct dg_op *op)
{
    return dg_isa_op_named(isa, op->name, op->dtype, op->bits) == op;
}

bool gen_is_vector(const struct dg_op *op)
{
    return strpbrk(op->operands, "davt") != NULL;
}
