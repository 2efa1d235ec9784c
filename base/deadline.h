/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits that end: the kernel counts down, nobody reads a clock. */
#ifndef DG_BASE_DEADLINE_H
#define DG_BASE_DEADLINE_H

#include <stdbool.h>
#include <sys/types.h>

/* A descriptor (closed with close) that the time limit belongs to; -1 and errno. */
int dg_deadline_open(double seconds);
/* Waits for bytes, or the end of them, at `input`. False: the time is over, whatever is there. */
bool dg_deadline_read(int deadline, int input);
/* Waits for the end of a child; *status is that of waitpid (255 << 8: there is no such child).
 * False: the time is over, and the child was killed with all of the process group it leads. */
bool dg_deadline_reap(int deadline, pid_t pid, int *status);

#endif
