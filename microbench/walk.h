/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bytes of its arrays the samples of a stream pass, and what the request before it has left
 * in caches. Pure: the engine walks by it, and so do simulated chips. */
#ifndef DG_MICROBENCH_WALK_H
#define DG_MICROBENCH_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct dg_walk {
    uint64_t bytes;              /* of one array, or of what one stream reads of it */
    unsigned side;               /* so many of them are passed side by side */
    uint64_t slice, at;          /* bytes of each that one sample passes, and where the next one
                                    begins; slice 0: samples pass all */
};
/* Short arrays are passed as a whole, longer ones in slices of whole steps. */
struct dg_walk dg_walk_over(uint64_t bytes, unsigned side, uint64_t step);
/* Straight after `before`, which walked over the same arrays, beyond caches: on where it stopped,
 * as nothing is met again before all the rest has passed, and the time to pass it all is saved.
 * False: begin at the start, after a pass over all that pushes out what other requests left.
 * `before` NULL: something else ran since. */
bool dg_walk_on(struct dg_walk *walk, const struct dg_walk *before);
/* Moves to the next slice. */
void dg_walk_next(struct dg_walk *walk);

#endif
