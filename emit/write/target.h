/* SPDX-License-Identifier: Apache-2.0
 *
 * What NAME.s needs of an architecture beyond the ISA's rows: names of registers, the calling
 * convention, unwind data, checks of the argument block. One row and one file each. */
#ifndef DG_EMIT_WRITE_TARGET_H
#define DG_EMIT_WRITE_TARGET_H

#include "base/str.h"
#include "deepgemm/kernel_args.h"
#include "emit/ir/ir.h"
#include "emit/problem/problem.h"

/* A function being written. */
struct dg_function {
    const struct dg_ir_code *code;
    const char *name, *label;    /* the symbol, and how its labels begin: ".Lrun" */
    bool timed;                  /* holds stamps: more frame in a DG_TIMING build */
    unsigned stamps;             /* written so far, numbers their labels */
};

/* Of a member of the argument block. */
#define DG_AT(member) ((unsigned)offsetof(struct dg_kernel_args, member))

/* What NAME_ex has to refuse. */
struct dg_checks {
    const char *name, *label;    /* the kernel, and the label of its body */
    uint64_t m;
    bool a, b, c;                /* bytes of these are needed: NULL is refused */
    unsigned b_alignment;        /* 1: any */
};

struct dg_target {
    const char *architecture, *triple;   /* "aarch64", "aarch64-linux-gnu" */
    unsigned elf_machine;
    char type_sign;                      /* in `.type f, @function` */
    const char *stamp_clock;             /* "rdtsc" */
    unsigned stack_align;                /* bytes that the frame's slots are rounded up to */
    const char *stack_move[2];           /* what stands around the bytes in `sub $16, %rsp` */
    /* Whole lines. */
    const char *entry_mark;              /* branch protection */
    /* A DG_TIMING build's stamp buffer arrives in two scalars: put none there. */
    const char *no_stamps;
    const char *notes;                   /* sections at the end of the file */
    /* Operand `index` of an operation, no label; view: letter of {x1}, 0 for none; add: of
     * {1+8}. */
    void (*operand)(struct dg_str *out, const struct dg_ir_op *op, unsigned index, char view,
                    int64_t add);
    void (*mask)(struct dg_str *out, unsigned number, bool braces);
    const char *(*scalar)(unsigned number);
    const char *(*vector)(const struct dg_isa *isa);  /* "%ymm": what a vector's name begins with */
    void (*begin)(struct dg_str *out, const struct dg_isa *isa);      /* before all functions */
    /* The registers of the caller's that the code uses, with their unwind data. */
    void (*save)(struct dg_str *out, const struct dg_ir_code *code);
    void (*restore)(struct dg_str *out, const struct dg_ir_code *code);
    void (*leave)(struct dg_str *out, const struct dg_ir_code *code); /* returns 0 */
    /* Of a DG_TIMING build; four words of the frame from `at` on: where the next stamp goes, the
     * end of the buffer, room for two scalars. keep_stamps fills the first two. A stamp that finds
     * no room goes on at the label `full`, its own. */
    void (*keep_stamps)(struct dg_str *out, unsigned at);
    void (*stamp)(struct dg_str *out, const char *full, unsigned at, bool fenced);
    void (*checked_entry)(struct dg_str *out, const struct dg_checks *checks);
    void (*constant)(struct dg_str *out, uint64_t value);             /* returns it */
};

extern const struct dg_target dg_target_x86_64, dg_target_aarch64;
/* NULL: kernels are not written for this architecture. */
const struct dg_target *dg_target_for(const struct dg_isa *isa);

/* What stands before the code of a function, behind it and, in a DG_TIMING build, in between. */
void dg_frame_enter(struct dg_str *out, const struct dg_target *target,
                    const struct dg_function *f);
void dg_frame_leave(struct dg_str *out, const struct dg_target *target,
                    const struct dg_function *f);
void dg_frame_stamp(struct dg_str *out, const struct dg_target *target, struct dg_function *f,
                    bool fenced);
/* For targets: the stack pointer down (sign 1) or up (-1), with the unwind data. */
void dg_stack_move(struct dg_str *out, const struct dg_target *target, unsigned bytes, int sign);

/* One operation as lines of text, tabs in front, newline at the end. */
void dg_spell(struct dg_str *out, const struct dg_target *target, const struct dg_function *f,
              const struct dg_ir_op *op);

#endif
