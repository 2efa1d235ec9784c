/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a vector load takes. */
#ifndef DG_PROBES_VECTOR_H
#define DG_PROBES_VECTOR_H

#include "probes/context.h"

/* From a chase by vector loads: its way back to the address register is taken off. */
void dg_say_vector_latency(struct dg_context *ctx, const char *key,
                           const struct dg_measure *chase);

#endif
