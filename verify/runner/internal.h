/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the runner share. */
#ifndef DG_VERIFY_RUNNER_INTERNAL_H
#define DG_VERIFY_RUNNER_INTERNAL_H

#include "verify/runner/callcheck.h"
#include "verify/runner/runner.h"

/* ---- guarded memory (guard.c) ---- */

/* Where an operand lies in its pages; unmapped pages stand on both sides. */
enum dg_place {
    DG_PLACE_END,       /* the last element touches the page behind (as far as alignment lets it) */
    DG_PLACE_START,     /* the first element stands just behind the page before */
    DG_PLACE_ODD,       /* one element into the pages: aligned to the element and no more */
    DG_PLACE_COUNT
};

struct dg_guarded {
    const char *label;
    unsigned char *map;                   /* `reach` unmapped, `bytes`, `reach` unmapped */
    unsigned char *start;                 /* of the bytes */
    size_t page, reach, bytes, size;      /* size: of the operand */
    unsigned char *base;                  /* where the operand is now */
};
bool dg_guarded_open(struct dg_guarded *g, const char *label, size_t size);
void dg_guarded_close(struct dg_guarded *g);
void dg_guarded_place(struct dg_guarded *g, enum dg_place place, size_t element, size_t alignment);
/* Fills everything outside the operand with the canary byte; true: still so. */
void dg_guarded_mark(struct dg_guarded *g);
bool dg_guarded_marked(const struct dg_guarded *g, ptrdiff_t *where);
void dg_guarded_lock(struct dg_guarded *g, bool locked);

#define DG_CANARY 0xC5
enum { DG_STACK_ABOVE = 512 };        /* canary bytes above the stack pointer of a call */

/* Names the operand that a fault lies in or near, writes a `fail` line and ends the process. */
void dg_faults_install(int out, const struct dg_guarded *const *places, size_t count,
                       const void *kernel);
void dg_faults_at(const char *check);
/* The stack pointer in a signal handler's context (a ucontext_t). */
uintptr_t dg_context_stack(const void *context);

/* ---- inputs and reference (pattern.c, sums.c, reference.c) ---- */

enum dg_pattern {
    DG_NORMAL,          /* random */
    DG_WHOLE,           /* integers that are not 0 and whose sums are exact */
    DG_BOUNDARY,        /* the limits of the formats; floats: one product in each sum */
    DG_ROUNDING,        /* floats: two products, the second about half a step of the first */
    DG_SPECIAL,         /* floats: NaN, infinities, -0, denormals */
};

struct dg_trial;

/* A block of sums over K, of the elements from (row, column) on. */
enum { DG_SUM_ROWS = 4, DG_SUM_COLUMNS = 4 };
struct dg_sums {
    uint64_t row, column;
    double product[DG_SUM_ROWS][DG_SUM_COLUMNS];
    double rest[DG_SUM_ROWS][DG_SUM_COLUMNS];       /* what the roundings of `product` lost */
    double magnitude[DG_SUM_ROWS][DG_SUM_COLUMNS];
    double lost[DG_SUM_ROWS][DG_SUM_COLUMNS];       /* of denormal factors, where flushed */
};
typedef void dg_sums_use(struct dg_trial *run, const struct dg_sums *sums);
/* Calls `use` with each block; false: no memory. */
bool dg_sums_each(struct dg_trial *run, dg_sums_use *use);

/* The sum, and exactly what its rounding took away (Knuth's TwoSum). */
static inline double dg_two_sum(double x, double y, double *rest)
{
    double sum = x + y, of_y = sum - x;
    *rest = (x - (sum - of_y)) + (y - of_y);
    return sum;
}

struct dg_reference {
    double *value, *bound, *lost;         /* m x n; lost: how much of the bound is flushing */
};

/* ---- one run (run.c) ---- */

struct dg_trial {
    const struct dg_run_kernel *kernel;
    const struct dg_run_options *options;
    uint64_t random;                      /* state of the generator */
    /* dense copies in their own kinds: a m x k; b as stored, b_rows x b_columns; c, result m x n */
    unsigned char *a, *b, *c, *result, *first;
    uint64_t b_rows, b_columns;
    unsigned char *packed;                /* B as the kernel packed it, packed_size bytes */
    size_t packed_size;
    struct dg_reference reference;
    struct dg_guarded at_a, at_b, at_c, at_packed, stack;
    const char *check;
    bool check_failed;
    int failures;
    uint64_t checked;
    bool tracked;                         /* the pattern is one whose worst error is told */
    double worst, worst_bound;            /* error and bound where error / bound is largest */
};

uint64_t dg_trial_random(struct dg_trial *run);
bool dg_trial_floats(const struct dg_trial *run);
double dg_a_at(const struct dg_trial *run, uint64_t i, uint64_t k);
double dg_b_at(const struct dg_trial *run, uint64_t k, uint64_t j);
void dg_pattern_fill(struct dg_trial *run, enum dg_pattern pattern);
/* Integers: every element of A is the lowest or highest of its kind, and so of B; false: there is
 * no such choice left. */
bool dg_pattern_extremes(struct dg_trial *run, unsigned choice);
bool dg_reference_make(struct dg_trial *run);
/* Compares run->result; exact: the rounded reference itself is wanted, but for what flushing may
 * take away. */
bool dg_reference_compare(struct dg_trial *run, bool exact);

void dg_trial_at(struct dg_trial *run, const char *check);
void dg_trial_ok(struct dg_trial *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void dg_trial_skip(struct dg_trial *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool dg_trial_bad(struct dg_trial *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct dg_operands { const void *a, *b; void *c; };
/* Puts the operands in place, C filled with `c_fill` (NULL: NaN). */
struct dg_operands dg_run_place(struct dg_trial *run, enum dg_place place, const void *c_fill);
/* Checks what must not have been touched and gathers C into run->result. */
bool dg_run_collect(struct dg_trial *run);
/* A call through the assembly of callcheck, so that a kernel that breaks the convention does not
 * break the runner. offset: of the stack pointer, modulo 64. The result is rax or x0. */
uint64_t dg_run_call(struct dg_trial *run, const void *function, const uint64_t arguments[4],
                     unsigned offset, struct dg_call_state *state);
/* place, call, collect */
bool dg_run_once(struct dg_trial *run, enum dg_place place);
bool dg_run_pack(struct dg_trial *run, enum dg_place source);
bool dg_same_bits(struct dg_trial *run, const void *expected, const char *what);

/* ---- groups of checks ---- */

void dg_check_numbers(struct dg_trial *run);     /* numbers.c */
void dg_check_calls(struct dg_trial *run);       /* calls.c */
void dg_check_shared(struct dg_trial *run);      /* shared.c: threads and signals */

#endif
