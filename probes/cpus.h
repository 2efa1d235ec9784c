/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of CPUs as texts, "0-3,8". */
#ifndef DG_PROBES_CPUS_H
#define DG_PROBES_CPUS_H

#include <stddef.h>

#include "base/arena.h"

enum { DG_CPU_LIST_MOST = 1024 };
/* How many; NULL and what is no list: none. */
size_t dg_cpu_list(const char *text, unsigned out[DG_CPU_LIST_MOST]);
/* In ascending order; NULL without memory. */
const char *dg_cpu_text(struct dg_arena *arena, const unsigned *cpus, size_t count);
/* The first number of a list. */
unsigned dg_cpu_least(const char *text);
/* The first of `cpus` that the list has; -1: none. */
int dg_cpu_common(const char *text, const unsigned *cpus, size_t count);

#endif
