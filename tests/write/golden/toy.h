/* toy: C[1,11] = A[1,5] * B[5,11], by deepgemm-gen 0.0.0
 * Options: --name toy --isa x86_64-avx2 --m 1 --n 11 --k 5 --dtype f32 --layout-a row_major --layout-b packed --layout-c row_major --layout-lda 5 --layout-ldb 11 --layout-ldc 11 --beta 0 --objective cycles
 * Estimated cycles: 11
 * Planned for: by hand, values read: 0123456789abcdef
 * Runs on: x86_64 with avx2,fma; the caller makes sure of that.
 *
 * Operands (f32):
 *   a  f32, 1 x 5, row-major, 5 elements from row to row; read
 *   b  220 bytes made by toy_pack_b, 64-byte aligned; read
 *   c  f32, 1 x 11, row-major, 11 elements from row to row; written, never read
 * Nothing outside these elements is touched: gaps between rows keep their
 * bytes. c may not overlap a or b. a and c may have any address.
 *
 * K is fixed at 5. Sums run in f32 with one rounding for each multiply-add,
 * in one order, so results repeat bit for bit.
 * No heap, no state, at most 4 KiB of stack: threads may call at once. */
#ifndef DG_KERNEL_toy_H
#define DG_KERNEL_toy_H

#include <stddef.h>
#include <stdint.h>
#ifndef DG_KERNEL_ARGS_1
#define DG_KERNEL_ARGS_1
struct dg_kernel_args {
    size_t size;             /*   0  sizeof(struct dg_kernel_args), set by the caller */
    const void *a;           /*   8 */
    const void *b;           /*  16  as layout.b says; packed B is 64-byte aligned */
    void *c;                 /*  24 */
    const void *bias;        /*  32  this and the next: NULL unless the header asks for them */
    const void *scales;      /*  40 */
    const void *zero_points; /*  48 */
    const void *residual;    /*  56 */
    const void *mask;        /*  64 */
    void *workspace;         /*  72 */
    double alpha;            /*  80  read only by kernels generated with alpha any */
    double beta;             /*  88  read only by kernels generated with beta any */
    size_t m;                /*  96  rows, for kernels with a run-time M; else 0 or M */
    uint32_t part;           /* 104  this caller computes part `part` of `parts` */
    uint32_t parts;          /* 108  0 counts as 1 */
    uint64_t *stamps;        /* 112  time stamps of a DG_TIMING build; NULL: none wanted */
    size_t stamp_capacity;   /* 120  how many fit; further ones are dropped */
};
#endif

#ifdef __cplusplus
extern "C" {
#endif

void toy(const void *a, const void *b, void *c);

/* Set size = sizeof(struct dg_kernel_args), a, b, c, the rest 0. Returns
 * 0: done; 2: refused, nothing touched (size too small, NULL where bytes
 * are needed, m neither 0 nor 1, part not 0, parts above 1, b not 64-byte aligned). */
int toy_ex(const struct dg_kernel_args *args);

/* Bytes of packed B: 220. */
size_t toy_packed_b_size(void);

/* b: 5 x 11, row-major, 11 elements from row to row, any
 * address. packed: 64-byte aligned; all its bytes are written. */
void toy_pack_b(const void *b, void *packed);

#ifdef __cplusplus
}
#endif

#endif
