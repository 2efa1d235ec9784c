/* SPDX-License-Identifier: Apache-2.0
 *
 * The lattice of plans: tile x inner order x prefetch x blocks of K, M and N, and the tables that
 * the terms read at its points. */
#ifndef DG_EMIT_PLAN_LATTICE_H
#define DG_EMIT_PLAN_LATTICE_H

#include "emit/plan/constants.h"

/* k-steps of a loop pass: what the mix loops have whose cells price the turn. */
enum { DG_UNROLL = 4 };

/* Distinct values of ceil(D / i), ascending; {0} for D = 0. All of them up to an extent of
 * DG_SIZES_MOST^2; beyond, those of at most DG_SIZES_MOST or with at most as many blocks. */
enum { DG_SIZES_MOST = 2048, DG_TILE_MOST = 64, DG_TILES_MOST = 512,
       DG_NO_ROWS = 255 };
/* The search cuts the list in two again and again, near the geometric mean, since costs go with
 * ratios: a tree of ranges, parents before children, whose leaves are single sizes. */
struct dg_range { uint32_t low, high, left, right; };    /* a leaf has low == high */
struct dg_sizes {
    const uint64_t *size;
    uint32_t count;
    const struct dg_range *range;
    uint32_t range_count;
};
bool dg_sizes_make(struct dg_arena *arena, uint64_t extent, struct dg_sizes *out);
bool dg_sizes_one(struct dg_arena *arena, uint64_t size, struct dg_sizes *out);
/* The leaf of a size's index. */
uint32_t dg_sizes_leaf(const struct dg_sizes *sizes, uint32_t index);

/* Rows of M as tiles of at most two sizes, for one block size. */
struct dg_row_plan {
    bool possible;               /* the largest tile really has the rows asked for, two sizes do */
    uint32_t size[2];
    uint64_t count[2];           /* over all blocks */
    uint32_t full[2], last[2];   /* in a full block, in the last one */
};
struct dg_row_plan dg_rows_split(uint64_t m, uint64_t block, uint32_t rows);

/* What a tile of some rows and vectors costs for all of K, at each block size of K. */
struct dg_column {
    dg_price step;
    const char *binding;
    /* by range of K blocks, the least of each: */
    dg_cost *turn;               /* all turns of one tile, excess over steps * step */
    dg_cost *pass;               /* the same turns with B from L2: what that adds */
};

/* One tile of the lattice and what depends on it alone. */
struct dg_tile_space {
    struct dg_tile tile;
    unsigned tail_columns, tail_vectors;          /* along K each column has a vector */
    bool along;                                   /* the tail's tiles go along K */
    uint64_t full_panels, panels;                 /* of N: without and with the tail panel */
    struct dg_sizes blocks_n;                     /* panels of an N block */
    const struct dg_row_plan *rows;               /* by M block */
    const unsigned char *second;                  /* by range of M blocks: smallest second size of
                                                     rows, 0 for none; DG_NO_ROWS: no split */
    const dg_cost *body;                          /* by range of M blocks: least for all steps */
    const struct dg_column *full, *tail;          /* by rows; NULL where the width is absent */
    dg_price panel_touch[2], rows_touch;          /* a line from beyond L2; by prefetch */
    dg_price rows_near;                           /* a line of A from L2 */
    dg_price store_touch;                         /* a line of C from beyond L2; below 0: in L1 */
    dg_price down_touch, add_touch;               /* a row of a tile of C from there, going down the
                                                     rows: stored, added to; below 0: not known */
    uint64_t b_bytes;
};

struct dg_space {
    const struct dg_problem *problem;
    const struct dg_constants *c;
    struct dg_arena *arena;
    uint64_t steps;              /* of K: a recipe's step may take several elements */
    struct dg_sizes blocks_k, blocks_m;
    struct dg_tile_space *tiles;
    size_t tile_count;
    uint64_t a_bytes, c_bytes, a_lines, c_lines;
    uint64_t spread_a[DG_LEVELS], spread_b[DG_LEVELS], spread_c[DG_LEVELS];
    dg_price load_price;
    dg_cost peak;                /* the whole product at the best rate of the multiply */
    bool can_prefetch;           /* the profile says what prefetching the next panel does */
};

/* One tile and one block size of each dimension: all that the lattice then has. */
struct dg_fixed { struct dg_tile tile; uint64_t kc, mc, panels; };

/* fixed: NULL for the whole lattice. False: out of memory, or no tile fits (*e says why). */
bool dg_space_make(const struct dg_problem *problem, const struct dg_constants *c,
                   const struct dg_fixed *fixed, struct dg_arena *arena, struct dg_space *out,
                   struct dg_error *e);
/* Whether a plan can have exactly the tile that the problem asks for, room aside. */
bool dg_tile_asked(const struct dg_problem *problem, const struct dg_constants *c,
                   struct dg_arena *arena, struct dg_error *e);
/* Whether the registers and the sets of L1 have room for the tile. */
bool dg_tile_fits(const struct dg_problem *problem, const struct dg_constants *c,
                  struct dg_tile tile);

/* A box of the lattice: one tile, order and prefetch; ranges of blocks. A box of leaves is a
 * plan. */
struct dg_box {
    const struct dg_tile_space *t;
    enum dg_inner inner;
    bool prefetch;
    uint32_t k, m, n;            /* ranges of blocks_k, blocks_m, blocks_n of the tile */
};

/* The corner of a box that bounds every point of it from below: the smallest sizes (they decide
 * what a cache holds) and the fewest blocks (they decide how often a thing is read). */
struct dg_corner {
    const struct dg_space *s;
    const struct dg_tile_space *t;
    const struct dg_row_plan *rows;               /* of the M block, NULL when there are several */
    const struct dg_box *box;
    uint64_t kc, mc, panels;                      /* smallest */
    uint64_t k_blocks, m_blocks, n_blocks;        /* fewest */
    uint64_t tiles;                               /* row tiles of M, fewest */
    uint64_t a[DG_LEVELS], b[DG_LEVELS], c[DG_LEVELS];    /* times the operand comes from beyond */
    bool again[DG_LEVELS];                        /* every row tile reads B from beyond anew */
};
bool dg_corner_of(const struct dg_space *s, const struct dg_box *box, struct dg_corner *out);

/* The ledger. Each function gives a lower bound over a box, exact when the box is one point. */
struct dg_term {
    const char *id, *title, *variables, *keys;
    dg_cost (*cost)(const struct dg_corner *corner);
    bool is_floor;               /* the whole takes at least this long; others add up */
};
enum { DG_TERM_MOST = 32 };
extern const struct dg_term dg_terms[];
extern const size_t dg_term_count;

/* Sum of the terms, and of what the dearest floor adds. values may be NULL, else by term. */
dg_cost dg_ledger(const struct dg_corner *corner, dg_cost *values);

/* Bytes from beyond a level: A and B read, C read and written. */
uint64_t dg_traffic(const struct dg_corner *corner, int level);

/* Of a corner the least that a plan of the box can have. */
struct dg_simplicity dg_simplicity_of(const struct dg_corner *corner);
/* Bytes of code, on the safe side. */
uint64_t dg_code_bytes(struct dg_simplicity simple);

#endif
