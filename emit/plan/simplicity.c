/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan/lattice.h"

/* Bytes of an operation and its operands, on the safe side. */
enum { OP_BYTES = 8 };

uint64_t dg_code_bytes(struct dg_simplicity simple)
{
    return (uint64_t)simple.code * OP_BYTES;
}

static uint32_t code_of(const struct dg_corner *p, unsigned rows, unsigned vectors)
{
    struct dg_tile tile = { rows, vectors };
    uint32_t step = (uint32_t)dg_body_step(p->s->c->body, tile, NULL, 0);
    return step * DG_UNROLL + 2 * rows * vectors;
}

/* Row sizes that a plan has; of a box the smallest second one, since fewer rows are less code. */
static void sizes_of(const struct dg_corner *p, unsigned sizes[2])
{
    sizes[0] = p->t->tile.rows;
    sizes[1] = p->t->second[p->box->m];
}

struct dg_simplicity dg_simplicity_of(const struct dg_corner *p)
{
    uint32_t loads = p->t->tile.rows + p->t->tile.vectors;
    uint32_t multiplies = p->t->tile.rows * p->t->tile.vectors;
    struct dg_simplicity simple = {
        .loads = (8 * loads + multiplies - 1) / multiplies,
        .reuse = multiplies * 65536 / loads,
        .prefetch = p->box->prefetch, .vectors = p->t->tile.vectors,
        .loops = (p->k_blocks > 1) + (p->m_blocks > 1) + (p->n_blocks > 1),
    };
    unsigned sizes[2];
    sizes_of(p, sizes);
    for (int i = 0; i < 2; i++) {
        if (sizes[i] == 0)
            continue;
        simple.bodies += (p->t->full != NULL) + (p->t->tail != NULL);
        if (p->t->full != NULL)
            simple.code += code_of(p, sizes[i], p->t->tile.vectors);
        if (p->t->tail != NULL)
            simple.code += code_of(p, sizes[i], p->t->tail_vectors);
    }
    return simple;
}
