/* SPDX-License-Identifier: Apache-2.0
 *
 * Which operations exist and how they are spelled: pure tables, one folder per ISA, made from its
 * ops.def. The emitter's text and the loops that microbench times come from the same rows, and the
 * profile key of a row is op.<name>.<dtype>.<bits>. Needs no libc. */
#ifndef DG_ISA_ISA_H
#define DG_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an operation does. Lanes have 64 bits for f64, else 32. Memory of a narrower dtype: u8, u16
 * fill a lane up with zeros, s8 with its sign; f16 and bf16 become f32 and f32 becomes f16 again,
 * to the nearest even; u8x2 and s8x2 are two bytes, each filled up to 16 bits. The interpreter of
 * emit/ir executes these, the lowering asks for them. */
enum dg_sem {
    DG_SEM_LOAD,       /* {0} = lanes at {1} */
    DG_SEM_LOAD_PART,  /* {0} = first `part` lanes at {1}, the others zero; reads nothing beyond */
    DG_SEM_BROADCAST,  /* {0} = every lane the element at {1} */
    DG_SEM_STORE,      /* lanes at {0} = {1} */
    DG_SEM_STORE_PART, /* first `part` lanes at {0} = {1}; touches nothing beyond; {2} is scratch */
    DG_SEM_ZERO,       /* {0} = 0 */
    DG_SEM_FMA,        /* {0} += {1} * {2}, rounded once */
    DG_SEM_FMA_LOAD,   /* {0} += {1} * lanes at {2} */
    DG_SEM_FMA_BROADCAST, /* {0} += {1} * element at {2} */
    DG_SEM_ADD,        /* {0} = {1} + {2} */
    DG_SEM_MUL,        /* {0} = {1} * {2} */
    DG_SEM_SUB, DG_SEM_MAX, DG_SEM_MIN, DG_SEM_XOR, DG_SEM_OR,
    DG_SEM_SHIFT_LEFT, DG_SEM_SHIFT_RIGHT, /* {0} = {1} moved by immediate {2} bits, zeros in */
    DG_SEM_MOVE,       /* {0} = {1}, vectors */
    DG_SEM_PREFETCH_L1, DG_SEM_PREFETCH_L2, DG_SEM_PREFETCH_WRITE,  /* line at {0} */
    /* scalar: pointers, counts and frame slots; 64 bits */
    DG_SEM_SET,        /* {0} = immediate {1} */
    DG_SEM_COPY,       /* {0} = {1} */
    DG_SEM_ADD_IMM,    /* {0} += immediate {1} */
    DG_SEM_ADD_REG,    /* {0} += {1} */
    DG_SEM_SLOT_LOAD,  /* {0} = frame slot {1} */
    DG_SEM_SLOT_STORE, /* frame slot {0} = {1} */
    DG_SEM_COUNT_DOWN, /* {0} -= 1 and branch to {1} while not zero */
    DG_SEM_JUMP_ZERO,    /* branch to {1} if {0} is zero */
    DG_SEM_JUMP_NONZERO, /* branch to {1} if {0} is not zero */
    DG_SEM_INSERT16,     /* bits 16*part .. 16*part+15 of {0} = immediate {1} (0..65535) */
    DG_SEM_SET_MASK,     /* mask register {K} = the low bits of {0}: 1 for each lane of `part` */
    /* a broadcast folded into the multiply-add: AArch64 */
    DG_SEM_LOAD_ELEMENT, /* lane 0 of {0} = the element at {1}, the other lanes zero */
    DG_SEM_FMA_ELEMENT,  /* {0} += {1} * lane 0 of {2}, rounded once */
    /* groups of narrow elements in 32-bit lanes, the first in the lowest bits */
    DG_SEM_DOT,             /* {0} += sum over the group of {1} * {2}: u8s8 {1} unsigned, {2}
                               signed, s16 both signed, s32 sums modulo 2^32; bf16 f32 sums in any
                               order. {3} may be scratch */
    DG_SEM_BROADCAST_GROUP, /* {0} = every lane the first `part` elements at {1}, then zeros; reads
                               nothing beyond */
    DG_SEM_ADD_LOAD,        /* {0} += lanes at {1} */
    DG_SEM_SPLAT,           /* {0} = every lane the low 32 bits of scalar {1} */
    /* sums of all lanes of several vectors at once */
    DG_SEM_FOLD,            /* {0} = half as many lanes of {1}, each added to another of its lanes,
                               then those of {2}; {3} is scratch. Level `part` of a whole tree over
                               as many vectors as lanes: lane i of its root is the sum of vector i.
                               Which lanes meet before that is the target's affair */
    DG_SEM_LANES_DOWN,      /* {0} = {1} moved down by `part` lanes, which an immediate {2} repeats;
                               as many lanes as the largest power of two that divides `part`, the
                               others undefined */
    DG_SEM_OTHER,      /* measured only: nothing in emit/ asks for it */
};

/* Operand letters, in the order of {0} {1} ...: d vector written, a vector read and written,
 * v vector read, t vector scratch, m memory, c memory across the end of a line, g scalar written,
 * h scalar read and written, r scalar read, i immediate, s frame slot, l label. */
struct dg_op {
    const char *name, *dtype;  /* "fma", "f32"; scalars have dtype "i64" */
    unsigned bits;             /* vector bits, 64 for scalars; for x86 also the register spelling */
    enum dg_sem sem;
    unsigned part;             /* lanes moved by a _PART row written for one count; 0 = any count */
    const char *operands;
    const char *feature;       /* as in /proc/cpuinfo, comma separated, all needed: "avx2,fma" */
    const char *text;          /* {0}..{3} operands; {x1} operand 1 in another spelling: x 128,
                                  y 256 bits (x86), q d s the AArch64 scalar views, w 32 bits of a
                                  scalar; {1+8} memory operand 1 moved on by 8 bytes; {k} the mask
                                  register of `part` with its braces, {K} without; \n\t between
                                  instructions; any other brace stands for itself */
};

struct dg_isa {
    const char *name;          /* "x86_64-avx2": what --isa takes */
    const char *architecture;  /* "x86_64", "aarch64", "riscv64", "portable": as hardware.json */
    const char *features;      /* all needed to run a kernel of this target, comma separated */
    unsigned vector_bits, vector_registers, mask_registers;
    const char *comment;       /* starts a comment to the line's end */
    const struct dg_op *ops;   /* rows of this ISA, in the order of ops.def */
    size_t op_count;
    /* Offsets of an address: min <= offset <= max, and a multiple of `step`, for vector accesses
     * of `vector_bits`. x86: any 32-bit. AArch64 ldr q: 0..65520 by 16, or -256..255 (ldur). */
    int64_t offset_min, offset_max, offset_step;
    unsigned scalar_registers; /* for pointers and counts: not the stack pointer, not reserved */
    int64_t immediate_max;     /* ADD_IMM takes -immediate_max .. immediate_max */
    unsigned set_bits;         /* SET takes so many bits; the others come by INSERT16 */
};

/* The targets of this build, NULL-terminated, best first within one architecture; tables for
 * every architecture are always present (a laptop plans for a board). */
extern const struct dg_isa *const dg_isas[];
const struct dg_isa *dg_isa_by_name(const char *name);
/* First row with this meaning; dtype and bits must match; part 0 rows serve any part. NULL:
 * none. */
const struct dg_op *dg_isa_op(const struct dg_isa *isa, enum dg_sem sem, const char *dtype,
                              unsigned bits, unsigned part);
const struct dg_op *dg_isa_op_named(const struct dg_isa *isa, const char *name, const char *dtype,
                                    unsigned bits);
/* True when the comma-separated list has this name. */
bool dg_feature_listed(const char *list, const char *name);
/* True when every comma-separated feature of `needed` is in the list. */
bool dg_features_have(const char *const *list, size_t count, const char *needed);

#endif
