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
    unsigned bits;
    const char *features, *fma_features;
    unsigned places;                           /* copies of the code of plain reads */
};
static const struct width x86_widths[] = {
    {512, "avx512f", "avx512f", 3}, {256, "avx", "avx,fma", 3}, {128, "sse2", "sse2", 1},
};
static const struct width arm_widths[] = {{128, "asimd", "asimd", 3}};

static const char *const kind_names[DG_TRAFFIC_COUNT] = {
    "DG_READ", "DG_WRITE", "DG_COPY", "DG_SCALE", "DG_ADD", "DG_TRIAD",
    "DG_NT_COPY", "DG_NT_WRITE", "DG_NT_TRIAD", "DG_READ_FMA",
};

/* What is done with one vector of the pass. */
struct steps { bool reads, scales, adds, writes, nt, fma; };
static const struct steps steps_of[DG_TRAFFIC_COUNT] = {
    [DG_READ] = {.reads = true}, [DG_WRITE] = {.writes = true},
    [DG_COPY] = {.reads = true, .writes = true},
    [DG_SCALE] = {.reads = true, .scales = true, .writes = true},
    [DG_ADD] = {.reads = true, .adds = true, .writes = true},
    [DG_TRIAD] = {.reads = true, .scales = true, .adds = true, .writes = true},
    [DG_NT_COPY] = {.reads = true, .writes = true, .nt = true},
    [DG_NT_WRITE] = {.writes = true, .nt = true},
    [DG_NT_TRIAD] = {.reads = true, .scales = true, .adds = true, .writes = true, .nt = true},
    [DG_READ_FMA] = {.reads = true, .fma = true},
};

/* One loop. `unroll` vectors a pass, of each of `streams` places that are read side by side. */
struct form {
    const struct width *w;
    enum dg_traffic kind;
    unsigned unroll, streams, place;
    bool prefetch;
};

/* Registers: 0 to 7 hold what is read, FIRST_SUM on the sums of multiply-adds, FACTOR a 1. */
enum { READ_REGISTERS = 8, FIRST_SUM = 8, SUMS = 7 };

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

static void x86_fma(FILE *s, const struct width *w, unsigned reg, unsigned sum)
{
    char c = letter(w);
    if (w->bits == 128)
        fprintf(s, "\tmulps %%xmm15, %%xmm%u\n\taddps %%xmm%u, %%xmm%u\n", reg, reg, sum);
    else
        fprintf(s, "\tvfmadd231ps %%%cmm%u, %%%cmm15, %%%cmm%u\n", c, reg, c, c, sum);
}

/* One vector of the pass at `offset`: arrays a, b in %rax, %rdx, c in %rcx; 15 holds the factor.
 * Places that are read side by side are %r11 apart, the last of four has %rcx. */
static void x86_element(FILE *s, const struct form *f, unsigned offset, unsigned stream,
                        unsigned index)
{
    static const char *const places[] = {"(%rax)", "(%rax,%r11)", "(%rax,%r11,2)", "(%rcx)"};
    const struct steps *step = &steps_of[f->kind];
    const struct width *w = f->w;
    char c = letter(w), memory[24], factor[16];
    const char *v = prefix(w);
    unsigned reg = index % READ_REGISTERS;
    snprintf(memory, sizeof memory, "%u(%%rdx)", offset);
    snprintf(factor, sizeof factor, "%%%cmm15", c);
    if (step->reads)
        fprintf(s, "\t%smovaps %u%s, %%%cmm%u\n", v, offset, places[stream], c, reg);
    if (step->scales)
        x86_binary(s, w, "mulps", factor, reg);
    if (step->adds)
        x86_binary(s, w, "addps", memory, reg);
    if (step->fma)
        x86_fma(s, w, reg, FIRST_SUM + index % SUMS);
    if (step->writes)
        fprintf(s, "\t%s%s %%%cmm%u, %u(%%rcx)\n", v, step->nt ? "movntps" : "movaps", c,
                step->reads ? reg : 15, offset);
}

/* The same with x1, x2, x3, a in v0 to v7, b 16 further on; v31 holds the factor. Places side by
 * side: x1, x7, x8, x9. */
static void arm_element(FILE *s, const struct form *f, unsigned offset, unsigned stream,
                        unsigned index)
{
    static const char *const places[] = {"x1", "x7", "x8", "x9"};
    const struct steps *step = &steps_of[f->kind];
    unsigned reg = index % READ_REGISTERS, from = step->reads ? reg : 31;
    if (step->reads)
        fprintf(s, "\tldr q%u, [%s, #%u]\n", reg, places[stream], offset);
    if (step->scales)
        fprintf(s, "\tfmul v%u.4s, v%u.4s, v31.4s\n", reg, reg);
    if (step->adds)
        fprintf(s, "\tldr q%u, [x2, #%u]\n\tfadd v%u.4s, v%u.4s, v%u.4s\n", reg + 16, offset, reg,
                reg, reg + 16);
    if (step->fma)
        fprintf(s, "\tfmla v%u.4s, v%u.4s, v31.4s\n", 16 + index % SUMS, reg);
    if (step->writes && step->nt && offset % 32 == 16)
        fprintf(s, "\tstnp q%u, q%u, [x3, #%u]\n", step->reads ? reg - 1 : 31, from, offset - 16);
    else if (step->writes && !step->nt)
        fprintf(s, "\tstr q%u, [x3, #%u]\n", from, offset);
}

/* The factor is 1: values stay what they are, pass after pass. */
static void x86_start(FILE *s, const struct form *f, unsigned label)
{
    const struct width *w = f->w;
    char c = letter(w);
    fprintf(s, "\tmov $0x3f800000, %%r9d\n\tmov %zu(%%rdi), %%r10\n", AT(passes));
    if (w->bits == 128)
        fprintf(s, "\tmovd %%r9d, %%xmm15\n\tshufps $0, %%xmm15, %%xmm15\n");
    else if (w->bits == 512)
        fprintf(s, "\tvpbroadcastd %%r9d, %%zmm15\n");
    else
        fprintf(s, "\tvmovd %%r9d, %%xmm15\n\tvshufps $0, %%xmm15, %%xmm15, %%xmm15\n"
                "\tvinsertf128 $1, %%xmm15, %%%cmm15, %%%cmm15\n", c, c);
    for (unsigned i = 0; steps_of[f->kind].fma && i < SUMS; i++)
        fprintf(s, "\t%smovaps %%%cmm15, %%%cmm%u\n", prefix(w), c, c, FIRST_SUM + i);
    fprintf(s, ".Lagain%u:\n\tmov %zu(%%rdi), %%rax\n\tmov %zu(%%rdi), %%rdx\n"
            "\tmov %zu(%%rdi), %%rcx\n\tmov %zu(%%rdi), %%rsi\n\tadd %%rax, %%rsi\n"
            "\tmov %zu(%%rdi), %%r8\n\tadd %%rax, %%r8\n",
            label, AT(a), AT(b), AT(c), AT(bytes), AT(distance));
    if (f->streams > 1)
        fprintf(s, "\tmov %zu(%%rdi), %%r11\n\tlea (%%rax,%%r11,2), %%rcx\n\tadd %%r11, %%rcx\n",
                AT(part));
    fprintf(s, "\t.p2align 6\n.Lpass%u:\n", label);
}

/* Loads of all places in turn, a prefetch beside the first load of each line. */
static void elements(struct gen *g, const struct form *f)
{
    unsigned bytes = f->w->bits / 8, index = 0;
    for (unsigned i = 0; i < f->unroll; i++) {
        if (f->prefetch && i * bytes % 64 == 0)
            fprintf(g->s, g->x86 ? "\tprefetcht0 %u(%%r8)\n" : "\tprfm pldl1keep, [x5, #%u]\n",
                    i * bytes);
        for (unsigned stream = 0; stream < f->streams; stream++, index++) {
            if (g->x86)
                x86_element(g->s, f, i * bytes, stream, index);
            else
                arm_element(g->s, f, i * bytes, stream, index);
        }
    }
}

static void x86_stream(struct gen *g, const struct form *f, unsigned label)
{
    FILE *s = g->s;
    const struct steps *kind = &steps_of[f->kind];
    unsigned step = f->unroll * f->w->bits / 8;
    x86_start(s, f, label);
    elements(g, f);
    if (f->prefetch)
        fprintf(s, "\tadd $%u, %%r8\n", step);
    if (kind->adds)
        fprintf(s, "\tadd $%u, %%rdx\n", step);
    if (kind->writes || f->streams > 1)
        fprintf(s, "\tadd $%u, %%rcx\n", step);
    fprintf(s, "\tadd $%u, %%rax\n\tcmp %%rsi, %%rax\n\tjb .Lpass%u\n\tdec %%r10\n\tjnz .Lagain%u\n"
            "%s%s\tret\n", step, label, label, kind->nt ? "\tsfence\n" : "",
            f->w->bits > 128 ? "\tvzeroupper\n" : "");
}

/* Steps beyond what one immediate adds go through a register. */
static void arm_advance(FILE *s, const char *pointer)
{
    fprintf(s, "\tadd %s, %s, x10\n", pointer, pointer);
}

static void arm_stream(struct gen *g, const struct form *f, unsigned label)
{
    static const char *const side[] = {"x7", "x8", "x9"};
    FILE *s = g->s;
    unsigned step = f->unroll * f->w->bits / 8;
    fprintf(s, "\tfmov v31.4s, #1.0\n\tmov x10, #%u\n\tldr x6, [x0, #%zu]\n.Lagain%u:\n"
            "\tldr x1, [x0, #%zu]\n\tldr x2, [x0, #%zu]\n\tldr x3, [x0, #%zu]\n"
            "\tldr x4, [x0, #%zu]\n\tldr x5, [x0, #%zu]\n\tadd x4, x1, x4\n\tadd x5, x1, x5\n",
            step, AT(passes), label, AT(a), AT(b), AT(c), AT(bytes), AT(distance));
    for (unsigned i = 0; steps_of[f->kind].fma && i < SUMS; i++)
        fprintf(s, "\tmov v%u.16b, v31.16b\n", 16 + i);
    if (f->streams > 1)
        fprintf(s, "\tldr x11, [x0, #%zu]\n\tadd x7, x1, x11\n\tadd x8, x7, x11\n"
                "\tadd x9, x8, x11\n", AT(part));
    fprintf(s, "\t.p2align 6\n.Lpass%u:\n", label);
    elements(g, f);
    if (f->prefetch)
        arm_advance(s, "x5");
    for (unsigned i = 1; i < f->streams; i++)
        arm_advance(s, side[i - 1]);
    arm_advance(s, "x2");
    arm_advance(s, "x3");
    arm_advance(s, "x1");
    fprintf(s, "\tcmp x1, x4\n\tb.lo .Lpass%u\n\tsubs x6, x6, #1\n\tb.ne .Lagain%u\n\tret\n",
            label, label);
}

static void stream(struct gen *g, const struct form *f)
{
    const char *features = steps_of[f->kind].fma ? f->w->fma_features : f->w->features;
    unsigned number = gen_begin(g, STREAM_PROTOTYPE, features), label = g->labels++;
    if (g->x86)
        x86_stream(g, f, label);
    else
        arm_stream(g, f, label);
    gen_end(g, number);
    fprintf(g->table[TABLE_STREAMS],
            "    {%s, %u, %u, %u, %u, %s, \"%s\", dg_loop_%u},\n", kind_names[f->kind],
            f->w->bits, f->unroll * f->streams * f->w->bits / 8, f->streams, f->place,
            f->prefetch ? "true" : "false", features, number);
}

/* Plain reads by bytes per pass: the first is what a request gets that asks for none. */
static void reads(struct gen *g, const struct width *w)
{
    static const unsigned steps[] = {
        1024, 64, 128, 256, 512, 1536, 2048, 3072, 4096, 4608, 6144, 8192, 9216, 12288, 18432,
    };
    struct form f = {.w = w, .kind = DG_READ, .streams = 1};
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        f.unroll = steps[i] / (w->bits / 8);
        for (f.place = 0; f.place < (steps[i] < 256 ? 1 : w->places); f.place++)
            for (int prefetch = 0; prefetch < 2; prefetch++) {
                f.prefetch = prefetch != 0;
                stream(g, &f);
            }
    }
}

void gen_streams(struct gen *g)
{
    const struct width *widths = g->x86 ? x86_widths : arm_widths;
    for (unsigned i = 0; i < (g->x86 ? 3U : 1U); i++) {
        reads(g, &widths[i]);
        for (unsigned unroll = 8; unroll <= 32; unroll += 24)
            stream(g, &(struct form){&widths[i], DG_READ, unroll, 4, 0, false});
        for (int kind = DG_READ + 1; kind < DG_TRAFFIC_COUNT; kind++)
            stream(g, &(struct form){&widths[i], (enum dg_traffic)kind,
                                     kind == DG_READ_FMA ? 16 : 8, 1, 0, false});
    }
}

/* Loads of which each gives the address of the next. */
static void chase(struct gen *g, unsigned bits, const char *features, const char *load)
{
    unsigned number = gen_begin(g, CHASE_PROTOTYPE, features), label = g->labels++;
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
    unsigned number = gen_begin(g, LOOP_PROTOTYPE, "");
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
