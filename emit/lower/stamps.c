/* SPDX-License-Identifier: Apache-2.0
 *
 * How many time stamps a call runs: the verifier lays stamps of many calls side by side. */
#include "emit/lower/stamps.h"

/* The loops around, innermost first, and whether each is in its last pass. */
struct around {
    const struct dg_ir_node *loop;
    bool last;
    const struct around *outer;
};

static uint64_t passes(const struct dg_ir_count *count, const struct around *around)
{
    for (; count->by != NULL && around != NULL; around = around->outer)
        if (around->loop == count->by)
            return around->last ? count->last : count->usual;
    return count->usual;
}

static uint64_t count_list(const struct dg_ir_node *list, const struct around *outer)
{
    uint64_t sum = 0;
    for (const struct dg_ir_node *node = list; node != NULL; node = node->next) {
        if (node->kind != DG_IR_LOOP)
            continue;
        uint64_t n = passes(&node->u.loop.count, outer);
        if (n == 0)
            continue;
        const struct around usual = { node, false, outer }, last = { node, true, outer };
        sum += (node->u.loop.stamp ? n : 0) + count_list(node->u.loop.child, &last);
        if (n > 1)
            sum += (n - 1) * count_list(node->u.loop.child, &usual);
    }
    return sum;
}

static const struct dg_ir_node *first_stamped(const struct dg_ir_node *list)
{
    for (const struct dg_ir_node *node = list; node != NULL; node = node->next) {
        if (node->kind != DG_IR_LOOP)
            continue;
        const struct dg_ir_node *found = node->u.loop.stamp
                                             ? node : first_stamped(node->u.loop.child);
        if (found != NULL)
            return found;
    }
    return NULL;
}

void dg_lower_count_stamps(const struct lower *l, struct dg_lowered *out)
{
    const struct dg_ir_node *first = first_stamped(l->function.nest);
    out->stamps = 2 + count_list(l->function.nest, NULL);
    out->stamp_loop = first == NULL        ? NULL
                      : first == l->n_loop ? "n_blocks"
                      : first == l->k_loop ? "k_blocks"
                      : first == l->m_loop ? "m_blocks"
                                           : "tiles";
}
