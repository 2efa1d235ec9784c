/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/ir/interpret.h"

#include <math.h>
#include <string.h>

#include "base/half.h"

enum { VECTORS = 64, SCALARS = 64, LANE_BYTES = 64 };

#define BASE(i) ((uint64_t)((i) + 1) << 44)
#define POISON UINT64_C(0x7ffdeadbeef00000)

union vector {
    float f32[LANE_BYTES / 4];
    double f64[LANE_BYTES / 8];
    uint32_t u32[LANE_BYTES / 4];
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

static unsigned lane_size(const struct dg_op *op)
{
    return is_f64(op) ? 8 : 4;
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
    for (unsigned i = 0; i < dg_ir_lanes(op); i++) {
        unsigned j = first ? 0 : i;
        if (is_f64(op))
            acc->f64[i] = fma(a->f64[i], b->f64[j], acc->f64[i]);
        else
            acc->f32[i] = fmaf(a->f32[i], b->f32[j], acc->f32[i]);
    }
}

static uint32_t dot_of_bytes(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        int32_t right = (int32_t)(b >> i & 0xff);
        right = right > 127 ? right - 256 : right;
        sum += (uint32_t)((int32_t)(a >> i & 0xff) * right);
    }
    return sum;
}

static float of_bf16(uint32_t bits)
{
    float value;
    bits <<= 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t dot_of_shorts(uint32_t a, uint32_t b)
{
    int32_t low = (int16_t)(a & 0xffff) * (int16_t)(b & 0xffff);
    int32_t high = (int16_t)(a >> 16) * (int16_t)(b >> 16);
    return (uint32_t)low + (uint32_t)high;
}

/* {0} += the sum over each lane's group of {1} * {2}. */
static void dot(const struct dg_op *op, union vector *acc, const union vector *a,
                const union vector *b)
{
    for (unsigned i = 0; i < dg_ir_lanes(op); i++) {
        uint32_t x = a->u32[i], y = b->u32[i];
        if (strcmp(op->dtype, "bf16") != 0) {
            acc->u32[i] += strcmp(op->dtype, "u8s8") == 0 ? dot_of_bytes(x, y)
                                                          : dot_of_shorts(x, y);
            continue;
        }
        float high = fmaf(of_bf16(x >> 16), of_bf16(y >> 16), acc->f32[i]);
        acc->f32[i] = fmaf(of_bf16(x & 0xffff), of_bf16(y & 0xffff), high);
    }
}

/* Integer lanes: bit by bit the same for signed and unsigned. */
static bool run_integer(const struct dg_op *op, union vector *to, const union vector *a,
                        const union vector *b, int64_t immediate)
{
    for (unsigned i = 0; i < dg_ir_lanes(op); i++)
        switch (op->sem) {
        case DG_SEM_ADD: to->u32[i] = a->u32[i] + b->u32[i]; break;
        case DG_SEM_SUB: to->u32[i] = a->u32[i] - b->u32[i]; break;
        case DG_SEM_OR: to->u32[i] = a->u32[i] | b->u32[i]; break;
        case DG_SEM_SHIFT_LEFT: to->u32[i] = a->u32[i] << immediate; break;
        default: to->u32[i] = a->u32[i] >> immediate; break;
        }
    return true;
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
    for (unsigned i = 1; i < dg_ir_lanes(op); i++)
        memcpy(v->byte + i * lane_size(op), v->byte, lane_size(op));
}

/* The lane that an element of memory becomes. */
static uint32_t lane_of_memory(const char *dtype, const unsigned char *at)
{
    uint16_t half;
    if (strcmp(dtype, "u8") == 0)
        return at[0];
    if (strcmp(dtype, "s8") == 0)
        return at[0] | (at[0] > 127 ? 0xffffff00 : 0);
    memcpy(&half, at, sizeof half);
    if (strcmp(dtype, "bf16") == 0)
        return (uint32_t)half << 16;
    if (strcmp(dtype, "f16") == 0)
        return dg_f32_of_f16(half);
    return half;
}

/* Elements narrower than a lane, one for each lane. */
static void widen(const struct dg_op *op, union vector *v, unsigned count, unsigned bytes)
{
    for (unsigned i = count; bytes < lane_size(op) && i-- > 0;)
        v->u32[i] = lane_of_memory(op->dtype, v->byte + i * bytes);
}

/* Lanes of f32 to f16, one behind the other. */
static void narrow(union vector *v, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint16_t half = dg_f16_of_f32(v->u32[i]);
        memcpy(v->byte + 2 * i, &half, sizeof half);
    }
}

/* One or two bytes, each filled up to 16 bits. */
static void widen_pair(const struct dg_op *op, union vector *v, unsigned count)
{
    uint32_t low = lane_of_memory(op->dtype[0] == 'u' ? "u8" : "s8", v->byte);
    uint32_t high = lane_of_memory(op->dtype[0] == 'u' ? "u8" : "s8", v->byte + 1);
    v->u32[0] = (low & 0xffff) | (count > 1 ? high << 16 : 0);
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
    if (op->part == 0 || op->part >= dg_ir_lanes(op->op) ||
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
    case DG_SEM_LOAD_PART: {
        unsigned count = op->op->sem == DG_SEM_LOAD ? dg_ir_lanes(op->op) : op->part;
        if (!load(m, &x[1], size, &v[x[0].index]))
            return false;
        widen(op->op, &v[x[0].index], count, (unsigned)size / count);
        return true;
    }
    case DG_SEM_LOAD_ELEMENT:
        return load(m, &x[1], size, &v[x[0].index]);
    case DG_SEM_BROADCAST_GROUP:
        if (op->op->part != op->part)
            return fault(m, "a part must be that of its row", "");
        if (!load(m, &x[1], size, &v[x[0].index]))
            return false;
        if (strstr(op->op->dtype, "x2") != NULL)
            widen_pair(op->op, &v[x[0].index], op->part);
        spread(op->op, &v[x[0].index]);
        return true;
    case DG_SEM_ADD_LOAD:
        if (!load(m, &x[1], size, &value))
            return false;
        for (unsigned i = 0; i < dg_ir_lanes(op->op); i++)
            v[x[0].index].u32[i] += value.u32[i];
        return true;
    case DG_SEM_BROADCAST:
        if (!load(m, &x[1], size, &v[x[0].index]))
            return false;
        if (strstr(op->op->dtype, "x2") != NULL)
            widen_pair(op->op, &v[x[0].index], 2);
        else
            widen(op->op, &v[x[0].index], 1, (unsigned)size);
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
        value = v[x[1].index];
        if (strcmp(op->op->dtype, "f16") == 0)
            narrow(&value, (unsigned)size / 2);
        to = access_bytes(m, &x[0], size, true);
        if (to != NULL)
            memcpy(to, value.byte, size);
        return to != NULL;
    }
}

/* One level of the tree: neighbours meet. */
static void fold(const struct dg_op *op, union vector *to, const union vector *a,
                 const union vector *b)
{
    unsigned half = dg_ir_lanes(op) / 2;
    for (unsigned i = 0; i < half; i++) {
        set_lane(op, to, i, lane_of(op, a, 2 * i) + lane_of(op, a, 2 * i + 1));
        set_lane(op, to, half + i, lane_of(op, b, 2 * i) + lane_of(op, b, 2 * i + 1));
    }
}

/* What follows the lanes that are sure is poison. */
static bool lanes_down(struct machine *m, const struct dg_ir_op *op, union vector *to,
                       const union vector *a)
{
    const struct dg_op *row = op->op;
    unsigned lanes = dg_ir_lanes(row), size = lane_size(row), by = op->part;
    if (by == 0 || by >= lanes || (row->part != 0 && row->part != by) ||
        (strchr(row->operands, 'i') != NULL && op->operand[2].value != by))
        return fault(m, "lanes must move by less than a vector, as the row says", "");
    memset(to, 0xff, sizeof *to);
    memcpy(to->byte, a->byte + (size_t)by * size, (size_t)(by & -by) * size);
    return true;
}

static bool run_vector(struct machine *m, const struct dg_ir_op *op)
{
    const struct dg_ir_operand *x = op->operand;
    union vector *v = m->vector, *to = &v[x[0].index], a = v[x[1].index & (VECTORS - 1)];
    union vector b = v[x[2].index & (VECTORS - 1)];
    bool integers = strcmp(op->op->dtype, "s32") == 0;
    switch (op->op->sem) {
    case DG_SEM_ZERO: memset(to, 0, sizeof *to); return true;
    case DG_SEM_MOVE: *to = a; return true;
    case DG_SEM_FMA: multiply_add(op->op, to, &a, &b, false); return true;
    case DG_SEM_FMA_ELEMENT: multiply_add(op->op, to, &a, &b, true); return true;
    case DG_SEM_DOT: dot(op->op, to, &a, &b); return true;
    case DG_SEM_FOLD: fold(op->op, to, &a, &b); return true;
    case DG_SEM_LANES_DOWN: return lanes_down(m, op, to, &a);
    case DG_SEM_SPLAT:
        for (unsigned i = 0; i < dg_ir_lanes(op->op); i++)
            to->u32[i] = (uint32_t)m->scalar[x[1].index & (SCALARS - 1)];
        return true;
    case DG_SEM_OR:
        return run_integer(op->op, to, &a, &b, 0);
    case DG_SEM_SHIFT_LEFT:
    case DG_SEM_SHIFT_RIGHT:
        return x[2].value < 0 || x[2].value > 31
            ? fault(m, "a shift must be by 0 to 31 bits", "")
            : run_integer(op->op, to, &a, &b, x[2].value);
    case DG_SEM_ADD:
    case DG_SEM_SUB:
        if (integers)
            return run_integer(op->op, to, &a, &b, 0);
        /* fall through */
    case DG_SEM_MUL:
    case DG_SEM_MAX:
    case DG_SEM_MIN:
        for (unsigned i = 0; i < dg_ir_lanes(op->op); i++)
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
    case DG_SEM_ADD_LOAD:
    case DG_SEM_BROADCAST_GROUP:
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
