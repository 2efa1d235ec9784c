/* SPDX-License-Identifier: Apache-2.0
 *
 * The runner as a program of its own, for kernels of another architecture: linked with one kernel,
 * whose symbols the compiler's command line names. Arguments: the numbers of dg_run_kernel and the
 * options in the order read below, all decimal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "verify/runner/runner.h"

extern void DG_KERNEL(const void *a, const void *b, void *c);
extern int DG_KERNEL_EX(const struct dg_kernel_args *);
extern size_t DG_KERNEL_PACKED_B_SIZE(void) __attribute__((weak));
extern void DG_KERNEL_PACK_B(const void *b, void *packed) __attribute__((weak));

static uint64_t number(const char *text)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0') {
        fprintf(stderr, "runner: not a number: %s\n", text);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    uint64_t v[13];
    if (argc != 14)
        return 2;
    for (int i = 0; i < 13; i++)
        v[i] = number(argv[i + 1]);
    if (v[12] >= dg_run_dtype_count)
        return 2;
    struct dg_run_kernel kernel = {
        .dtype = &dg_run_dtypes[v[12]],
        .m = v[0], .n = v[1], .k = v[2], .lda = v[3], .ldb = v[4], .ldc = v[5],
        .beta = (int)v[6], .layout_b = (enum dg_run_layout)v[7],
        .packed_size = v[8], .packed_alignment = v[9],
        .call = DG_KERNEL, .ex = DG_KERNEL_EX,
        .packed_b_size = DG_KERNEL_PACKED_B_SIZE, .pack_b = DG_KERNEL_PACK_B,
    };
    struct dg_run_options options = {.out = 1, .seed = v[10], .work = v[11]};
    return dg_run_checks(&kernel, &options) == 0 ? 0 : 1;
}
