/* SPDX-License-Identifier: Apache-2.0
 * Loads of a few places in turn, straight code that does nothing, and the clock's chain beside
 * vector work. */
#include "microbench/loops/generate/generate.h"

#include "microbench/loops/loops.h"

#define PICK_PROTOTYPE "void dg_loop_%u(uint64_t trips, unsigned char *at[DG_PICKS]);\n"
#define CODE_PROTOTYPE "void dg_loop_%u(uint64_t trips, uint64_t bytes);\n"
#define LOOP_PROTOTYPE "void dg_loop_%u(uint64_t trips, void *block);\n"

/* One width of loads: how a register of it is loaded and stored. */
struct pick {
    unsigned bits;
    const char *features, *x86_load, *x86_store, *arm;
};
static const struct pick picks[] = {
    {64, "", "\tmov (%%%s), %%r11\n", "\tmov %%r11, (%%%s)\n", "\t%s x12, [%s]\n"},
    {512, "avx512f", "\tvmovups (%%%s), %%zmm0\n", "\tvmovups %%zmm1, (%%%s)\n", NULL},
    {256, "avx", "\tvmovups (%%%s), %%ymm0\n", "\tvmovups %%ymm1, (%%%s)\n", NULL},
    {128, "", "\tmovups (%%%s), %%xmm0\n", "\tmovups %%xmm1, (%%%s)\n", "\t%s q0, [%s]\n"},
};

/* The first place: %rax, then %rcx, %rdx, %r8; x2 to x5. */
static void one_pick(struct gen *g, const struct pick *p, bool store, unsigned place)
{
    static const char *const x86[DG_PICKS] = {"rax", "rcx", "rdx", "r8"};
    static const char *const arm[DG_PICKS] = {"x2", "x3", "x4", "x5"};
    if (g->x86)
        fprintf(g->s, store && place == 0 ? p->x86_store : p->x86_load, x86[place]);
    else
        fprintf(g->s, p->arm, store && place == 0 ? "str" : "ldr", arm[place]);
}

static void pick_loop(struct gen *g, const struct pick *p, bool store)
{
    unsigned number = gen_begin(g, PICK_PROTOTYPE, p->features), label = g->labels++;
    fprintf(g->s, g->x86 ? "\tmov (%%rsi), %%rax\n\tmov 8(%%rsi), %%rcx\n\tmov 16(%%rsi), %%rdx\n"
                           "\tmov 24(%%rsi), %%r8\n\txor %%r11d, %%r11d\n"
                         : "\tldp x2, x3, [x1]\n\tldp x4, x5, [x1, #16]\n\tmov x12, #0\n");
    if (g->x86 && p->bits > 64)
        fprintf(g->s, "\txorps %%xmm1, %%xmm1\n");
    if (g->x86 && p->bits > 128)
        fprintf(g->s, "\tvxorps %%xmm1, %%xmm1, %%xmm1\n");
    fprintf(g->s, "\t.p2align 6\n.Lpick%u:\n", label);
    for (unsigned i = 0; i < DG_PICK_LOADS; i++)
        one_pick(g, p, store, i % DG_PICKS);
    fprintf(g->s, g->x86 ? "\tdec %%rdi\n\tjnz .Lpick%u\n" : "\tsubs x0, x0, #1\n\tb.ne .Lpick%u\n",
            label);
    fprintf(g->s, "%s\tret\n", g->x86 && p->bits > 128 ? "\tvzeroupper\n" : "");
    gen_end(g, number);
    fprintf(g->table[TABLE_PICKS], "    {%u, %s, \"%s\", dg_loop_%u},\n", p->bits,
            store ? "true" : "false", p->features, number);
}

void gen_picks(struct gen *g)
{
    for (unsigned i = 0; i < sizeof picks / sizeof *picks; i++)
        for (int store = 0; store < 2 && (g->x86 || picks[i].arm != NULL); store++)
            pick_loop(g, &picks[i], store != 0);
}

/* Entered so far before the end that `bytes` of it run. */
static void code_loop(struct gen *g, unsigned length, const char *x86)
{
    enum { MOST = 262144 };
    unsigned number = gen_begin(g, CODE_PROTOTYPE, ""), label = g->labels++;
    if (g->x86)
        fprintf(g->s, "\tlea .Lend%u(%%rip), %%rax\n\tsub %%rsi, %%rax\n.Lcode%u:\n\tjmp *%%rax\n"
                "\t.p2align 6\n\t.rept %u\n%s\t.endr\n.Lend%u:\n\tdec %%rdi\n\tjnz .Lcode%u\n"
                "\tret\n", label, label, MOST / length, x86, label, label);
    else
        fprintf(g->s, "\tadrp x2, .Lend%u\n\tadd x2, x2, :lo12:.Lend%u\n\tsub x2, x2, x1\n"
                ".Lcode%u:\n\tbr x2\n\t.p2align 6\n\t.rept %u\n\tnop\n\t.endr\n.Lend%u:\n"
                "\tsubs x0, x0, #1\n\tb.ne .Lcode%u\n\tret\n", label, label, label, MOST / length,
                label, label);
    gen_end(g, number);
    fprintf(g->table[TABLE_CODES], "    {%u, %u, dg_loop_%u},\n", length, MOST, number);
}

/* Short instructions meet the limit of how many are taken a cycle, long ones that of bytes. */
void gen_codes(struct gen *g)
{
    code_loop(g, 4, "\t.byte 0x0f, 0x1f, 0x40, 0x00\n");
    if (g->x86)
        code_loop(g, 8, "\t.byte 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n");
}

/* 32 links of the chain a trip, two multiply-adds of 8 beside each: few enough to go unnoticed by
 * the chain, many enough to heat the vector units. */
static void pace(struct gen *g, unsigned bits, const char *features)
{
    enum { LINKS = 32, SUMS = 8 };
    static const char *const letters[] = {"x", "y", "z"};
    const char *letter = letters[bits / 256];
    unsigned number = gen_begin(g, LOOP_PROTOTYPE, features), label = g->labels++;
    fprintf(g->s, g->x86 ? "\tmov $3, %%eax\n\tmov $0x5bd1e995, %%ecx\n"
                         : "\tmov x2, #3\n\tmov x3, #0xe995\n");
    for (unsigned i = 0; i < SUMS + 1; i++) {
        if (g->x86)
            fprintf(g->s, "\tvmovups %u(%%rsi), %%%smm%u\n", DG_BLOCK_TINY_F32, letter, i);
        else
            fprintf(g->s, "\tldr q%u, [x1, #%u]\n", i < 8 ? i : 16, DG_BLOCK_TINY_F32 / 16 * 16);
    }
    fprintf(g->s, "\t.p2align 6\n.Lpace%u:\n", label);
    for (unsigned i = 0; i < 3 * LINKS; i++) {
        unsigned sum = (i / 3 * 2 + i % 3 - 1) % SUMS;
        if (i % 3 == 0)
            fprintf(g->s, g->x86 ? "\timul %%rcx, %%rax\n" : "\tmul x2, x2, x3\n");
        else if (g->x86)
            fprintf(g->s, "\tvfmadd231ps %%%smm8, %%%smm8, %%%smm%u\n", letter, letter,
                    letter, sum);
        else
            fprintf(g->s, "\tfmla v%u.4s, v16.4s, v16.4s\n", sum);
    }
    fprintf(g->s, g->x86 ? "\tdec %%rdi\n\tjnz .Lpace%u\n\tvzeroupper\n\tret\n"
                         : "\tsubs x0, x0, #1\n\tb.ne .Lpace%u\n\tret\n", label);
    gen_end(g, number);
    fprintf(g->table[TABLE_LOOPS],
            "    {DG_LOOP_LATENCY, \"%s%u\", NULL, 0, 1, 0, 0, \"%s\", %u, dg_loop_%u},\n",
            DG_REF_PACE, bits, features, LINKS, number);
}

void gen_paces(struct gen *g)
{
    pace(g, 128, g->x86 ? "fma" : "asimd");
    if (g->x86) {
        pace(g, 256, "avx,fma");
        pace(g, 512, "avx512f");
    }
}
