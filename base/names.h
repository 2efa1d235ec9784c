/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_BASE_NAMES_H
#define DG_BASE_NAMES_H

#include <stddef.h>

/* Edits (insert, delete, replace, swap neighbours) from one text to the other; '-' and '_' and
 * upper and lower case count as equal. Texts longer than 63 bytes are compared by their start. */
unsigned dg_name_distance(const char *a, const char *b);

/* For "did you mean": the first of the nearest names, whole or by what follows their last dot, or
 * NULL when none is near (more than half of the text would change). */
const char *dg_name_nearest(const char *text, const char *const *names, size_t count);

#endif
