/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel asks the operating system for nothing. */
#ifndef DG_VERIFY_CONFINE_H
#define DG_VERIFY_CONFINE_H

#include <stdbool.h>

/* From now on a system call by an instruction of the loaded code that `function` is in raises
 * SIGSYS in this process. False: that cannot be had here, errno says why. */
bool dg_confine(const void *function);

#endif
