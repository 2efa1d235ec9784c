/* SPDX-License-Identifier: Apache-2.0
 *
 * The bodies of mixes: which operations a step is made of (bodies.def), and which form a target
 * gives them. Pure; the loops are made from them, probes and simulated chips read them too. */
#ifndef DG_MICROBENCH_BODIES_H
#define DG_MICROBENCH_BODIES_H

#include "isa/isa.h"

struct dg_mix_body {
    const char *name;            /* "u8s8", as in cells; rows of one name are forms of it */
    unsigned element;            /* bytes that a step takes of a row */
    unsigned narrow;             /* a vector takes bits / 8 / narrow bytes of the stream */
    const char *moved;           /* dtype of the accumulators' stores and zeros */
    const char *load, *broadcast, *multiply;      /* "fma.f32": name and dtype */
    const char *folded;          /* the two in one, for steps of one vector; NULL: none */
    bool products;               /* the multiply leaves them for `add`, else it accumulates */
    const char *add;
    const char *unless;          /* body that serves better where a target has it; NULL: none */
};

extern const struct dg_mix_body dg_mix_bodies[];
extern const size_t dg_mix_body_count;
/* The first row of this name; NULL: none. What it moves is the same in all of its forms. */
const struct dg_mix_body *dg_mix_body_named(const char *name);

enum dg_mix_part {
    DG_MIX_LOAD, DG_MIX_BROADCAST, DG_MIX_MULTIPLY, DG_MIX_FOLDED, DG_MIX_ADD, DG_MIX_STORE,
    DG_MIX_ZERO, DG_MIX_RELOAD, DG_MIX_PARTS,     /* folded may be absent; reload: of C */
};
struct dg_mix_form {
    const struct dg_mix_body *body;
    const struct dg_isa *isa;
    const struct dg_op *op[DG_MIX_PARTS];
    bool accumulates;            /* the multiply by itself */
};
/* The first row of this name whose operations the target has at its width; false: none. */
bool dg_mix_form_of(const struct dg_isa *isa, const char *name, struct dg_mix_form *out);
/* Vector registers of a shape: its accumulators, what is held over a step (its vectors, or its
 * broadcasts if these are fewer), one for the others in turn, products. */
unsigned dg_mix_registers(const struct dg_mix_form *form, unsigned vectors, unsigned rows);
bool dg_mix_form_usable(const struct dg_mix_form *form, const char *const *features, size_t count);

#endif
