/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of one item, for tests, error messages and --dump. */
#include "emit/ir/ir.h"

struct text { char *out; size_t size, length; };

static void put(struct text *text, const char *piece)
{
    size_t room = text->size > text->length ? text->size - text->length : 0;
    text->length += dg_format(room > 0 ? text->out + text->length : NULL, room, "%s", piece);
}

static void put_operand(struct text *text, const struct dg_ir_operand *operand)
{
    char piece[64] = "";
    switch (operand->kind) {
    case DG_IR_NONE: return;
    case DG_IR_VECTOR: dg_format(piece, sizeof piece, "v%u", operand->index); break;
    case DG_IR_SCALAR: dg_format(piece, sizeof piece, "s%u", operand->index); break;
    case DG_IR_MEMORY:
        dg_format(piece, sizeof piece, "[s%u + %lld]", operand->index, (long long)operand->value);
        break;
    case DG_IR_IMMEDIATE:
        dg_format(piece, sizeof piece, "%lld", (long long)operand->value);
        break;
    case DG_IR_SLOT: dg_format(piece, sizeof piece, "slot%u", operand->index); break;
    case DG_IR_LABEL: dg_format(piece, sizeof piece, "L%u", operand->index); break;
    }
    put(text, piece);
}

static void put_op(struct text *text, const struct dg_ir_op *op)
{
    char piece[96];
    dg_format(piece, sizeof piece, "%s.%s.%u", op->op->name, op->op->dtype, op->op->bits);
    put(text, piece);
    if (op->part != 0) {
        dg_format(piece, sizeof piece, " part %u", op->part);
        put(text, piece);
    }
    for (unsigned i = 0; op->op->operands[i] != '\0'; i++) {
        put(text, i == 0 ? " " : ", ");
        put_operand(text, &op->operand[i]);
    }
}

size_t dg_ir_print(const struct dg_ir_code *code, const struct dg_ir_item *item, char *out,
                   size_t size)
{
    struct text text = { out, size, 0 };
    char piece[32];
    (void)code;
    if (size > 0)
        out[0] = '\0';
    switch (item->kind) {
    case DG_IR_OPERATION: put_op(&text, &item->op); break;
    case DG_IR_TARGET:
        dg_format(piece, sizeof piece, "L%u:%s", item->label, item->hot ? " hot" : "");
        put(&text, piece);
        break;
    case DG_IR_COMMENT: put(&text, "; "); put(&text, item->text); break;
    case DG_IR_STAMP: put(&text, "stamp"); break;
    }
    return text.length;
}
