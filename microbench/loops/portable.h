/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops in plain C for processors without rows in isa/: scalar arithmetic, chases and streams, and
 * the clock's reference chains. What the compiler makes of them is what is measured. */
#ifndef DG_MICROBENCH_LOOPS_PORTABLE_H
#define DG_MICROBENCH_LOOPS_PORTABLE_H

#include "microbench/loops/loops.h"

#define DG_PORTABLE_LOOP(kind, op, operand, chains, per_trip, run) \
    void run(uint64_t trips, void *block);
#define DG_PORTABLE_STREAM(kind, step, prefetch, run) void run(const struct dg_stream_state *state);
#define DG_PORTABLE_CHASE(run) void *run(void *at, uint64_t trips);
#include "microbench/loops/portable.def"
#undef DG_PORTABLE_LOOP
#undef DG_PORTABLE_STREAM
#undef DG_PORTABLE_CHASE

#endif
