/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of the kernel on guarded operands, and the lines that tell what became of it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/runner/internal.h"

/* Gaps between rows are marked and checked to this depth on either side, so that a huge leading
 * dimension does not touch all of its memory. */
enum { GAP_DEPTH = 4096 };

static void say(struct dg_trial *run, const char *word, const char *format, va_list arguments)
{
    char detail[400];
    vsnprintf(detail, sizeof detail, format, arguments);
    dprintf(run->options->out, "%s\t%s\t%s\n", word, run->check, detail);
}

void dg_trial_at(struct dg_trial *run, const char *check)
{
    run->check = check;
    run->check_failed = false;
    dg_faults_at(check);
    dprintf(run->options->out, "at\t%s\n", check);
}

void dg_trial_ok(struct dg_trial *run, const char *format, ...)
{
    va_list arguments;
    if (run->check_failed)
        return;
    va_start(arguments, format);
    say(run, "ok", format, arguments);
    va_end(arguments);
}

void dg_trial_skip(struct dg_trial *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(run, "skip", format, arguments);
    va_end(arguments);
}

/* Only the first fault of a check is told. */
bool dg_trial_bad(struct dg_trial *run, const char *format, ...)
{
    va_list arguments;
    if (run->check_failed)
        return false;
    run->check_failed = true;
    run->failures++;
    va_start(arguments, format);
    say(run, "fail", format, arguments);
    va_end(arguments);
    return false;
}

static uint64_t span(uint64_t rows, uint64_t columns, uint64_t ld)
{
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * ld + columns;
}

/* Rows of `dense` (NULL: all bits set, NaN in a float) at `ld`, in elements of `bytes`; the gaps
 * are canary bytes. */
static void lay_rows(struct dg_guarded *g, const unsigned char *dense, uint64_t rows,
                     uint64_t columns, uint64_t ld, size_t bytes)
{
    uint64_t gap = (ld - columns) * bytes, row_bytes = columns * bytes;
    uint64_t depth = gap < 2 * GAP_DEPTH ? gap : GAP_DEPTH;
    dg_guarded_mark(g);
    for (uint64_t i = 0; i < rows && g->size > 0; i++) {
        unsigned char *row = g->base + i * ld * bytes;
        if (dense != NULL)
            memcpy(row, dense + i * row_bytes, row_bytes);
        else
            memset(row, 0xFF, row_bytes);
        if (i + 1 == rows)
            break;
        memset(row + row_bytes, DG_CANARY, depth);
        memset(row + ld * bytes - depth, DG_CANARY, depth);
    }
}

static bool canaries(const unsigned char *p, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (p[i] != DG_CANARY)
            return false;
    return true;
}

static bool gaps_whole(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    size_t bytes = p->dtype->c->bytes;
    uint64_t gap = (p->ldc - p->n) * bytes;
    uint64_t depth = gap < 2 * GAP_DEPTH ? gap : GAP_DEPTH;
    for (uint64_t i = 0; i + 1 < p->m; i++) {
        const unsigned char *row = run->at_c.base + i * p->ldc * bytes;
        if (!canaries(row + p->n * bytes, depth)
            || !canaries(row + p->ldc * bytes - depth, depth))
            return dg_trial_bad(run, "wrote into the gap behind row %llu of C",
                                (unsigned long long)i);
    }
    return true;
}

struct dg_operands dg_run_place(struct dg_trial *run, enum dg_place place, const void *c_fill)
{
    const struct dg_run_kernel *p = run->kernel;
    size_t a_bytes = p->dtype->a->bytes, b_bytes = p->dtype->b->bytes, c_bytes = p->dtype->c->bytes;
    bool packed = p->layout_b == DG_RUN_PACKED;
    struct dg_guarded *b = packed ? &run->at_packed : &run->at_b;
    dg_guarded_lock(&run->at_a, false);
    dg_guarded_lock(b, false);
    dg_guarded_place(&run->at_a, place, a_bytes, a_bytes);
    dg_guarded_place(b, place, b_bytes, packed ? p->packed_alignment : b_bytes);
    dg_guarded_place(&run->at_c, place, c_bytes, c_bytes);
    lay_rows(&run->at_a, run->a, p->m, p->k, p->lda, a_bytes);
    if (packed) {
        dg_guarded_mark(b);
        memcpy(b->base, run->packed, run->packed_size);
    } else {
        lay_rows(b, run->b, run->b_rows, run->b_columns, p->ldb, b_bytes);
    }
    lay_rows(&run->at_c, c_fill, p->m, p->n, p->ldc, c_bytes);
    dg_guarded_lock(&run->at_a, true);
    dg_guarded_lock(b, true);
    return (struct dg_operands){run->at_a.base, b->base, run->at_c.base};
}

bool dg_run_collect(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    size_t bytes = p->dtype->c->bytes;
    ptrdiff_t where;
    for (uint64_t i = 0; i < p->m; i++)
        memcpy(run->result + i * p->n * bytes, run->at_c.base + i * p->ldc * bytes, p->n * bytes);
    if (!dg_guarded_marked(&run->at_c, &where))
        return dg_trial_bad(run, "wrote %zd bytes from the start of C (C has %zu bytes)",
                      (ssize_t)where, run->at_c.size);
    return gaps_whole(run);
}

uint64_t dg_run_call(struct dg_trial *run, const void *function, const uint64_t arguments[4],
                     unsigned offset, struct dg_call_state *state)
{
    unsigned char *low = run->stack.start;
    unsigned char *top = low + run->stack.bytes - DG_STACK_ABOVE - 128 + offset;
    *state = (struct dg_call_state){.stack = (uint64_t)(uintptr_t)top,
                                    .vector_state = run->kernel->vector_state};
    memset(low, DG_CANARY, run->stack.bytes);
    return dg_callcheck(function, arguments, state);
}

bool dg_run_once(struct dg_trial *run, enum dg_place place)
{
    struct dg_operands o = dg_run_place(run, place, run->kernel->beta ? run->c : NULL);
    struct dg_call_state ignored;
    uint64_t arguments[4] = {(uintptr_t)o.a, (uintptr_t)o.b, (uintptr_t)o.c};
    dg_run_call(run, (const void *)(uintptr_t)run->kernel->call, arguments, 0, &ignored);
    return dg_run_collect(run);
}

/* Packs run->b into run->packed: from a source between unmapped pages, into pages with canaries
 * around. */
bool dg_run_pack(struct dg_trial *run, enum dg_place source)
{
    const struct dg_run_kernel *p = run->kernel;
    size_t bytes = p->dtype->b->bytes;
    struct dg_call_state ignored;
    ptrdiff_t where;
    if (p->layout_b != DG_RUN_PACKED)
        return true;
    dg_guarded_lock(&run->at_b, false);
    dg_guarded_lock(&run->at_packed, false);
    dg_guarded_place(&run->at_b, source, bytes, bytes);
    dg_guarded_place(&run->at_packed, DG_PLACE_END, bytes, p->packed_alignment);
    lay_rows(&run->at_b, run->b, run->b_rows, run->b_columns, p->ldb, bytes);
    dg_guarded_mark(&run->at_packed);
    /* other bytes before for each source, so that one that is left unwritten shows */
    memset(run->at_packed.base, source == DG_PLACE_END ? 0xFF : 0x11 * (int)source,
           run->packed_size);
    dg_guarded_lock(&run->at_b, true);
    uint64_t arguments[4] = {(uintptr_t)run->at_b.base, (uintptr_t)run->at_packed.base};
    dg_run_call(run, (const void *)(uintptr_t)p->pack_b, arguments, 0, &ignored);
    memcpy(run->packed, run->at_packed.base, run->packed_size);
    if (!dg_guarded_marked(&run->at_packed, &where))
        return dg_trial_bad(run, "packing wrote %zd bytes from the start of packed B (it has %zu)",
                      (ssize_t)where, run->packed_size);
    return true;
}

bool dg_same_bits(struct dg_trial *run, const void *expected, const char *what)
{
    const struct dg_run_kernel *p = run->kernel;
    const struct dg_kind *c = p->dtype->c;
    const unsigned char *before = expected;
    for (uint64_t i = 0; i < p->m * p->n; i++)
        if (memcmp(run->result + i * c->bytes, before + i * c->bytes, c->bytes) != 0)
            return dg_trial_bad(run, "%s: C[%llu][%llu] = %.17g, before it was %.17g", what,
                          (unsigned long long)(i / p->n), (unsigned long long)(i % p->n),
                          dg_element_get(c, run->result, i), dg_element_get(c, before, i));
    return true;
}

static bool elements(unsigned char **out, uint64_t count, const struct dg_kind *kind)
{
    *out = calloc((size_t)count + 1, kind->bytes);
    return *out != NULL;
}

static bool doubles(double **out, uint64_t count)
{
    *out = calloc((size_t)count, sizeof **out);
    return *out != NULL;
}

static bool set_up(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    const struct dg_run_dtype *t = p->dtype;
    uint64_t c_count = p->m * p->n;
    bool by_columns = p->layout_b == DG_RUN_COL_MAJOR;
    run->b_rows = by_columns ? p->n : p->k;
    run->b_columns = by_columns ? p->k : p->n;
    struct dg_call_state ignored;
    uint64_t none[4] = {0};
    if (!dg_guarded_open(&run->stack, "the stack", 64 * 1024))
        return false;
    if (p->packed_b_size != NULL)
        run->packed_size = dg_run_call(run, (const void *)(uintptr_t)p->packed_b_size, none, 0,
                                       &ignored);
    run->packed = calloc(run->packed_size + 1, 1);
    return run->packed != NULL && doubles(&run->reference.value, c_count)
        && doubles(&run->reference.bound, c_count) && doubles(&run->reference.lost, c_count)
        && elements(&run->a, p->m * p->k, t->a) && elements(&run->b, p->k * p->n, t->b)
        && elements(&run->c, c_count, t->c) && elements(&run->result, c_count, t->c)
        && elements(&run->first, c_count, t->c)
        && dg_guarded_open(&run->at_a, "A", span(p->m, p->k, p->lda) * t->a->bytes)
        && dg_guarded_open(&run->at_b, "B", span(run->b_rows, run->b_columns, p->ldb)
                                            * t->b->bytes)
        && dg_guarded_open(&run->at_c, "C", span(p->m, p->n, p->ldc) * t->c->bytes)
        && dg_guarded_open(&run->at_packed, "packed B", run->packed_size);
}

static void tear_down(struct dg_trial *run)
{
    dg_guarded_close(&run->at_a);
    dg_guarded_close(&run->at_b);
    dg_guarded_close(&run->at_c);
    dg_guarded_close(&run->at_packed);
    dg_guarded_close(&run->stack);
    free(run->a);
    free(run->b);
    free(run->c);
    free(run->result);
    free(run->first);
    free(run->packed);
    free(run->reference.value);
    free(run->reference.bound);
    free(run->reference.lost);
}

int dg_run_checks(const struct dg_run_kernel *kernel, const struct dg_run_options *options)
{
    struct dg_trial run = {.kernel = kernel, .options = options, .random = options->seed,
                         .check = "memory"};
    const struct dg_guarded *const places[] = {&run.at_a, &run.at_b, &run.at_c, &run.at_packed,
                                               &run.stack};
    dg_faults_install(options->out, places, sizeof places / sizeof *places,
                      (const void *)(uintptr_t)kernel->call);
    dg_trial_at(&run, "memory");
    if (set_up(&run)) {
        dg_trial_ok(&run, "operands mapped between unmapped pages");
        dg_check_numbers(&run);
        dg_check_calls(&run);
        if (run.failures == 0)     /* these call without the protection of callcheck */
            dg_check_shared(&run);
        dprintf(options->out, "numbers\t%.17g\t%.17g\t%llu\n", run.worst, run.worst_bound,
                (unsigned long long)run.checked);
    } else {
        dg_trial_bad(&run, DG_NO_MEMORY);
    }
    dprintf(options->out, "end\t%d\n", run.failures);
    tear_down(&run);
    return run.failures;
}
