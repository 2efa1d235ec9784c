/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_EMIT_PROBLEM_NAME_H
#define DG_EMIT_PROBLEM_NAME_H

#include <stdbool.h>

/* A C and C++ identifier that is none of reserved.def; false: *rule says what is wrong. */
bool dg_kernel_name_valid(const char *name, const char **rule);

#endif
