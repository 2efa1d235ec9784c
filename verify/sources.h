/* SPDX-License-Identifier: Apache-2.0
 *
 * The runner's own sources, carried as texts: built again for the architecture of a kernel that
 * this machine can only emulate. */
#ifndef DG_VERIFY_SOURCES_H
#define DG_VERIFY_SOURCES_H

#include <stddef.h>

struct dg_source { const char *name, *text; size_t size; };
extern const struct dg_source dg_runner_sources[];     /* the last has no name */

#endif
