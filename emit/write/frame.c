/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame of a function: from the stack pointer up, the slots of the code, in a DG_TIMING build
 * the words of the stamps, the registers that belong to the caller. */
#include "emit/write/target.h"

enum { SLOT_BYTES = 8, TIMING_BYTES = 4 * SLOT_BYTES };

static unsigned slot_bytes(const struct dg_target *target, const struct dg_function *f)
{
    unsigned align = target->stack_align;
    return (SLOT_BYTES * f->code->slots + align - 1) / align * align;
}

void dg_stack_move(struct dg_str *out, const struct dg_target *target, unsigned bytes, int sign)
{
    if (bytes == 0)
        return;
    dg_str_format(out, "\t%s %s%u%s\n", sign > 0 ? "sub" : "add", target->stack_move[0], bytes,
                  target->stack_move[1]);
    dg_str_format(out, "\t.cfi_adjust_cfa_offset %s%u\n", sign < 0 ? "-" : "", bytes);
}

static void resize(struct dg_str *out, const struct dg_target *target,
                   const struct dg_function *f, int sign)
{
    unsigned bytes = slot_bytes(target, f);
    if (f->timed) {
        dg_str_add(out, ".ifdef DG_TIMING\n");
        dg_stack_move(out, target, bytes + TIMING_BYTES, sign);
        dg_str_add(out, ".else\n");
    }
    dg_stack_move(out, target, bytes, sign);
    if (f->timed)
        dg_str_add(out, ".endif\n");
}

void dg_frame_enter(struct dg_str *out, const struct dg_target *target,
                    const struct dg_function *f)
{
    target->save(out, f->code);
    resize(out, target, f, 1);
    if (!f->timed)
        return;
    dg_str_add(out, ".ifdef DG_TIMING\n");
    target->keep_stamps(out, slot_bytes(target, f));
    dg_str_add(out, ".endif\n");
}

void dg_frame_leave(struct dg_str *out, const struct dg_target *target,
                    const struct dg_function *f)
{
    resize(out, target, f, -1);
    target->restore(out, f->code);
    target->leave(out, f->code);
}

void dg_frame_stamp(struct dg_str *out, const struct dg_target *target, struct dg_function *f,
                    bool fenced)
{
    char full[32];
    dg_format(full, sizeof full, "%s_full%u", f->label, f->stamps++);
    dg_str_add(out, ".ifdef DG_TIMING\n");
    target->stamp(out, full, slot_bytes(target, f), fenced);
    dg_str_add(out, ".endif\n");
}
