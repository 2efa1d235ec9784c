/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything that the planner takes from a profile, read once through the recording view. Nothing
 * after this asks the profile, so the view's list of keys is the kernel's identity. */
#ifndef DG_EMIT_PLAN_CONSTANTS_H
#define DG_EMIT_PLAN_CONSTANTS_H

#include "emit/plan/fixed.h"

/* What a step and its surroundings are made of. */
enum dg_part_op {
    DG_PART_LOAD, DG_PART_BROADCAST, DG_PART_CHAIN, DG_PART_STORE, DG_PART_FLIP,
    DG_PART_FOLDED, DG_PART_COUNT
};

/* An abstract resource and what one operation of each sort takes of it. */
struct dg_resource {
    const char *name;
    dg_price price[DG_PART_COUNT];
};

/* Cells of one mix family by (vectors, rows, prefetch) and an axis: steps or KiB. */
struct dg_point { uint64_t at; dg_price value; };
struct dg_curve {
    unsigned vectors, rows, prefetch;
    size_t first, count;                          /* points of the family, `at` ascending */
};
struct dg_family_cells {
    const struct dg_point *points;
    const struct dg_curve *curves;
    size_t curve_count;
};

enum { DG_LEVELS = 3, DG_RESOURCES = 64, DG_FOLD_LEVELS = 4 };        /* L1, L2, L3 */

struct dg_constants {
    const struct dg_body *body;
    unsigned registers;                           /* vector registers that a tile may use */
    uint64_t capacity[DG_LEVELS], set_stride[DG_LEVELS];  /* bytes; 0: no such level */
    uint64_t l2_all;                              /* of a product that stays there as a whole */
    uint64_t line, ways, code_capacity, l1_size;
    dg_price latency;                             /* of the accumulator chain, a step */
    dg_price chain_rate;                          /* cycles of one multiply at the best rate */
    dg_price byte[DG_LEVELS];                     /* moving one into L1, into L2, from memory */
    dg_price call;
    bool along;                                   /* all rates of tiles along K are known: */
    dg_price fold[DG_FOLD_LEVELS + 1], lanes_down;
    uint64_t clock_hz;
    struct dg_resource resource[DG_RESOURCES];
    size_t resource_count;
    unsigned issue;                               /* operations that start in a cycle; 0: unknown */
    struct dg_family_cells turn, pass, panel, rows, store, down, add;
};

/* False: out of memory, or a strict view lacked something. */
bool dg_constants_read(struct dg_view *view, const struct dg_body *body, struct dg_constants *out);

/* Cells whose key begins with prefix ("mix.turn.f32.256."), read through the view. The letters of
 * the rest of the key name its numbers: v, b, p, and the axis s or k. */
bool dg_cells_read(struct dg_view *view, const char *prefix, struct dg_family_cells *out);
/* The curve of exactly these, or the nearest: same prefetch, then rows * vectors, then vectors.
 * vectors_first: the nearest vectors come first. NULL: the family is empty. */
const struct dg_curve *dg_curve_nearest(const struct dg_family_cells *family, unsigned vectors,
                                        unsigned rows, unsigned prefetch, bool vectors_first);
/* Linear between points; beyond them along the nearest slope when `extend`, else level. With one
 * point, `slope` is the price of one more on the axis. */
dg_price dg_curve_at(const struct dg_family_cells *family, const struct dg_curve *curve,
                     uint64_t at, bool extend, dg_price slope);

/* Resources of the body from res.*, or from the rates of its operations. */
bool dg_resources_read(struct dg_view *view, const struct dg_body *body,
                       struct dg_constants *out);

/* One step of a tile: the dearest resource or the chain's latency, and its name. */
dg_price dg_step_price(const struct dg_constants *c, struct dg_tile tile, const char **binding);
dg_price dg_along_step_price(const struct dg_constants *c, struct dg_along tile,
                             const char **binding);

#endif
