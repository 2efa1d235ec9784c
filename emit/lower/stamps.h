/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_EMIT_LOWER_STAMPS_H
#define DG_EMIT_LOWER_STAMPS_H

#include "emit/lower/internal.h"
#include "emit/lower/lower.h"

/* Fills out->stamps and out->stamp_loop from the kernel's nest. */
void dg_lower_count_stamps(const struct lower *l, struct dg_lowered *out);

#endif
