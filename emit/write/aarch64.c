/* SPDX-License-Identifier: Apache-2.0
 *
 * AArch64 (AAPCS64), GNU syntax. x18 (the platform's), x29 and x30 are never touched, so the frame
 * chain and the return address stay as the caller left them. */
#include <assert.h>
#include <elf.h>

#include "deepgemm/kernel_args.h"
#include "emit/write/target.h"

enum { SCALARS = 28, FIRST_SAVED = 18, FIRST_SAVED_VECTOR = 8, LAST_SAVED_VECTOR = 15 };
static const char *const names[SCALARS] = {
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
    "x15", "x16", "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
};

/* Frame of a DG_TIMING build, above the slots: next stamp, end of the buffer, two saved scalars */
enum { TIMING_BYTES = 32, DWARF_V0 = 64 };

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

static void operand(struct dg_str *out, const struct dg_function *f, const struct dg_ir_op *op,
                    unsigned index, char view, int64_t add)
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
        dg_str_format(out, "%s_%u", f->label, o->index);
        break;
    case DG_IR_NONE:
        assert(!"operand of a template is missing");
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

/* `bti c` by its number: older architectures run it as a no-operation and older assemblers know
 * it without a newer .arch. */
static void entry_mark(struct dg_str *out)
{
    dg_str_add(out, "\thint #34\n");
}

static void no_stamps(struct dg_str *out)
{
    dg_str_add(out, "\tmov x3, xzr\n\tmov x4, xzr\n");
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

static unsigned frame_bytes(const struct dg_function *f, bool timing)
{
    return (8 * f->code->slots + 15) / 16 * 16 + (timing ? TIMING_BYTES : 0);
}

static void move_stack(struct dg_str *out, const char *mnemonic, unsigned bytes, int sign)
{
    if (bytes == 0)
        return;
    dg_str_format(out, "\t%s sp, sp, #%u\n", mnemonic, bytes);
    dg_str_format(out, "\t.cfi_adjust_cfa_offset %s%u\n", sign < 0 ? "-" : "", bytes);
}

static void resize_frame(struct dg_str *out, const struct dg_function *f, const char *mnemonic,
                         int sign)
{
    if (!f->timed) {
        move_stack(out, mnemonic, frame_bytes(f, false), sign);
        return;
    }
    dg_str_add(out, ".ifdef DG_TIMING\n");
    move_stack(out, mnemonic, frame_bytes(f, true), sign);
    dg_str_add(out, ".else\n");
    move_stack(out, mnemonic, frame_bytes(f, false), sign);
    dg_str_add(out, ".endif\n");
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

static void enter(struct dg_str *out, const struct dg_function *f)
{
    struct saved saved[SCALARS] = { 0 };
    unsigned count = list_saved(f->code, saved);
    move_stack(out, "sub", (8 * count + 15) / 16 * 16, 1);
    move_saved(out, saved, count, true);
    resize_frame(out, f, "sub", 1);
    if (f->timed)
        dg_str_format(out, ".ifdef DG_TIMING\n\tstp x3, x4, [sp, #%u]\n.endif\n",
                      frame_bytes(f, false));
}

static void leave(struct dg_str *out, const struct dg_function *f)
{
    struct saved saved[SCALARS] = { 0 };
    unsigned count = list_saved(f->code, saved);
    resize_frame(out, f, "add", -1);
    move_saved(out, saved, count, false);
    move_stack(out, "add", (8 * count + 15) / 16 * 16, -1);
    dg_str_add(out, "\tmov w0, wzr\n\tret\n");
}

static void stamp(struct dg_str *out, struct dg_function *f, bool fenced)
{
    unsigned at = frame_bytes(f, false), number = f->stamps++;
    dg_str_format(out, ".ifdef DG_TIMING\n\tstp x0, x1, [sp, #%u]\n", at + 16);
    dg_str_format(out, "\tldp x0, x1, [sp, #%u]\n\tcmp x0, x1\n\tb.hs %s_full%u\n", at, f->label,
                  number);
    dg_str_format(out, "%s\tmrs x1, cntvct_el0\n\tstr x1, [x0], #8\n", fenced ? "\tisb\n" : "");
    dg_str_format(out, "\tstr x0, [sp, #%u]\n%s_full%u:\n", at, f->label, number);
    dg_str_format(out, "\tldp x0, x1, [sp, #%u]\n.endif\n", at + 16);
}

#define AT(member) ((unsigned)offsetof(struct dg_kernel_args, member))

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
    dg_str_format(out, "\tldr x9, [x0, #%u]\n\tcmp x9, #%u\n\tb.lo %s_refuse\n", AT(size),
                  (unsigned)sizeof(struct dg_kernel_args), c->label);
    dg_str_format(out, "\tldp w9, w10, [x0, #%u]\n\tcbnz w9, %s_refuse\n", AT(part), c->label);
    dg_str_format(out, "\tcmp w10, #1\n\tb.hi %s_refuse\n", c->label);
    dg_str_format(out, "\tldr x9, [x0, #%u]\n\tcbz x9, %s_rows\n", AT(m), c->label);
    load_constant(out, "x10", c->m);
    dg_str_format(out, "\tcmp x9, x10\n\tb.ne %s_refuse\n%s_rows:\n", c->label, c->label);
    dg_str_format(out, ".ifdef DG_TIMING\n\tldp x3, x4, [x0, #%u]\n\tadd x4, x3, x4, lsl #3\n"
                       "\tcmp x3, #0\n\tcsel x4, x3, x4, eq\n.endif\n", AT(stamps));
    dg_str_format(out, "\tldp x1, x2, [x0, #%u]\n\tldr x0, [x0, #%u]\n", AT(b), AT(a));
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

/* BTI holds because every function begins with it and nothing jumps through a register; PAC
 * because the return address never leaves its register. */
static void notes(struct dg_str *out)
{
    dg_str_add(out, "\t.section .note.gnu.property, \"a\", %note\n\t.p2align 3\n"
                    "\t.word 4, 16, 5\n\t.asciz \"GNU\"\n"
                    "\t.word 0xc0000000, 4, 3, 0\n"
                    "\t.section .note.GNU-stack, \"\", %progbits\n");
}

const struct dg_target dg_target_aarch64 = {
    .architecture = "aarch64", .triple = "aarch64-linux-gnu", .elf_machine = EM_AARCH64,
    .type_sign = '%', .stamp_clock = "cntvct_el0",
    .operand = operand, .mask = mask, .scalar = scalar, .vector = vector, .begin = begin,
    .entry_mark = entry_mark, .no_stamps = no_stamps, .enter = enter, .leave = leave,
    .stamp = stamp, .checked_entry = checked_entry, .constant = constant, .notes = notes,
};
_Static_assert(AT(c) == AT(b) + 8 && AT(parts) == AT(part) + 4 &&
               AT(stamp_capacity) == AT(stamps) + 8, "loaded in pairs");
