/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME.h: stands alone, in C and C++. */
#include "base/str.h"
#include "emit/write/kernel_args_text.h"
#include "emit/write/source.h"

typedef unsigned long long ull;

static void put_operand(struct dg_str *out, char name, const char *element, uint64_t rows,
                        uint64_t columns, uint64_t stride, const char *access)
{
    dg_str_format(out, " *   %c  %s, %llu x %llu, row-major, %llu elements from row to row; %s\n",
                  name, element, (ull)rows, (ull)columns, (ull)stride, access);
}

static void put_operands(struct dg_str *out, const struct dg_kernel *k)
{
    const struct dg_problem *p = k->problem;
    const struct dg_dtype_row *is = &dg_dtypes[p->dtype];
    bool empty = p->k == 0;
    dg_str_format(out, " * Operands (%s):\n", dg_dtype_names[p->dtype]);
    put_operand(out, 'a', is->a, p->m, p->k, p->lda, empty ? "not read, may be NULL" : "read");
    if (k->pack != NULL)
        dg_str_format(out, " *   b  %llu bytes made by %s_pack_b, 64-byte aligned; %s\n",
                      (ull)k->packed_b_size, p->name, empty ? "not read, may be NULL" : "read");
    else
        put_operand(out, 'b', is->b, p->k, p->n, p->ldb, empty ? "not read, may be NULL" : "read");
    put_operand(out, 'c', is->c, p->m, p->n, p->ldc,
                p->beta != 0 ? "read and written" : "written, never read");
    dg_str_add(out, " * Nothing outside these elements is touched: gaps between rows keep their\n"
                    " * bytes. c may not overlap a or b. ");
    dg_str_add(out, k->pack != NULL ? "a and c may have any address.\n"
                                    : "a, b and c may have any address.\n");
}

/* How the sums are made, and what that means for values at the ends of the formats. */
static void put_sums(struct dg_str *out, const struct dg_problem *p, const struct dg_plan *plan)
{
    const struct dg_dtype_row *is = &dg_dtypes[p->dtype];
    if (p->k == 0) {
        dg_str_add(out, "C becomes beta times C.\n");
    } else if (dg_k_most(p->dtype) != UINT64_MAX) {
        dg_str_format(out, "Sums are exact: at K = %llu none leaves s32\n"
                      " * (%llu products of at most %s fit). With beta 1 the old C is added modulo "
                      "2^32.\n", (ull)p->k, (ull)dg_k_most(p->dtype),
                      p->dtype == DG_U8S8 ? "255 * 128" : "128 * 128");
    } else if (p->dtype == DG_BF16 && plan->body.chain->sem == DG_SEM_DOT) {
        dg_str_add(out, "Sums run in f32, two products to a step of the bf16 dot product\n"
                   " * instruction, in one order, so results repeat bit for bit. It rounds to\n"
                   " * nearest even whatever MXCSR says, and takes denormal inputs and results\n"
                   " * for 0. NaN and infinities go through as in f32.\n");
    } else if (p->dtype == DG_F16 || p->dtype == DG_BF16) {
        dg_str_format(out, "Elements become f32 exactly, denormals included;\n"
                      " * sums run in f32 with one rounding for each multiply-add, in one order,\n"
                      " * so results repeat bit for bit%s.\n", p->dtype == DG_F16
                      ? "; C is rounded to f16 once, to the nearest even" : "");
    } else {
        dg_str_format(out, "Sums run in %s with one rounding for each multiply-add,\n"
                      " * in one order, so results repeat bit for bit.\n", is->sum);
    }
}

static void put_comment(struct dg_str *out, const struct dg_kernel *k, const char *options)
{
    const struct dg_problem *p = k->problem;
    dg_str_format(out, "/* %s: C[%llu,%llu] %s A[%llu,%llu] * B[%llu,%llu], by deepgemm-gen %s\n",
                  p->name, (ull)p->m, (ull)p->n, p->beta != 0 ? "+=" : "=", (ull)p->m, (ull)p->k,
                  (ull)p->k, (ull)p->n, k->tool_version);
    dg_str_format(out, " * Options: %s\n", options);
    dg_str_format(out, " * Estimated cycles: %llu\n", (ull)dg_kernel_cycles(k->plan));
    dg_str_format(out, " * Planned for: %s, values read: %s\n", k->profile_name, k->profile_hash);
    dg_str_format(out, " * Runs on: %s with %s; the caller makes sure of that.\n",
                  k->plan->body.isa->architecture, k->plan->body.features);
    dg_str_add(out, " *\n");
    put_operands(out, k);
    dg_str_format(out, " *\n * K is fixed at %llu. ", (ull)p->k);
    put_sums(out, p, k->plan);
    dg_str_add(out, " * No heap, no state, at most 4 KiB of stack: threads may call at once. */\n");
}

static void put_declarations(struct dg_str *out, const struct dg_kernel *k)
{
    const char *name = k->problem->name;
    dg_str_add(out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    dg_str_format(out, "void %s(const void *a, const void *b, void *c);\n\n", name);
    dg_str_add(out, "/* Set size = sizeof(struct dg_kernel_args), a, b, c, the rest 0. Returns\n"
                    " * 0: done; 2: refused, nothing touched (size too small, NULL where bytes\n");
    dg_str_format(out, " * are needed, m neither 0 nor %llu, part not 0, parts above 1",
                  (ull)k->problem->m);
    dg_str_add(out, k->pack != NULL ? ", b not 64-byte aligned). */\n" : "). */\n");
    dg_str_format(out, "int %s_ex(const struct dg_kernel_args *args);\n", name);
    if (k->pack != NULL) {
        dg_str_format(out, "\n/* Bytes of packed B: %llu. */\nsize_t %s_packed_b_size(void);\n",
                      (ull)k->packed_b_size, name);
        dg_str_format(out, "\n/* b: %llu x %llu, row-major, %llu elements from row to row, any\n"
                           " * address. packed: 64-byte aligned; all its bytes are written. */\n",
                      (ull)k->problem->k, (ull)k->problem->n, (ull)k->problem->ldb);
        dg_str_format(out, "void %s_pack_b(const void *b, void *packed);\n", name);
    }
    dg_str_add(out, "\n#ifdef __cplusplus\n}\n#endif\n");
}

const char *dg_header_text(const struct dg_kernel *kernel, struct dg_arena *arena)
{
    const char *options = dg_options_text(kernel, arena);
    const char *name = kernel->problem->name;
    struct dg_str out;
    if (options == NULL)
        return NULL;
    dg_str_init(&out, arena);
    put_comment(&out, kernel, options);
    dg_str_format(&out, "#ifndef DG_KERNEL_%s_H\n#define DG_KERNEL_%s_H\n\n", name, name);
    dg_str_add(&out, kernel_args_text);
    put_declarations(&out, kernel);
    dg_str_add(&out, "\n#endif\n");
    return out.failed ? NULL : dg_str_text(&out);
}
