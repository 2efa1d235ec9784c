/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_BASE_ERROR_H
#define DG_BASE_ERROR_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>

/* The two types stand in deepgemm/error.h as well, under the same guard. */
#ifndef DG_ERROR_1
#define DG_ERROR_1
/* Exit codes of every command; an error carries the one its command ends with. */
enum dg_exit {
    DG_EXIT_OK = 0,
    DG_EXIT_CHECK = 1,        /* a check failed */
    DG_EXIT_USAGE = 2,        /* the command line is wrong */
    DG_EXIT_INPUT = 3,        /* an input file is wrong */
    DG_EXIT_UNAVAILABLE = 4,  /* hardware, tool or permission missing for something required */
    DG_EXIT_INTERNAL = 70,
    DG_EXIT_INTERRUPTED = 130,
};

/* What went wrong, in the words a user needs: the place (file:line or file and JSON pointer), the
 * rule that was broken, the value found there, and what to do next. Unused parts are "". */
struct dg_error {
    enum dg_exit exit_code;
    char where[256];
    char rule[256];
    char value[128];
    char todo[256];
};
#endif

/* Fills *e (texts are copied, cut at the buffers' ends) and returns false, so that callers can
 * write `return dg_fail(...)`. NULL texts count as "". e may be NULL. Needs no libc. */
bool dg_fail(struct dg_error *e, enum dg_exit code, const char *where, const char *rule,
             const char *value, const char *todo);
/* The one error of memory that was not given: DG_EXIT_UNAVAILABLE. */
bool dg_fail_memory(struct dg_error *e, const char *where);

/* Writes at most size bytes, always terminated when size > 0; returns the length the whole text
 * has. Knows %s %c %d %u %ld %lu %lld %llu %zu %x %llx %% with a field width and '0' or '-'.
 * No floating point: see base/number.h. Needs no libc. */
size_t dg_format(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t dg_vformat(char *out, size_t size, const char *format, va_list arguments);

#endif
