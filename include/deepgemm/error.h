/* SPDX-License-Identifier: Apache-2.0
 *
 * What went wrong, in the words a user needs. */
#ifndef DEEPGEMM_ERROR_H
#define DEEPGEMM_ERROR_H

#ifndef DG_ERROR_1
#define DG_ERROR_1
/* The values are the exit codes of the commands. */
enum dg_exit {
    DG_EXIT_OK = 0,
    DG_EXIT_CHECK = 1,        /* a check failed */
    DG_EXIT_USAGE = 2,        /* a setting is wrong */
    DG_EXIT_INPUT = 3,        /* an input file is wrong */
    DG_EXIT_UNAVAILABLE = 4,  /* hardware, tool or permission missing for something required */
    DG_EXIT_INTERNAL = 70,
    DG_EXIT_INTERRUPTED = 130
};

/* The place (file:line, file and JSON pointer, or setting), the rule that was broken, the value
 * found there, and what to do next. Unused parts are "". */
struct dg_error {
    enum dg_exit exit_code;
    char where[256];
    char rule[256];
    char value[128];
    char todo[256];
};
#endif

#endif
