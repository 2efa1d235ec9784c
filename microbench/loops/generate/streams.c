/* SPDX-License-Identifier: Apache-2.0
 * Streams (bandwidth), chases (latency of memory) and the clock's reference chains. */
#include "microbench/loops/generate/generate.h"

#include <stddef.h>

#include "microbench/loops/loops.h"

#define STREAM_PROTOTYPE "void dg_loop_%u(const struct dg_stream_state *state);\n"
#define CHASE_PROTOTYPE "void *dg_loop_%u(void *at, uint64_t trips);\n"
#define LOOP_PROTOTYPE "void dg_loop_%u(uint64_t trips, void *block);\n"
#define AT(field) offsetof(struct dg_stream_state, field)

/* The vector instructions of one width. */
struct width {
    unsigned bits, registers;
    const char *features, *fma_features;
};
static const struct width x86_widths[] = {
    {512, 16, "avx512f", "avx512f"}, {256, 16, "avx", "avx"}, {128, 16, "sse2", "sse2"},
};
static const struct width arm_widths[] = {{128, 16, "asimd", "asimd"}};

static const char *const kind_names[] = {
    "DG_READ", "DG_WRITE", "DG_COPY", "DG_SCALE", "DG_ADD", "DG_TRIAD", "DG_NT_COPY",
};

static const char *prefix(const struct width *w)
{
    return w->bits == 128 ? "" : "v";
}

static char letter(const struct width *w)
{
    return w->bits == 512 ? 'z' : w->bits == 256 ? 'y' : 'x';
}

/* dst = dst op src, in either form. */
static void x86_binary(FILE *s, const struct width *w, const char *op, const char *src,
                       unsigned reg)
{
    char c = letter(w);
    if (w->bits == 128)
        fprintf(s, "\t%s %s, %%xmm%u\n", op, src, reg);
    else
        fprintf(s, "\tv%s %s, %%%cmm%u, %%%cmm%u\n", op, src, c, reg, c, reg);
}

/* One vector of the pass at `offset`: arrays a, b in %rax, %rdx, c in %rcx; 15 holds the factor. */
static void x86_element(FILE *s, const struct width *w, enum dg_traffic kind, unsigned offset,
                        unsigned reg)
{
    char c = letter(w), memory[24], factor[16];
    const char *v = prefix(w);
    snprintf(memory, sizeof memory, "%u(%%rdx)", offset);
    snprintf(factor, sizeof factor, "%%%cmm15", c);
    if (kind != DG_WRITE)
        fprintf(s, "\t%smovaps %u(%%rax), %%%cmm%u\n", v, offset, c, reg);
    if (kind == DG_SCALE || kind == DG_TRIAD)
        x86_binary(s, w, "mulps", factor, reg);
    if (kind == DG_ADD || kind == DG_TRIAD)
        x86_binary(s, w, "addps", memory, reg);
    if (kind == DG_NT_COPY)
        fprintf(s, "\t%smovntps %%%cmm%u, %u(%%rcx)\n", v, c, reg, offset);
    else if (kind != DG_READ)
        fprintf(s, "\t%smovaps %%%cmm%u, %u(%%rcx)\n", v, c, kind == DG_WRITE ? 15 : reg, offset);
}

/* The same with x1, x2, x3, a in v0 to v7, b 16 further on; v31 holds the factor. */
static void arm_element(FILE *s, enum dg_traffic kind, unsigned offset, unsigned reg)
{
    if (kind != DG_WRITE)
        fprintf(s, "\tldr q%u, [x1, #%u]\n", reg, offset);
    if (kind == DG_SCALE || kind == DG_TRIAD)
        fprintf(s, "\tfmul v%u.4s, v%u.4s, v31.4s\n", reg, reg);
    if (kind == DG_ADD || kind == DG_TRIAD)
        fprintf(s, "\tldr q%u, [x2, #%u]\n\tfadd v%u.4s, v%u.4s, v%u.4s\n", reg + 16, offset, reg,
                reg, reg + 16);
    if (kind == DG_NT_COPY && offset % 32 == 16)
        fprintf(s, "\tstnp q%u, q%u, [x3, #%u]\n", reg - 1, reg, offset - 16);
    else if (kind != DG_READ && kind != DG_NT_COPY)
        fprintf(s, "\tstr q%u, [x3, #%u]\n", kind == DG_WRITE ? 31 : reg, offset);
}

/* The factor is 1: values stay what they are, pass after pass. */
static void x86_start(FILE *s, const struct width *w, unsigned label)
{
    char c = letter(w);
    fprintf(s, "\tmov $0x3f800000, %%r9d\n\tmov %zu(%%rdi), %%r10\n", AT(passes));
    if (w->bits == 128)
        fprintf(s, "\tmovd %%r9d, %%xmm15\n\tshufps $0, %%xmm15, %%xmm15\n");
    else if (w->bits == 512)
        fprintf(s, "\tvpbroadcastd %%r9d, %%zmm15\n");
    else
        fprintf(s, "\tvmovd %%r9d, %%xmm15\n\tvshufps $0, %%xmm15, %%xmm15, %%xmm15\n"
                "\tvinsertf128 $1, %%xmm15, %%%cmm15, %%%cmm15\n", c, c);
    fprintf(s, ".Lagain%u:\n\tmov %zu(%%rdi), %%rax\n\tmov %zu(%%rdi), %%rdx\n"
            "\tmov %zu(%%rdi), %%rcx\n\tmov %zu(%%rdi), %%rsi\n\tadd %%rax, %%rsi\n"
            "\tmov %zu(%%rdi), %%r8\n\tadd %%rax, %%r8\n\t.p2align 6\n.Lpass%u:\n",
            label, AT(a), AT(b), AT(c), AT(bytes), AT(distance), label);
}

static void x86_stream(struct gen *g, const struct width *w, enum dg_traffic kind, unsigned unroll,
                       bool prefetch, unsigned label)
{
    FILE *s = g->s;
    unsigned bytes = w->bits / 8, step = unroll * bytes;
    x86_start(s, w, label);
    for (unsigned at = 0; prefetch && at < step; at += 64)
        fprintf(s, "\tprefetcht0 %u(%%r8)\n", at);
    for (unsigned i = 0; i < unroll; i++)
        x86_element(s, w, kind, i * bytes, i % 8);
    if (prefetch)
        fprintf(s, "\tadd $%u, %%r8\n", step);
    if (kind == DG_ADD || kind == DG_TRIAD)
        fprintf(s, "\tadd $%u, %%rdx\n", step);
    if (kind != DG_READ)
        fprintf(s, "\tadd $%u, %%rcx\n", step);
    fprintf(s, "\tadd $%u, %%rax\n\tcmp %%rsi, %%rax\n\tjb .Lpass%u\n\tdec %%r10\n\tjnz .Lagain%u\n"
            "%s%s\tret\n", step, label, label,
            kind == DG_NT_COPY ? "\tsfence\n" : "", w->bits > 128 ? "\tvzeroupper\n" : "");
}

static void arm_stream(struct gen *g, const struct width *w, enum dg_traffic kind, unsigned unroll,
                       bool prefetch, unsigned label)
{
    FILE *s = g->s;
    unsigned step = unroll * w->bits / 8;
    fprintf(s, "\tfmov v31.4s, #1.0\n\tldr x6, [x0, #%zu]\n.Lagain%u:\n\tldr x1, [x0, #%zu]\n"
            "\tldr x2, [x0, #%zu]\n\tldr x3, [x0, #%zu]\n\tldr x4, [x0, #%zu]\n"
            "\tldr x5, [x0, #%zu]\n\tadd x4, x1, x4\n\tadd x5, x1, x5\n\t.p2align 6\n.Lpass%u:\n",
            AT(passes), label, AT(a), AT(b), AT(c), AT(bytes), AT(distance), label);
    for (unsigned at = 0; prefetch && at < step; at += 64)
        fprintf(s, "\tprfm pldl1keep, [x5, #%u]\n", at);
    for (unsigned i = 0; i < unroll; i++)
        arm_element(s, kind, i * w->bits / 8, i % 8);
    if (prefetch)
        fprintf(s, "\tadd x5, x5, #%u\n", step);
    fprintf(s, "\tadd x2, x2, #%u\n\tadd x3, x3, #%u\n\tadd x1, x1, #%u\n\tcmp x1, x4\n"
            "\tb.lo .Lpass%u\n\tsubs x6, x6, #1\n\tb.ne .Lagain%u\n\tret\n", step, step, step,
            label, label);
}

static void stream(struct gen *g, const struct width *w, enum dg_traffic kind, unsigned unroll,
                   bool prefetch)
{
    unsigned number = gen_begin(g, STREAM_PROTOTYPE), label = g->labels++;
    if (g->x86)
        x86_stream(g, w, kind, unroll, prefetch, label);
    else
        arm_stream(g, w, kind, unroll, prefetch, label);
    gen_end(g, number);
    fprintf(g->table[TABLE_STREAMS], "    {%s, %u, %u, %s, \"%s\", dg_loop_%u},\n",
            kind_names[kind], w->bits, unroll * w->bits / 8, prefetch ? "true" : "false",
            w->features, number);
}

void gen_streams(struct gen *g)
{
    static const unsigned unrolls[] = {16, 1, 2, 3, 4, 6, 8, 12, 24, 32, 48, 64};
    const struct width *widths = g->x86 ? x86_widths : arm_widths;
    for (unsigned i = 0; i < (g->x86 ? 3U : 1U); i++) {
        for (unsigned u = 0; u < sizeof unrolls / sizeof *unrolls; u++)
            for (int prefetch = 0; prefetch < 2; prefetch++)
                stream(g, &widths[i], DG_READ, unrolls[u], prefetch);
        for (int kind = DG_WRITE; kind < DG_TRAFFIC_COUNT; kind++)
            stream(g, &widths[i], (enum dg_traffic)kind, 8, false);
    }
}

/* Loads of which each gives the address of the next. */
static void chase(struct gen *g, unsigned bits, const char *features, const char *load)
{
    unsigned number = gen_begin(g, CHASE_PROTOTYPE), label = g->labels++;
    if (g->x86)
        fprintf(g->s, "\tmov %%rdi, %%rax\n\t.p2align 6\n.Lchase%u:\n\t.rept %d\n%s\t.endr\n"
                "\tdec %%rsi\n\tjnz .Lchase%u\n%s\tret\n", label, DG_CHASE_LOADS, load, label,
                bits > 128 ? "\tvzeroupper\n" : "");
    else
        fprintf(g->s, "\t.p2align 6\n.Lchase%u:\n\t.rept %d\n%s\t.endr\n\tsubs x1, x1, #1\n"
                "\tb.ne .Lchase%u\n\tret\n", label, DG_CHASE_LOADS, load, label);
    gen_end(g, number);
    fprintf(g->table[TABLE_CHASES], "    {%u, \"%s\", dg_loop_%u},\n", bits, features, number);
}

void gen_chases(struct gen *g)
{
    if (g->x86) {
        chase(g, 64, "", "\tmov (%rax), %rax\n");
        chase(g, 512, "avx512f", "\tvmovups (%rax), %zmm0\n\tvmovq %xmm0, %rax\n");
        chase(g, 256, "avx", "\tvmovups (%rax), %ymm0\n\tvmovq %xmm0, %rax\n");
        chase(g, 128, "sse2", "\tmovups (%rax), %xmm0\n\tmovq %xmm0, %rax\n");
    } else {
        chase(g, 64, "", "\tldr x0, [x0]\n");
        chase(g, 128, "asimd", "\tldr q0, [x0]\n\tfmov x0, d0\n");
    }
}

static void reference(struct gen *g, const char *name, const char *x86, const char *arm,
                      unsigned repeats, unsigned per_trip)
{
    char label[32];
    unsigned number = gen_begin(g, LOOP_PROTOTYPE);
    snprintf(label, sizeof label, ".Lloop%u", g->labels++);
    gen_enter(g, "i64", 0, 0);
    fprintf(g->s, "\t.p2align 6\n%s:\n\t.rept %u\n%s\t.endr\n", label, repeats,
            g->x86 ? x86 : arm);
    gen_count_down(g, label);
    gen_leave(g, 0);
    gen_end(g, number);
    fprintf(g->table[TABLE_LOOPS],
            "    {DG_LOOP_LATENCY, \"%s\", NULL, 0, 1, 0, 0, \"\", %u, dg_loop_%u},\n",
            name, per_trip, number);
}

void gen_references(struct gen *g)
{
    reference(g, DG_REF_ADD, "\tadd %r15, %rax\n", "\tadd x2, x2, x16\n", 128, 128);
    reference(g, DG_REF_XOR_ROTATE, "\txor %r15, %rax\n\trol $13, %rax\n",
              "\teor x2, x2, x16\n\tror x2, x2, #51\n", 64, 64);
    reference(g, DG_REF_MULTIPLY, "\timul %r15, %rax\n", "\tmul x2, x2, x16\n", 64, 64);
    reference(g, DG_REF_WIDE,
              "\tadd %r15, %rax\n\tadd %r15, %rcx\n\tadd %r15, %rdx\n\tadd %r15, %r8\n"
              "\tadd %r15, %r9\n\tadd %r15, %r10\n\tadd %r15, %r11\n\tadd %r15, %rbx\n",
              "\tadd x2, x2, x16\n\tadd x3, x3, x16\n\tadd x4, x4, x16\n\tadd x5, x5, x16\n"
              "\tadd x6, x6, x16\n\tadd x7, x7, x16\n\tadd x8, x8, x16\n\tadd x9, x9, x16\n",
              16, 128);
    reference(g, DG_REF_THROUGH_VECTOR, "\tmovq %rax, %xmm0\n\tmovq %xmm0, %rax\n",
              "\tfmov d0, x2\n\tfmov x2, d0\n", 64, 64);
}
