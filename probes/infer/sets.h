/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of a cache whose index cannot be seen: which lines share one, how many of them fit, and how
 * many sets there are. Pure but for the test that it is given. */
#ifndef DG_PROBES_INFER_SETS_H
#define DG_PROBES_INFER_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dg_verdict { DG_STAYS, DG_EVICTED, DG_NO_VERDICT };

struct dg_set_test {
    /* What becomes of a target line when these lines have passed. */
    enum dg_verdict (*evicts)(void *self, const uint32_t *lines, size_t count);
    void *self;
};
/* Cuts `lines`, which evict the target, down to a set of which every part is needed for that. It
 * stands in front then; returns its size, 0 when the test was too unsteady. */
size_t dg_infer_minimal_set(const struct dg_set_test *test, uint32_t *lines, size_t count);

/* Chases over `count` lines of which one more shares a set than fits there: `all` cycles a load;
 * without line i without[i]. Marks those without which all others stay: they are the lines of that
 * set. Returns their number; 0: no clear difference between the two kinds. */
size_t dg_infer_members(double all, const double *without, size_t count, bool *member);

/* Blocks of `block` lines in a row each, put in place of one member of a full set: how many groups
 * of `blocks` there were and how many of them did its work. A block has at most one line in a set,
 * so that lines which are fetched along with their neighbours make no difference. */
struct dg_group { unsigned blocks, groups, evicted; };
struct dg_sets {
    uint32_t sets;                               /* power of two; 0: the interval fits none */
    double low, high;                            /* interval of the number of sets */
};
struct dg_sets dg_infer_sets(const struct dg_group *group, size_t count, unsigned block);

#endif
