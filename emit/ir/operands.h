/* SPDX-License-Identifier: Apache-2.0
 *
 * How the operand letters of isa/ read and write; shared by the passes of this folder. */
#ifndef DG_EMIT_IR_OPERANDS_H
#define DG_EMIT_IR_OPERANDS_H

#include "emit/ir/ir.h"

static inline bool dg_letter_writes(char letter)
{
    return letter == 'd' || letter == 'a' || letter == 't' || letter == 'g' || letter == 'h';
}

static inline bool dg_letter_vector(char letter)
{
    return letter == 'd' || letter == 'a' || letter == 'v' || letter == 't';
}

/* Several instructions: a register that the first writes must differ from those read later. */
static inline bool dg_op_early(const struct dg_op *op)
{
    for (const char *p = op->text; *p != '\0'; p++)
        if (*p == '\n')
            return true;
    return false;
}

#endif
