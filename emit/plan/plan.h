/* SPDX-License-Identifier: Apache-2.0
 *
 * What is the best way to compute a problem on a chip: exact search over the lattice of tiles,
 * blocks and orders, priced by the ledger (terms.def) in 1/1024 core cycles. Integers only, no
 * libm, no libc, the caller's arena: the same plan on every host. */
#ifndef DG_EMIT_PLAN_PLAN_H
#define DG_EMIT_PLAN_PLAN_H

#include "base/arena.h"
#include "base/error.h"
#include "emit/body/body.h"
#include "emit/problem/problem.h"
#include "profile/profile.h"

typedef int64_t dg_cost;                          /* 1/1024 core cycle */
#define DG_COST_ONE 1024

/* extent = count[0] * size[0] + count[1] * size[1]; size[0] > size[1], count[1] may be 0 */
struct dg_split { uint32_t size[2], count[2]; };

/* The loop nest, outermost first:
 *
 *   for each N block (nc columns)            n_blocks
 *     for each K block (kc steps)            k_blocks; C is set in the first, added to after
 *       for each M block (mc rows)           m_blocks
 *         PANELS_OUTER: for each panel, for each tile of the block's rows
 *         TILES_OUTER:  for each tile, for each panel
 *
 * Blocks of one dimension have equal size, only the last is smaller. The panels of an N block are
 * full panels of `tile.vectors` vectors; the last N block may end in one narrower tail panel, whose
 * tiles have fewer vectors or go along K. The
 * rows of an M block are split into tiles of two sizes: `rows` for a full block, `rows_last` for
 * the last one, both of the same two sizes. */
enum dg_inner { DG_PANELS_OUTER, DG_TILES_OUTER };

static inline const char *dg_inner_text(enum dg_inner inner)
{
    return inner == DG_PANELS_OUTER ? "panels outer" : "tiles outer";
}

/* What decides between plans whose costs are equal within the model's error, in this order. */
struct dg_simplicity {
    uint32_t loads;                               /* eighths of a load that a multiply takes */
    bool prefetch;
    uint32_t bodies;                              /* distinct tiles */
    uint32_t reuse;                               /* multiplies of a load, in 65536ths */
    uint32_t vectors;                             /* of the tile: more are better */
    uint32_t loops;                               /* blocked dimensions */
    uint32_t code;                                /* operations written out; decides nothing */
};

struct dg_plan {
    struct dg_body body;
    struct dg_tile tile;                          /* mr = tile.rows, nr = tile.vectors * lanes */
    uint64_t mc, nc, kc;                          /* block sizes, kc in steps */
    uint64_t kc_elements;                         /* what a reader calls kc: elements of K */
    uint64_t m_blocks, n_blocks, k_blocks;
    uint64_t mc_last, nc_last, kc_last;           /* sizes of the last blocks */
    struct dg_split rows, rows_last;
    uint64_t panels, panels_last;                 /* full panels of an N block, and of the last */
    unsigned tail_columns;                        /* width of the tail panel, 0: none */
    unsigned tail_vectors, tail_part;             /* its vectors; lanes of the last one, 0: all */
    bool along;                                   /* the tail's tiles go along K (dg_along): a step
                                                     of its panel takes `lanes` of K, and has a
                                                     vector for each column */
    enum dg_inner inner;
    bool prefetch;                                /* next B panel to L2, spread over the k-steps */
    unsigned unroll;                              /* k-steps per loop pass */
    bool schedule;                                /* order operations by the chip's latencies; else
                                                     as the turns of the profile were measured */
    unsigned issue;                               /* operations that start in a cycle: what a
                                                     schedule fills; 0: unknown */

    dg_cost cycles;                               /* the prediction, core cycles * 1024 */
    dg_cost bound;                                /* port bound: M*N*K at the body's best rate */
    uint64_t clock_hz;                            /* joins nanosecond terms */
    const char *binding;                          /* the constraint or resource that binds */
    const struct dg_term_value *terms;            /* every term of the ledger with its value */
    size_t term_count;
    uint64_t l2_bytes, l3_bytes, dram_bytes;      /* predicted traffic into L1, L2, last level */
    uint64_t points, pruned;                      /* lattice points, and those not priced */
    struct dg_simplicity simplicity;
    /* peak of this body on this chip in operations (2 * multiply-adds) per cycle * 1024 */
    dg_cost peak;
};
struct dg_term_value { const char *id, *title; dg_cost cost; };

struct dg_plan_result {
    struct dg_plan best, runner_up;               /* runner_up.cycles 0: there is no other */
    struct dg_view view;                          /* keys read, what was assumed */
};

/* Chooses the ISA (problem->isa, or from the profile's features), enumerates, prices, picks.
 * Of ties (plan.c) the simplest. False: *e says which limit cannot be met. */
bool dg_plan_make(const struct dg_problem *problem, const struct dg_profile *profile, bool strict,
                  struct dg_arena *arena, struct dg_plan_result *out, struct dg_error *e);

/* Whether the profile is of the chip that the problem names, if it names one. dg_plan_make asks
 * this first; a caller that knows where the name stands can ask earlier. */
bool dg_plan_check_target(const struct dg_problem *problem, const struct dg_profile *profile,
                          struct dg_error *e);

#endif
