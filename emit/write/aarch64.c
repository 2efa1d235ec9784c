/* SPDX-License-Identifier: Apache-2.0
 *
 * AArch64 (AAPCS64), GNU syntax. x18 (the platform's), x29 and x30 are never touched, so the frame
 * chain and the return address stay as the caller left them. */
#include <assert.h>
#include <elf.h>

#include "emit/write/target.h"

enum {
    SCALARS = 28, FIRST_SAVED = 18, FIRST_SAVED_VECTOR = 8, LAST_SAVED_VECTOR = 15, DWARF_V0 = 64,
    STACK_ALIGN = 16,
};
static const char *const names[SCALARS] = {
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
    "x15", "x16", "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
};

static const char *scalar(unsigned number)
{
    assert(number < SCALARS);
    return names[number];
}

static const char *vector(const struct dg_isa *isa)
{
    (void)isa;
    return "v";
}

static void address(struct dg_str *out, const char *base, int64_t offset)
{
    if (offset == 0)
        dg_str_format(out, "[%s]", base);
    else
        dg_str_format(out, "[%s, #%lld]", base, (long long)offset);
}

static void operand(struct dg_str *out, const struct dg_ir_op *op, unsigned index, char view,
                    int64_t add)
{
    const struct dg_ir_operand *o = &op->operand[index];
    switch (o->kind) {
    case DG_IR_VECTOR:
        dg_str_format(out, "%c%u", view != 0 ? view : 'v', o->index);
        break;
    case DG_IR_SCALAR:
        dg_str_format(out, "%c%s", view == 'w' ? 'w' : 'x', scalar(o->index) + 1);
        break;
    case DG_IR_MEMORY:
        address(out, scalar(o->index), o->value + add);
        break;
    case DG_IR_IMMEDIATE:
        dg_str_format(out, "#%lld", (long long)o->value);
        break;
    case DG_IR_SLOT:
        address(out, "sp", 8 * (int64_t)o->index);
        break;
    case DG_IR_LABEL:
    case DG_IR_NONE:
        assert(!"spelled the same everywhere");
    }
}

static void mask(struct dg_str *out, unsigned number, bool braces)
{
    (void)out, (void)number, (void)braces;
    assert(!"no mask registers here");
}

/* In the file, so that a bare assembler or compiler driver needs no flags. */
static void begin(struct dg_str *out, const struct dg_isa *isa)
{
    (void)isa;
    dg_str_add(out, "\t.arch armv8-a\n");
}

/* The saved registers in pairs, as text and DWARF number; the stack moves by multiples of 16. */
struct saved { char name[4]; unsigned dwarf; };

static unsigned list_saved(const struct dg_ir_code *code, struct saved *out)
{
    unsigned count = 0;
    for (unsigned i = FIRST_SAVED; i < SCALARS; i++)
        if (code->scalars_used >> i & 1) {
            dg_format(out[count].name, sizeof out->name, "%s", names[i]);
            out[count++].dwarf = i + 1;                   /* names[18] is x19 */
        }
    if (count % 2 != 0)
        out[count++] = (struct saved){ "xzr", 0 };
    for (unsigned i = FIRST_SAVED_VECTOR; i <= LAST_SAVED_VECTOR; i++)
        if (code->vectors_used >> i & 1) {
            dg_format(out[count].name, sizeof out->name, "d%u", i);
            out[count++].dwarf = DWARF_V0 + i;
        }
    return count;
}

/* stp or ldp of a pair, str or ldr of the last one of an odd count. */
static void move_saved(struct dg_str *out, const struct saved *s, unsigned count, bool store)
{
    for (unsigned i = 0; i < count; i += 2) {
        bool pair = i + 1 < count && s[i + 1].dwarf != 0;
        dg_str_format(out, "\t%s%s %s", store ? "st" : "ld", pair ? "p" : "r", s[i].name);
        if (pair)
            dg_str_format(out, ", %s", s[i + 1].name);
        dg_str_add(out, ", ");
        address(out, "sp", 8 * (int64_t)i);
        dg_str_addc(out, '\n');
    }
    for (unsigned i = 0; i < count; i++)
        if (s[i].dwarf != 0 && store)
            dg_str_format(out, "\t.cfi_rel_offset %u, %u\n", s[i].dwarf, 8 * i);
        else if (s[i].dwarf != 0)
            dg_str_format(out, "\t.cfi_restore %u\n", s[i].dwarf);
}

static unsigned saved_bytes(unsigned count)
{
    return (8 * count + STACK_ALIGN - 1) / STACK_ALIGN * STACK_ALIGN;
}

static void save(struct dg_str *out, const struct dg_ir_code *code)
{
    struct saved saved[SCALARS] = { 0 };
    unsigned count = list_saved(code, saved);
    dg_stack_move(out, &dg_target_aarch64, saved_bytes(count), 1);
    move_saved(out, saved, count, true);
}

static void restore(struct dg_str *out, const struct dg_ir_code *code)
{
    struct saved saved[SCALARS] = { 0 };
    unsigned count = list_saved(code, saved);
    move_saved(out, saved, count, false);
    dg_stack_move(out, &dg_target_aarch64, saved_bytes(count), -1);
}

static void leave(struct dg_str *out, const struct dg_ir_code *code)
{
    (void)code;
    dg_str_add(out, "\tmov w0, wzr\n\tret\n");
}

static void keep_stamps(struct dg_str *out, unsigned at)
{
    dg_str_format(out, "\tstp x3, x4, [sp, #%u]\n", at);
}

static void stamp(struct dg_str *out, const char *full, unsigned at, bool fenced)
{
    dg_str_format(out, "\tstp x0, x1, [sp, #%u]\n", at + 16);
    dg_str_format(out, "\tldp x0, x1, [sp, #%u]\n\tcmp x0, x1\n\tb.hs %s\n", at, full);
    dg_str_format(out, "%s\tmrs x1, cntvct_el0\n\tstr x1, [x0], #8\n", fenced ? "\tisb\n" : "");
    dg_str_format(out, "\tstr x0, [sp, #%u]\n%s:\n", at, full);
    dg_str_format(out, "\tldp x0, x1, [sp, #%u]\n", at + 16);
}

/* movz and movk, nothing for zero quarters but the first. */
static void load_constant(struct dg_str *out, const char *name, uint64_t value)
{
    dg_str_format(out, "\tmovz %s, #%u\n", name, (unsigned)(value & 0xffff));
    for (unsigned shift = 16; shift < 64; shift += 16)
        if ((value >> shift & 0xffff) != 0)
            dg_str_format(out, "\tmovk %s, #%u, lsl #%u\n", name,
                          (unsigned)(value >> shift & 0xffff), shift);
}

static void refuse_null(struct dg_str *out, bool needed, const char *name, const char *label)
{
    if (needed)
        dg_str_format(out, "\tcbz %s, %s_refuse\n", name, label);
}

static void checked_entry(struct dg_str *out, const struct dg_checks *c)
{
    refuse_null(out, true, "x0", c->label);
    dg_str_format(out, "\tldr x9, [x0, #%u]\n\tcmp x9, #%u\n\tb.lo %s_refuse\n", DG_AT(size),
                  (unsigned)sizeof(struct dg_kernel_args), c->label);
    dg_str_format(out, "\tldp w9, w10, [x0, #%u]\n\tcbnz w9, %s_refuse\n", DG_AT(part), c->label);
    dg_str_format(out, "\tcmp w10, #1\n\tb.hi %s_refuse\n", c->label);
    dg_str_format(out, "\tldr x9, [x0, #%u]\n\tcbz x9, %s_rows\n", DG_AT(m), c->label);
    load_constant(out, "x10", c->m);
    dg_str_format(out, "\tcmp x9, x10\n\tb.ne %s_refuse\n%s_rows:\n", c->label, c->label);
    dg_str_format(out, ".ifdef DG_TIMING\n\tldp x3, x4, [x0, #%u]\n\tadd x4, x3, x4, lsl #3\n"
                       "\tcmp x3, #0\n\tcsel x4, x3, x4, eq\n.endif\n", DG_AT(stamps));
    dg_str_format(out, "\tldp x1, x2, [x0, #%u]\n\tldr x0, [x0, #%u]\n", DG_AT(b), DG_AT(a));
    refuse_null(out, c->a, "x0", c->label);
    refuse_null(out, c->b, "x1", c->label);
    refuse_null(out, c->c, "x2", c->label);
    if (c->b && c->b_alignment > 1)
        dg_str_format(out, "\ttst x1, #%u\n\tb.ne %s_refuse\n", c->b_alignment - 1, c->label);
    dg_str_format(out, "\tb %s\n%s_refuse:\n\tmov w0, #2\n\tret\n", c->label, c->label);
}

static void constant(struct dg_str *out, uint64_t value)
{
    load_constant(out, "x0", value);
    dg_str_add(out, "\tret\n");
}

const struct dg_target dg_target_aarch64 = {
    .architecture = "aarch64", .triple = "aarch64-linux-gnu", .elf_machine = EM_AARCH64,
    .type_sign = '%', .stamp_clock = "cntvct_el0", .stack_align = STACK_ALIGN,
    .stack_move = { "sp, sp, #", "" },
    /* `bti c` by its number: older architectures run it as a no-operation and older assemblers
     * know it without a newer .arch. */
    .entry_mark = "\thint #34\n",
    .no_stamps = "\tmov x3, xzr\n\tmov x4, xzr\n",
    /* BTI holds because every function begins with it and nothing jumps through a register; PAC
     * because the return address never leaves its register. */
    .notes = "\t.section .note.gnu.property, \"a\", %note\n\t.p2align 3\n"
             "\t.word 4, 16, 5\n\t.asciz \"GNU\"\n"
             "\t.word 0xc0000000, 4, 3, 0\n"
             "\t.section .note.GNU-stack, \"\", %progbits\n",
    .operand = operand, .mask = mask, .scalar = scalar, .vector = vector, .begin = begin,
    .save = save, .restore = restore, .leave = leave, .keep_stamps = keep_stamps, .stamp = stamp,
    .checked_entry = checked_entry, .constant = constant,
};
_Static_assert(DG_AT(c) == DG_AT(b) + 8 && DG_AT(parts) == DG_AT(part) + 4 &&
               DG_AT(stamp_capacity) == DG_AT(stamps) + 8, "loaded in pairs");
