/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/isa.h"

#define OP(name, dtype, bits, sem, part, operands, feature, text) \
    { #name, #dtype, bits, DG_SEM_##sem, part, operands, feature, text },

static const struct dg_op x86_64_sse2_ops[] = {
#include "isa/x86_64_sse2/ops.def"
};
static const struct dg_op x86_64_avx2_ops[] = {
#include "isa/x86_64_avx2/ops.def"
};
static const struct dg_op x86_64_avx512_ops[] = {
#include "isa/x86_64_avx512/ops.def"
};
static const struct dg_op aarch64_neon_ops[] = {
#include "isa/aarch64_neon/ops.def"
};

#define OPS(table) .ops = table, .op_count = sizeof(table) / sizeof *(table)
#define X86_REACH .offset_min = INT32_MIN, .offset_max = INT32_MAX, .offset_step = 1, \
    .scalar_registers = 15, .immediate_max = INT32_MAX, .set_bits = 64

static const struct dg_isa x86_64_avx512 = {
    .name = "x86_64-avx512", .architecture = "x86_64", .features = "avx512f,avx512vl,fma,avx2",
    .vector_bits = 512, .vector_registers = 32, .mask_registers = 7, .comment = "#",
    OPS(x86_64_avx512_ops), X86_REACH,
};
static const struct dg_isa x86_64_avx2 = {
    .name = "x86_64-avx2", .architecture = "x86_64", .features = "avx2,fma",
    .vector_bits = 256, .vector_registers = 16, .comment = "#",
    OPS(x86_64_avx2_ops), X86_REACH,
};
/* Measured only: no kernel is generated for it. */
static const struct dg_isa x86_64_sse2 = {
    .name = "x86_64-sse2", .architecture = "x86_64", .features = "sse2",
    .vector_bits = 128, .vector_registers = 16, .comment = "#",
    OPS(x86_64_sse2_ops), X86_REACH,
};
static const struct dg_isa aarch64_neon = {
    .name = "aarch64-neon", .architecture = "aarch64", .features = "asimd",
    .vector_bits = 128, .vector_registers = 32, .comment = "//",
    OPS(aarch64_neon_ops), .offset_min = 0, .offset_max = 65520, .offset_step = 16,
    .scalar_registers = 28, .immediate_max = 4095, .set_bits = 16,
};

const struct dg_isa *const dg_isas[] = {
    &x86_64_avx512, &x86_64_avx2, &x86_64_sse2, &aarch64_neon, NULL,
};

static bool same(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a == *b;
}

const struct dg_isa *dg_isa_by_name(const char *name)
{
    for (size_t i = 0; dg_isas[i] != NULL; i++)
        if (same(dg_isas[i]->name, name))
            return dg_isas[i];
    return NULL;
}

const struct dg_op *dg_isa_op(const struct dg_isa *isa, enum dg_sem sem, const char *dtype,
                              unsigned bits, unsigned part)
{
    for (size_t i = 0; i < isa->op_count; i++) {
        const struct dg_op *op = &isa->ops[i];
        if (op->sem == sem && op->bits == bits && (op->part == 0 || op->part == part) &&
            same(op->dtype, dtype))
            return op;
    }
    return NULL;
}

const struct dg_op *dg_isa_op_named(const struct dg_isa *isa, const char *name, const char *dtype,
                                    unsigned bits)
{
    for (size_t i = 0; i < isa->op_count; i++) {
        const struct dg_op *op = &isa->ops[i];
        if (op->bits == bits && same(op->name, name) && same(op->dtype, dtype))
            return op;
    }
    return NULL;
}

bool dg_feature_listed(const char *list, const char *name)
{
    while (*list != '\0') {
        size_t i = 0;
        while (name[i] != '\0' && list[i] == name[i])
            i++;
        if (name[i] == '\0' && (list[i] == ',' || list[i] == '\0'))
            return true;
        while (*list != ',' && *list != '\0')
            list++;
        list += *list == ',';
    }
    return false;
}

static bool listed(const char *const *list, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < length && list[i][j] == name[j])
            j++;
        if (j == length && list[i][j] == '\0')
            return true;
    }
    return false;
}

bool dg_features_have(const char *const *list, size_t count, const char *needed)
{
    while (*needed != '\0') {
        size_t length = 0;
        while (needed[length] != '\0' && needed[length] != ',')
            length++;
        if (!listed(list, count, needed, length))
            return false;
        needed += length + (needed[length] == ',');
    }
    return true;
}
