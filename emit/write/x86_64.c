/* SPDX-License-Identifier: Apache-2.0
 *
 * x86-64 System V, GNU syntax (AT&T). The offsets of the argument block are those of
 * include/deepgemm/kernel_args.h. */
#include <assert.h>
#include <elf.h>

#include "emit/write/target.h"

/* The first six take arguments; those from FIRST_SAVED on belong to the caller. rsp is not ours. */
enum { SCALARS = 15, FIRST_SAVED = 9 };
static const char *const names64[SCALARS] = {
    "%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9", "%r10", "%r11", "%rax",
    "%rbx", "%rbp", "%r12", "%r13", "%r14", "%r15",
};
static const char *const names32[SCALARS] = {
    "%edi", "%esi", "%edx", "%ecx", "%r8d", "%r9d", "%r10d", "%r11d", "%eax",
    "%ebx", "%ebp", "%r12d", "%r13d", "%r14d", "%r15d",
};

static const char *scalar(unsigned number)
{
    assert(number < SCALARS);
    return names64[number];
}

static const char *vector(const struct dg_isa *isa)
{
    return isa->vector_bits == 512 ? "%zmm" : isa->vector_bits == 256 ? "%ymm" : "%xmm";
}

static void operand(struct dg_str *out, const struct dg_ir_op *op, unsigned index, char view,
                    int64_t add)
{
    const struct dg_ir_operand *o = &op->operand[index];
    unsigned bits = view == 'x' ? 128 : view == 'y' ? 256 : op->op->bits;
    switch (o->kind) {
    case DG_IR_VECTOR:
        dg_str_format(out, "%%%cmm%u", bits == 512 ? 'z' : bits == 256 ? 'y' : 'x', o->index);
        break;
    case DG_IR_SCALAR:
        assert(o->index < SCALARS);
        dg_str_add(out, view == 'w' ? names32[o->index] : names64[o->index]);
        break;
    case DG_IR_MEMORY:
        if (o->value + add != 0)
            dg_str_format(out, "%lld", (long long)(o->value + add));
        dg_str_format(out, "(%s)", scalar(o->index));
        break;
    case DG_IR_IMMEDIATE:
        dg_str_format(out, "$%lld", (long long)o->value);
        break;
    case DG_IR_SLOT:
        dg_str_format(out, "%u(%%rsp)", 8 * o->index);
        break;
    case DG_IR_LABEL:
    case DG_IR_NONE:
        assert(!"spelled the same everywhere");
    }
}

static void mask(struct dg_str *out, unsigned number, bool braces)
{
    dg_str_format(out, braces ? "{%%k%u}" : "%%k%u", number);
}

static void begin(struct dg_str *out, const struct dg_isa *isa)
{
    (void)out, (void)isa;
}

static void save(struct dg_str *out, const struct dg_ir_code *code)
{
    for (unsigned i = FIRST_SAVED; i < SCALARS; i++)
        if (code->scalars_used >> i & 1)
            dg_str_format(out, "\tpush %s\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset %s, 0\n",
                          names64[i], names64[i]);
}

static void restore(struct dg_str *out, const struct dg_ir_code *code)
{
    for (unsigned i = SCALARS; i-- > FIRST_SAVED;)
        if (code->scalars_used >> i & 1)
            dg_str_format(out, "\tpop %s\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_restore %s\n",
                          names64[i], names64[i]);
}

static void leave(struct dg_str *out, const struct dg_ir_code *code)
{
    dg_str_add(out, "\txor %eax, %eax\n");
    if (code->vectors_used != 0)
        dg_str_add(out, "\tvzeroupper\n");
    dg_str_add(out, "\tret\n");
}

static void keep_stamps(struct dg_str *out, unsigned at)
{
    dg_str_format(out, "\tmov %%r8, %u(%%rsp)\n\tmov %%r9, %u(%%rsp)\n", at, at + 8);
}

/* Inside not fenced: neighbouring slices share the stamp between them, so what an early read takes
 * from one it gives to the next, and the kernel is not drained. */
static void stamp(struct dg_str *out, const char *full, unsigned at, bool fenced)
{
    dg_str_format(out, "\tmov %%rax, %u(%%rsp)\n\tmov %%rdx, %u(%%rsp)\n", at + 16, at + 24);
    dg_str_add(out, fenced ? "\tlfence\n" : "");
    dg_str_add(out, "\trdtsc\n\tshl $32, %rdx\n\tor %rdx, %rax\n");
    dg_str_format(out, "\tmov %u(%%rsp), %%rdx\n\tcmp %u(%%rsp), %%rdx\n\tjae %s\n", at, at + 8,
                  full);
    dg_str_format(out, "\tmov %%rax, (%%rdx)\n\tadd $8, %%rdx\n\tmov %%rdx, %u(%%rsp)\n", at);
    dg_str_format(out, "%s:\n\tmov %u(%%rsp), %%rax\n\tmov %u(%%rsp), %%rdx\n", full, at + 16,
                  at + 24);
}

static void refuse_if(struct dg_str *out, const char *condition, const char *label)
{
    dg_str_format(out, "\tj%s %s_refuse\n", condition, label);
}

static void refuse_null(struct dg_str *out, bool needed, const char *name, const char *label)
{
    if (needed) {
        dg_str_format(out, "\ttest %s, %s\n", name, name);
        refuse_if(out, "z", label);
    }
}

static void checked_entry(struct dg_str *out, const struct dg_checks *c)
{
    refuse_null(out, true, "%rdi", c->label);
    dg_str_format(out, "\tcmpq $%u, %u(%%rdi)\n", (unsigned)sizeof(struct dg_kernel_args),
                  DG_AT(size));
    refuse_if(out, "b", c->label);
    dg_str_format(out, "\tcmpl $0, %u(%%rdi)\n", DG_AT(part));
    refuse_if(out, "nz", c->label);
    dg_str_format(out, "\tcmpl $1, %u(%%rdi)\n", DG_AT(parts));
    refuse_if(out, "a", c->label);
    dg_str_format(out, "\tmov %u(%%rdi), %%rax\n\ttest %%rax, %%rax\n\tjz %s_rows\n", DG_AT(m),
                  c->label);
    dg_str_format(out, "\tmov $%llu, %%rcx\n\tcmp %%rcx, %%rax\n", (unsigned long long)c->m);
    refuse_if(out, "ne", c->label);
    dg_str_format(out, "%s_rows:\n", c->label);
    dg_str_format(out, ".ifdef DG_TIMING\n\tmov %u(%%rdi), %%r8\n\tmov %u(%%rdi), %%r9\n"
                       "\tlea (%%r8,%%r9,8), %%r9\n\ttest %%r8, %%r8\n\tcmovz %%r8, %%r9\n.endif\n",
                  DG_AT(stamps), DG_AT(stamp_capacity));
    dg_str_format(out, "\tmov %u(%%rdi), %%rsi\n\tmov %u(%%rdi), %%rdx\n\tmov %u(%%rdi), %%rdi\n",
                  DG_AT(b), DG_AT(c), DG_AT(a));
    refuse_null(out, c->a, "%rdi", c->label);
    refuse_null(out, c->b, "%rsi", c->label);
    refuse_null(out, c->c, "%rdx", c->label);
    if (c->b && c->b_alignment > 1) {
        dg_str_format(out, "\ttest $%u, %%sil\n", c->b_alignment - 1);
        refuse_if(out, "nz", c->label);
    }
    dg_str_format(out, "\tjmp %s\n%s_refuse:\n\tmov $2, %%eax\n\tret\n", c->label, c->label);
}

static void constant(struct dg_str *out, uint64_t value)
{
    dg_str_format(out, value <= UINT32_MAX ? "\tmov $%llu, %%eax\n\tret\n"
                                           : "\tmov $%llu, %%rax\n\tret\n",
                  (unsigned long long)value);
}

const struct dg_target dg_target_x86_64 = {
    .architecture = "x86_64", .triple = "x86_64-linux-gnu", .elf_machine = EM_X86_64,
    .type_sign = '@', .stamp_clock = "rdtsc", .stack_align = 8, .stack_move = { "$", ", %rsp" },
    .entry_mark = "\tendbr64\n",
    .no_stamps = "\txor %r8d, %r8d\n\txor %r9d, %r9d\n",
    /* Every function begins with endbr64, none jumps through a register or changes its return
     * address: both halves of the control-flow property hold. */
    .notes = "\t.section .note.gnu.property, \"a\", @note\n\t.p2align 3\n"
             "\t.long 4, 16, 5\n\t.asciz \"GNU\"\n"
             "\t.long 0xc0000002, 4, 3, 0\n"
             "\t.section .note.GNU-stack, \"\", @progbits\n",
    .operand = operand, .mask = mask, .scalar = scalar, .vector = vector, .begin = begin,
    .save = save, .restore = restore, .leave = leave, .keep_stamps = keep_stamps, .stamp = stamp,
    .checked_entry = checked_entry, .constant = constant,
};
