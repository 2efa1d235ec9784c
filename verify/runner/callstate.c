/* SPDX-License-Identifier: Apache-2.0
 *
 * What a function must have left as it was, judged from the state that callcheck_<arch>.S saved. */
#include <stdio.h>

#include "verify/runner/callcheck.h"

/* The sentinel in callee-saved register i, as in the assembly: 0x5EED0000000000xx. */
static uint64_t sentinel(unsigned i)
{
    return 0x5EED5EED5EED5E00u + i;
}

static bool changed(char *fault, size_t size, const char *name, uint64_t value)
{
    snprintf(fault, size, "%s was not kept (it holds %#llx)", name, (unsigned long long)value);
    return false;
}

static bool stack_kept(const struct dg_call_state *state, char *fault, size_t size)
{
    return state->stack_after == state->stack
        || changed(fault, size, "the stack pointer", state->stack_after);
}

#if defined(__x86_64__)

enum { DIRECTION = 1 << 10, ALIGNMENT_CHECK = 1 << 18, MXCSR_CONTROL = 0xFFC0 };

static bool control_kept(const struct dg_call_state *state, char *fault, size_t size)
{
    uint64_t before = state->control[0], after = state->control[1];
    if ((before & MXCSR_CONTROL) != (after & MXCSR_CONTROL))
        return changed(fault, size, "MXCSR", after & 0xFFFF);
    if (before >> 32 != after >> 32)
        return changed(fault, size, "the x87 control word", after >> 32);
    if ((state->x87_tags & 0xFFFF) != 0xFFFF)
        return changed(fault, size, "the empty x87 stack (MMX state left on)", state->x87_tags);
    return true;
}

/* All zero after vzeroupper; all as they were filled before when no vector code ran. */
static bool upper_clean(const struct dg_call_state *state)
{
    uint64_t any = 0, all = UINT64_MAX;
    for (size_t i = 0; i < sizeof state->upper / sizeof *state->upper; i++) {
        any |= state->upper[i];
        all &= state->upper[i];
    }
    return any == 0 || all == UINT64_MAX;
}

bool dg_call_state_fits(const struct dg_call_state *state, char *fault, size_t size)
{
    static const char *const names[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (state->kept[i] != sentinel(i))
            return changed(fault, size, names[i], state->kept[i]);
    if (!stack_kept(state, fault, size) || !control_kept(state, fault, size))
        return false;
    if (state->flags & DIRECTION)
        return changed(fault, size, "the direction flag", state->flags);
    if (state->flags & ALIGNMENT_CHECK)
        return changed(fault, size, "the alignment check flag", state->flags);
    return upper_clean(state)
        || changed(fault, size, "the clean state of the upper vector halves (vzeroupper)",
                   state->upper[0]);
}

#else

bool dg_call_state_fits(const struct dg_call_state *state, char *fault, size_t size)
{
    static const char *const names[] = {"x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
                                        "x27", "x28", "x29", "x18"};
    static const char *const vectors[] = {"d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (state->kept[i] != sentinel(i))
            return changed(fault, size, names[i], state->kept[i]);
    for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (state->upper[i] != sentinel(0x40 + i))
            return changed(fault, size, vectors[i], state->upper[i]);
    if (state->control[0] != state->control[1])
        return changed(fault, size, "FPCR", state->control[1]);
    return stack_kept(state, fault, size);
}

#endif
