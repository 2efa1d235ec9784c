/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/ir/interpret.h"

#include <math.h>
#include <string.h>

enum { VECTORS = 64, SCALARS = 64, LANE_BYTES = 64 };

#define BASE(i) ((uint64_t)((i) + 1) << 44)
#define POISON UINT64_C(0x7ffdeadbeef00000)

union vector {
    float f32[LANE_BYTES / 4];
    double f64[LANE_BYTES / 8];
    unsigned char byte[LANE_BYTES];
};

struct machine {
    const struct dg_ir_code *code;
    struct dg_ir_run *run;
    union vector vector[VECTORS];
    uint64_t scalar[SCALARS], slot[DG_IR_SLOTS], mask[DG_IR_MASKS + 1];
    size_t *target;            /* item of each label */
    size_t at;
    struct dg_error *e;
};

static bool fault(struct machine *m, const char *rule, const char *value)
{
    char where[256], line[160];
    dg_ir_print(m->code, &m->code->item[m->at], line, sizeof line);
    dg_format(where, sizeof where, "item %zu: %s", m->at, line);
    return dg_fail(m->e, DG_EXIT_CHECK, where, rule, value, "");
}

static void touch(struct dg_ir_region *region, uint64_t offset, uint64_t size)
{
    if (region->touched == NULL || size == 0)
        return;
    for (uint64_t line = offset / DG_IR_LINE; line <= (offset + size - 1) / DG_IR_LINE; line++) {
        region->lines += region->touched[line] == 0;
        region->touched[line] = 1;
    }
}

/* The bytes of an access, NULL after a fault. */
static unsigned char *access_bytes(struct machine *m, const struct dg_ir_operand *operand,
                                   uint64_t size, bool write)
{
    uint64_t address = m->scalar[operand->index] + (uint64_t)operand->value;
    char value[128];
    for (unsigned i = 0; i < m->run->regions; i++) {
        struct dg_ir_region *region = &m->run->region[i];
        int64_t offset = (int64_t)(address - BASE(i));
        if (offset < -(INT64_C(1) << 42) || offset > INT64_C(1) << 42)
            continue;
        if (offset >= 0 && size <= region->size && (uint64_t)offset <= region->size - size &&
            (!write || region->writable)) {
            region->reads += !write;
            region->writes += write;
            touch(region, (uint64_t)offset, size);
            return region->data + offset;
        }
        dg_format(value, sizeof value, "%s of %llu bytes at %s + %lld, which has %llu",
                  write ? "write" : "read", (unsigned long long)size, region->name,
                  (long long)offset, (unsigned long long)region->size);
        fault(m, "accesses must stay inside the operands", value);
        return NULL;
    }
    dg_format(value, sizeof value, "address %llx", (unsigned long long)address);
    fault(m, "accesses must stay inside the operands", value);
    return NULL;
}

static bool is_f64(const struct dg_op *op)
{
    return strcmp(op->dtype, "f64") == 0;
}

static unsigned element_size(const struct dg_op *op)
{
    return is_f64(op) ? 8 : 4;
}

static unsigned lane_count(const struct dg_op *op)
{
    return op->bits / 8 / element_size(op);
}

static double lane_of(const struct dg_op *op, const union vector *v, unsigned lane)
{
    return is_f64(op) ? v->f64[lane] : (double)v->f32[lane];
}

static void set_lane(const struct dg_op *op, union vector *v, unsigned lane, double value)
{
    if (is_f64(op))
        v->f64[lane] = value;
    else
        v->f32[lane] = (float)value;
}

/* {0} += {1} * b, b's lane 0 for every lane when `first`. */
static void multiply_add(const struct dg_op *op, union vector *acc, const union vector *a,
                         const union vector *b, bool first)
{
    for (unsigned i = 0; i < lane_count(op); i++) {
        unsigned j = first ? 0 : i;
        if (is_f64(op))
            acc->f64[i] = fma(a->f64[i], b->f64[j], acc->f64[i]);
        else
            acc->f32[i] = fmaf(a->f32[i], b->f32[j], acc->f32[i]);
    }
}

static double combine(enum dg_sem sem, double a, double b)
{
    switch (sem) {
    case DG_SEM_ADD: return a + b;
    case DG_SEM_SUB: return a - b;
    case DG_SEM_MUL: return a * b;
    case DG_SEM_MAX: return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

static void spread(const struct dg_op *op, union vector *v)
{
    for (unsigned i = 1; i < lane_count(op); i++)
        memcpy(v->byte + i * element_size(op), v->byte, element_size(op));
}

/* Memory to vector: `size` bytes, the rest of the register zero. */
static bool load(struct machine *m, const struct dg_ir_operand *memory, uint64_t size,
                 union vector *to)
{
    const unsigned char *from = access_bytes(m, memory, size, false);
    if (from == NULL)
        return false;
    union vector v;
    memset(&v, 0, sizeof v);
    memcpy(v.byte, from, size);
    *to = v;
    return true;
}

static bool part_is_right(struct machine *m, const struct dg_ir_op *op)
{
    if (op->part == 0 || op->part >= lane_count(op->op) ||
        (op->op->part != 0 && op->op->part != op->part))
        return fault(m, "a part must be some lanes of a vector, those of its row", "");
    if (m->code->isa->mask_registers == 0 || op->op->part != 0)
        return true;
    unsigned mask = dg_ir_mask(m->code, op->part);
    if (mask == 0 || m->mask[mask] != (UINT64_C(1) << op->part) - 1)
        return fault(m, "a masked access needs its mask register set", "");
    return true;
}

static bool run_memory(struct machine *m, const struct dg_ir_op *op)
{
    const struct dg_ir_operand *x = op->operand;
    uint64_t size = dg_ir_access(op->op, op->part);
    union vector *v = m->vector, value;
    unsigned char *to;
    switch (op->op->sem) {
    case DG_SEM_LOAD_PART:
    case DG_SEM_STORE_PART:
        if (!part_is_right(m, op))
            return false;
        break;
    default:
        break;
    }
    switch (op->op->sem) {
    case DG_SEM_LOAD:
    case DG_SEM_LOAD_PART:
    case DG_SEM_LOAD_ELEMENT:
        return load(m, &x[1], size, &v[x[0].index]);
    case DG_SEM_BROADCAST:
        if (!load(m, &x[1], size, &v[x[0].index]))
            return false;
        spread(op->op, &v[x[0].index]);
        return true;
    case DG_SEM_FMA_LOAD:
    case DG_SEM_FMA_BROADCAST:
        if (!load(m, &x[2], size, &value))
            return false;
        multiply_add(op->op, &v[x[0].index], &v[x[1].index], &value,
                     op->op->sem == DG_SEM_FMA_BROADCAST);
        return true;
    default:
        to = access_bytes(m, &x[0], size, true);
        if (to != NULL)
            memcpy(to, v[x[1].index].byte, size);
        return to != NULL;
    }
}

static bool run_vector(struct machine *m, const struct dg_ir_op *op)
{
    const struct dg_ir_operand *x = op->operand;
    union vector *v = m->vector, *to = &v[x[0].index], a = v[x[1].index & (VECTORS - 1)];
    union vector b = v[x[2].index & (VECTORS - 1)];
    switch (op->op->sem) {
    case DG_SEM_ZERO: memset(to, 0, sizeof *to); return true;
    case DG_SEM_MOVE: *to = a; return true;
    case DG_SEM_FMA: multiply_add(op->op, to, &a, &b, false); return true;
    case DG_SEM_FMA_ELEMENT: multiply_add(op->op, to, &a, &b, true); return true;
    case DG_SEM_ADD:
    case DG_SEM_SUB:
    case DG_SEM_MUL:
    case DG_SEM_MAX:
    case DG_SEM_MIN:
        for (unsigned i = 0; i < lane_count(op->op); i++)
            set_lane(op->op, to, i, combine(op->op->sem, lane_of(op->op, &a, i),
                                            lane_of(op->op, &b, i)));
        return true;
    case DG_SEM_XOR:
        for (unsigned i = 0; i < LANE_BYTES; i++)
            to->byte[i] = a.byte[i] ^ b.byte[i];
        return true;
    default:
        return fault(m, "this operation has no meaning for the interpreter", "");
    }
}

static bool jump(struct machine *m, const struct dg_ir_operand *label)
{
    if (label->index >= m->code->labels || m->target[label->index] == SIZE_MAX)
        return fault(m, "a branch needs its label in the same code", "");
    m->at = m->target[label->index];
    return true;
}

static bool set_mask(struct machine *m, const struct dg_ir_op *op)
{
    unsigned mask = dg_ir_mask(m->code, op->part);
    if (mask == 0)
        return fault(m, "a mask register must be declared for this part", "");
    m->mask[mask] = m->scalar[op->operand[0].index];
    return true;
}

static bool run_scalar(struct machine *m, const struct dg_ir_op *op)
{
    const struct dg_ir_operand *x = op->operand;
    uint64_t *s = m->scalar, *to = &s[x[0].index & (SCALARS - 1)];
    unsigned shift = 16 * (op->part & 3);
    switch (op->op->sem) {
    case DG_SEM_SET: *to = (uint64_t)x[1].value; return true;
    case DG_SEM_INSERT16:
        *to = (*to & ~(UINT64_C(0xffff) << shift)) | (uint64_t)x[1].value << shift;
        return true;
    case DG_SEM_COPY: *to = s[x[1].index]; return true;
    case DG_SEM_ADD_IMM: *to += (uint64_t)x[1].value; return true;
    case DG_SEM_ADD_REG: *to += s[x[1].index]; return true;
    case DG_SEM_SLOT_LOAD: *to = m->slot[x[1].index]; return true;
    case DG_SEM_SLOT_STORE: m->slot[x[0].index] = s[x[1].index]; return true;
    case DG_SEM_COUNT_DOWN: return --*to == 0 || jump(m, &x[1]);
    case DG_SEM_JUMP_ZERO: return *to != 0 || jump(m, &x[1]);
    case DG_SEM_JUMP_NONZERO: return *to == 0 || jump(m, &x[1]);
    case DG_SEM_SET_MASK: return set_mask(m, op);
    default: return run_vector(m, op);
    }
}

static bool run_op(struct machine *m, const struct dg_ir_op *op)
{
    switch (op->op->sem) {
    case DG_SEM_LOAD:
    case DG_SEM_LOAD_PART:
    case DG_SEM_LOAD_ELEMENT:
    case DG_SEM_BROADCAST:
    case DG_SEM_STORE:
    case DG_SEM_STORE_PART:
    case DG_SEM_FMA_LOAD:
    case DG_SEM_FMA_BROADCAST:
        return run_memory(m, op);
    case DG_SEM_PREFETCH_L1:
    case DG_SEM_PREFETCH_L2:
    case DG_SEM_PREFETCH_WRITE:
        return true;
    default:
        return run_scalar(m, op);
    }
}

/* A scratch register holds nothing that a later operation may read. */
static void spoil_scratch(struct machine *m, const struct dg_ir_op *op)
{
    for (unsigned i = 0; op->op->operands[i] != '\0'; i++)
        if (op->op->operands[i] == 't')
            memset(&m->vector[op->operand[i].index], 0xff, sizeof m->vector[0]);
}

static enum dg_ir_operand_kind kind_of(char letter)
{
    switch (letter) {
    case 'm': return DG_IR_MEMORY;
    case 'g': case 'h': case 'r': return DG_IR_SCALAR;
    case 'i': return DG_IR_IMMEDIATE;
    case 's': return DG_IR_SLOT;
    case 'l': return DG_IR_LABEL;
    default: return DG_IR_VECTOR;
    }
}

static uint32_t bound_of(const struct dg_ir_code *code, enum dg_ir_operand_kind kind)
{
    switch (kind) {
    case DG_IR_VECTOR: return code->isa->vector_registers;
    case DG_IR_SCALAR: case DG_IR_MEMORY: return code->isa->scalar_registers;
    case DG_IR_SLOT: return code->slots;
    case DG_IR_LABEL: return code->labels;
    default: return UINT32_MAX;
    }
}

/* What an assembler would refuse: operand kinds, register numbers, far offsets, immediates. */
static bool check_op(struct machine *m, const struct dg_ir_op *op)
{
    const struct dg_isa *isa = m->code->isa;
    for (unsigned i = 0; op->op->operands[i] != '\0'; i++) {
        const struct dg_ir_operand *x = &op->operand[i];
        enum dg_ir_operand_kind kind = kind_of(op->op->operands[i]);
        if (x->kind != kind || x->index >= bound_of(m->code, kind))
            return fault(m, "operands must be what the row says, registers of the target", "");
        if (kind == DG_IR_MEMORY &&
            !dg_ir_reaches(isa, dg_ir_access(op->op, op->part), x->value))
            return fault(m, "offsets must be within the target's reach", "");
    }
    int64_t value = op->operand[1].value;
    if ((op->op->sem == DG_SEM_ADD_IMM && (value < -isa->immediate_max ||
                                           value > isa->immediate_max)) ||
        (op->op->sem == DG_SEM_SET && isa->set_bits < 64 && (value < 0 || value > 0xffff)))
        return fault(m, "immediates must be within the target's reach", "");
    return true;
}

static bool start(struct machine *m, struct dg_arena *arena)
{
    const struct dg_ir_code *code = m->code;
    memset(m->vector, 0xff, sizeof m->vector);       /* NaN in every lane */
    for (unsigned i = 0; i < SCALARS; i++)
        m->scalar[i] = POISON;
    for (unsigned i = 0; i < DG_IR_SLOTS; i++)
        m->slot[i] = POISON;
    for (unsigned i = 0; i < m->run->regions; i++)
        m->scalar[i] = BASE(i);
    m->target = dg_alloc_array(arena, code->labels + 1, sizeof *m->target);
    if (m->target == NULL)
        return dg_fail(m->e, DG_EXIT_INTERNAL, "interpreter", "memory is used up", "", "");
    for (uint32_t i = 0; i < code->labels; i++)
        m->target[i] = SIZE_MAX;
    for (m->at = 0; m->at < code->count; m->at++) {
        const struct dg_ir_item *item = &code->item[m->at];
        if (item->kind == DG_IR_TARGET && item->label < code->labels)
            m->target[item->label] = m->at;
        if (item->kind == DG_IR_OPERATION && !check_op(m, &item->op))
            return false;
    }
    return true;
}

bool dg_ir_interpret(const struct dg_ir_code *code, struct dg_ir_run *run,
                     struct dg_arena *arena, struct dg_error *e)
{
    struct machine *m = dg_alloc(arena, sizeof *m);
    if (m == NULL)
        return dg_fail(e, DG_EXIT_INTERNAL, "interpreter", "memory is used up", "", "");
    *m = (struct machine){ .code = code, .run = run, .e = e };
    if (!start(m, arena))
        return false;
    for (m->at = 0; m->at < code->count; m->at++) {
        const struct dg_ir_item *item = &code->item[m->at];
        run->stamps += item->kind == DG_IR_STAMP;
        if (run->times != NULL)
            run->times[m->at]++;
        if (item->kind != DG_IR_OPERATION)
            continue;
        if (run->operations++ == run->limit && run->limit != 0)
            return fault(m, "the code must end", "more operations than its limit");
        if (!run_op(m, &item->op))
            return false;
        spoil_scratch(m, &item->op);
    }
    return true;
}
