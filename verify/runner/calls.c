/* SPDX-License-Identifier: Apache-2.0
 *
 * The calling convention: every entry point is called through an assembly routine that puts
 * sentinels in the registers a callee must keep and NaN in all vector registers, on a stack of its
 * own; and the return codes of NAME_ex. */
#include <stdio.h>
#include <string.h>

#include "verify/runner/callcheck.h"
#include "verify/runner/internal.h"

enum { STACK_LIMIT = 4096 };

/* How much of the stack below the call was written, found by the canary bytes left. */
static size_t stack_depth(const struct dg_trial *run, const unsigned char *top)
{
    const unsigned char *low = run->stack.start;
    while (low < top && *low == DG_CANARY)
        low++;
    return (size_t)(top - low);
}

static bool above_whole(const unsigned char *top)
{
    for (size_t i = 0; i < DG_STACK_ABOVE; i++)
        if (top[i] != DG_CANARY)
            return false;
    return true;
}

static bool state_fits(struct dg_trial *run, const struct dg_call_state *state, const char *what,
                       const unsigned char *top)
{
    char fault[160];
    size_t depth = stack_depth(run, top);
    if (!dg_call_state_fits(state, fault, sizeof fault))
        return dg_trial_bad(run, "%s: %s", what, fault);
    if (!above_whole(top))
        return dg_trial_bad(run, "%s: wrote above its stack frame, into its caller's", what);
    /* the return address, and the red zone where there is one, come on top of the frame */
    if (depth > STACK_LIMIT + 8 + DG_RED_ZONE)
        return dg_trial_bad(run, "%s: used %zu bytes of stack, more than %d", what, depth,
                            STACK_LIMIT);
    return true;
}

/* One call with the stack pointer at `offset` modulo 64 (before the call instruction). */
static bool checked_call(struct dg_trial *run, const void *function, const uint64_t arguments[4],
                         unsigned offset, const char *what, uint64_t *result)
{
    struct dg_call_state state;
    *result = dg_run_call(run, function, arguments, offset, &state);
    return state_fits(run, &state, what, (const unsigned char *)(uintptr_t)state.stack);
}

static uint64_t number(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

static void check_main(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    dg_trial_at(run, "call");
    for (unsigned offset = 0; offset < 64; offset += 16) {
        struct dg_operands o = dg_run_place(run, DG_PLACE_END, p->beta ? run->c : NULL);
        uint64_t arguments[4] = {number(o.a), number(o.b), number(o.c)}, ignored;
        char what[64];
        snprintf(what, sizeof what, "stack at %u modulo 64", offset);
        if (!checked_call(run, (const void *)(uintptr_t)p->call, arguments, offset, what, &ignored)
            || !dg_run_collect(run) || !dg_same_bits(run, run->first, what))
            return;
    }
    dg_trial_ok(run, "registers, flags and stack kept at four stack alignments");
}

static void check_pack_call(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    uint64_t result;
    dg_trial_at(run, "pack-call");
    if (p->layout_b != DG_RUN_PACKED) {
        dg_trial_skip(run, "B is not packed");
        return;
    }
    if (!dg_run_pack(run, DG_PLACE_END))
        return;
    uint64_t arguments[4] = {number(run->at_b.base), number(run->at_packed.base)};
    uint64_t none[4] = {0};
    if (!checked_call(run, (const void *)(uintptr_t)p->pack_b, arguments, 16, "pack_b", &result)
        || !checked_call(run, (const void *)(uintptr_t)p->packed_b_size, none, 48,
                         "packed_b_size", &result))
        return;
    if (memcmp(run->packed, run->at_packed.base, run->packed_size) != 0)
        dg_trial_bad(run, "pack_b gives other bytes with other registers before the call");
    if (result != run->packed_size)
        dg_trial_bad(run, "packed_b_size gives another size with other registers before the call");
    dg_trial_ok(run, "registers, flags and stack kept by pack_b and packed_b_size");
}

/* ---- NAME_ex ---- */

static struct dg_kernel_args filled_args(struct dg_operands o)
{
    return (struct dg_kernel_args){.size = sizeof(struct dg_kernel_args), .a = o.a, .b = o.b,
                                   .c = o.c, .alpha = 1};
}

static bool ex_call(struct dg_trial *run, const struct dg_kernel_args *args, unsigned offset,
                    int wanted, const char *what)
{
    uint64_t arguments[4] = {number(args)}, result;
    if (!checked_call(run, (const void *)(uintptr_t)run->kernel->ex, arguments, offset, what,
                      &result))
        return false;
    if ((int)result != wanted)
        return dg_trial_bad(run, "%s: NAME_ex returned %d, wanted %d", what, (int)result, wanted);
    return dg_run_collect(run);
}

static struct dg_operands place(struct dg_trial *run)
{
    return dg_run_place(run, DG_PLACE_END, run->kernel->beta ? run->c : NULL);
}

/* A refused call leaves C as it was. */
static bool refused(struct dg_trial *run, const struct dg_kernel_args *args, const char *what)
{
    const struct dg_run_kernel *p = run->kernel;
    if (!ex_call(run, args, 32, 2, what))
        return false;
    for (uint64_t i = 0; i < p->m * p->n * p->dtype->c->bytes; i++)
        if (run->result[i] != (p->beta ? run->c[i] : 0xFF))
            return dg_trial_bad(run, "%s: NAME_ex returned 2 and changed C all the same", what);
    return true;
}

static bool misaligned_refused(struct dg_trial *run)
{
    const struct dg_run_kernel *p = run->kernel;
    if (p->layout_b != DG_RUN_PACKED || run->packed_size == 0)
        return true;
    struct dg_kernel_args args = filled_args(place(run));
    args.b = (const char *)args.b - run->kernel->dtype->b->bytes;
    return refused(run, &args, "packed B not aligned");
}

static void check_ex(struct dg_trial *run)
{
    dg_trial_at(run, "ex");
    if (run->kernel->ex == NULL) {
        dg_trial_bad(run, "the kernel has no NAME_ex");
        return;
    }
    struct dg_kernel_args args = filled_args(place(run));
    if (!ex_call(run, &args, 0, 0, "NAME_ex") || !dg_same_bits(run, run->first, "NAME_ex"))
        return;
    args = filled_args(place(run));
    args.size = 8;
    if (!refused(run, &args, "an argument block of 8 bytes"))
        return;
    args = filled_args(place(run));
    args.part = 2;
    args.parts = 2;
    if (!refused(run, &args, "part 2 of 2") || !misaligned_refused(run))
        return;
    dg_trial_ok(run, "0 when done, 2 when refused, the same result as NAME");
}

/* All parts together give the whole, bit for bit; a kernel that does not divide refuses. */
static void check_parts(struct dg_trial *run)
{
    enum { PARTS = 3 };
    dg_trial_at(run, "parts");
    if (run->kernel->ex == NULL)
        return;
    struct dg_operands o = place(run);
    for (uint32_t part = 0; part < PARTS; part++) {
        struct dg_kernel_args args = filled_args(o);
        args.part = part;
        args.parts = PARTS;
        int code = run->kernel->ex(&args);
        if (code == 2 && part == 0) {
            dg_trial_skip(run, "the kernel is not divided into parts");
            return;
        }
        if (code != 0) {
            dg_trial_bad(run, "NAME_ex returned %d for part %u of %d", code, part, PARTS);
            return;
        }
    }
    if (dg_run_collect(run) && dg_same_bits(run, run->first, "three parts one after another"))
        dg_trial_ok(run, "three parts give the same bits as one call");
}

void dg_check_calls(struct dg_trial *run)
{
    check_main(run);
    check_pack_call(run);
    check_ex(run);
    check_parts(run);
}
