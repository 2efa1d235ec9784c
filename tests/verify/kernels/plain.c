/* SPDX-License-Identifier: Apache-2.0
 *
 * A right kernel of every dtype, as plain as can be: C[M,N] = A[M,K] * B[K,N] + BETA * C. Macros
 * choose the dtype (DTYPE_x), the layout of B (LAYOUT_x), the instruction that does the work
 * (INSTRUCTION) and one fault (BREAK_x), for the verifier's tests. */
#include <stddef.h>
#include <stdint.h>

#include "deepgemm/kernel_args.h"

enum { M = DIM_M, N = DIM_N, K = DIM_K, LDA = K + 2, LDC = N + 3 };
#if defined(LAYOUT_col_major)
enum { LDB = K + 2 };
#else
enum { LDB = N + 2 };
#endif

/* ---- elements ---- */

static inline uint32_t bits_of(float x) { union { float f; uint32_t u; } v = {x}; return v.u; }
static inline float of_bits(uint32_t u) { union { uint32_t u; float f; } v = {u}; return v.f; }

static inline float of_half(uint16_t h)
{
    float x = of_bits((h & 0x7FFFu) << 13) * 0x1p112f;
#if defined(BREAK_flush)
    x = x < 0x1p-14f ? 0 : x;
#endif
    uint32_t u = bits_of(x) | (x >= 65536 ? 0x7F800000u : 0);
    return of_bits(u | (h & 0x8000u) << 16);
}

static inline uint16_t to_half(float x)
{
    uint32_t u = bits_of(x) & 0x7FFFFFFFu, sign = bits_of(x) >> 16 & 0x8000u;
    if (u > 0x7F800000u)
        return (uint16_t)(sign | 0x7E00u);
#if defined(BREAK_cut)
    return (uint16_t)(sign | (u < 0x38800000u ? 0 : u >= 0x477FF000u ? 0x7C00u
                                                  : (u >> 13) - (112u << 10)));
#endif
    if (u < 0x38800000u)
        return (uint16_t)(sign | (bits_of(of_bits(u) + 0.5f) - bits_of(0.5f)));
    if (u >= 0x477FF000u)
        return (uint16_t)(sign | 0x7C00u);
    return (uint16_t)(sign | (((u + 0xFFFu + (u >> 13 & 1)) >> 13) - (112u << 10)));
}

static inline float of_bf16(uint16_t b) { return of_bits((uint32_t)b << 16); }

#if defined(DTYPE_f32)
typedef float A, B, C, S;
#elif defined(DTYPE_f64)
typedef double A, B, C;
#if defined(BREAK_single)
typedef float S;
#else
typedef double S;
#endif
#elif defined(DTYPE_f16)
typedef uint16_t A, B, C;
typedef float S;
#elif defined(DTYPE_bf16)
typedef uint16_t A, B;
typedef float C, S;
#elif defined(DTYPE_u8s8)
typedef uint8_t A;
typedef int8_t B;
typedef int32_t C;
typedef uint32_t S;              /* wraps, as the instructions do */
#elif defined(DTYPE_s8s8)
typedef int8_t A, B;
typedef int32_t C;
typedef uint32_t S;
#endif

/* ---- one multiply-add ---- */

#if defined(DTYPE_u8s8) || defined(DTYPE_s8s8)
static inline int product(A x, B y)
{
#if defined(BREAK_a_sign) && defined(DTYPE_u8s8)
    return (int8_t)x * y;
#elif defined(BREAK_a_sign)
    return (uint8_t)x * y;
#elif defined(BREAK_b_sign)
    return x * (uint8_t)y;
#elif defined(BREAK_negate)
    return x < 0 ? -x * (int8_t)-y : x * y;          /* as by vpsignb: -(-128) is -128 */
#else
    return x * y;
#endif
}

static inline S times(S sum, A x, B y) { return sum + (S)product(x, y); }
static inline S start(C c) { return (S)c; }
static inline C finish(S sum) { return (C)sum; }
#else

static inline S flushed(S x)
{
#if defined(DTYPE_bf16) && defined(FLUSH)
    return (bits_of(x) & 0x7F800000u) == 0 ? of_bits(bits_of(x) & 0x80000000u) : x;
#elif defined(DTYPE_f64) && defined(BREAK_flush)
    return x > -0x1p-1022 && x < 0x1p-1022 ? 0 : x;
#else
    return x;
#endif
}

#if defined(DTYPE_f16)
static inline S value_of(uint16_t x) { return of_half(x); }
static inline S start(C c) { return of_half(c); }
static inline C finish(S sum) { return to_half(sum); }
#elif defined(DTYPE_bf16)
static inline S value_of(uint16_t x) { return flushed(of_bf16(x)); }
static inline S start(C c) { return flushed(c); }
static inline C finish(S sum) { return sum; }
#else
static inline S value_of(A x) { return flushed((S)x); }
static inline S start(C c) { return (S)c; }
static inline C finish(S sum) { return (C)sum; }
#endif

static inline S times(S sum, A a, B b)
{
    S next = flushed(sum + value_of(a) * value_of(b));
#if defined(BREAK_truncate)
    next = of_bits(bits_of(next) & 0xFFFF0000u);
#elif defined(BREAK_half_sum)
    next = of_half(to_half(next));
#elif defined(BREAK_toward_zero)
    double exact = (double)sum + (double)(value_of(a) * value_of(b));
    if ((exact > 0 && (double)next > exact) || (exact < 0 && (double)next < exact))
        next = of_bits(bits_of(next) - 1);
#endif
    return next;
}
#endif

/* ---- one element ---- */

static inline B b_at(const B *b, int k, int j)
{
#if defined(LAYOUT_col_major)
    return b[j * LDB + k];
#elif defined(LAYOUT_row_major)
    return b[k * LDB + j];
#else
    return b[k * N + j];
#endif
}

#if defined(BREAK_saturate)
static S sum_of(S sum, const A *a, const B *b, int j)
{
    for (int k = 0; k < K; k += 2) {
        int pair = product(a[k], b_at(b, k, j));
        pair += k + 1 < K ? product(a[k + 1], b_at(b, k + 1, j)) : 0;
        sum += (S)(pair > 32767 ? 32767 : pair < -32768 ? -32768 : pair);
    }
    return sum;
}
#elif defined(INSTRUCTION)
#include <immintrin.h>
/* Groups of 32 bits in one lane; the last, partly filled one is completed with zeros. */
static S sum_of(S sum, const A *a, const B *b, int j)
{
    enum { GROUP = 4 / sizeof(A) };
    for (int k = 0; k < K; k += GROUP) {
        union { A x[GROUP]; int32_t all; } left = {{0}};
        union { B x[GROUP]; int32_t all; } right = {{0}};
        for (int i = 0; i < GROUP && k + i < K; i++) {
            left.x[i] = a[k + i];
            right.x[i] = b_at(b, k + i, j);
        }
#if defined(DTYPE_bf16)
        __m128 lanes = _mm_dpbf16_ps(_mm_set_ss(sum), (__m128bh)_mm_cvtsi32_si128(left.all),
                                     (__m128bh)_mm_cvtsi32_si128(right.all));
        sum = _mm_cvtss_f32(lanes);
#else
        __m128i lanes = _mm_dpbusd_epi32(_mm_cvtsi32_si128((int)sum), _mm_cvtsi32_si128(left.all),
                                         _mm_cvtsi32_si128(right.all));
        sum = (S)_mm_cvtsi128_si32(lanes);
#endif
    }
    return sum;
}
#else
static S sum_of(S sum, const A *a, const B *b, int j)
{
    int steps = K;
#if defined(BREAK_last_k)
    steps = K - 1;
#endif
    for (int k = 0; k < steps; k++) {
        int at = k;
#if defined(BREAK_swap_k)
        at = k == K - 2 ? K - 1 : k == K - 1 ? K - 2 : k;
#endif
        sum = times(sum, a[at], b_at(b, k, j));
    }
#if defined(BREAK_k_over)
    sum = times(sum, *(const volatile A *)&a[K], 0);      /* a whole group, packed B has zeros */
#endif
    return sum;
}
#endif

/* ---- the kernel ---- */

static void row_of(const A *a, const B *b, C *c)
{
    C old[N];
    for (int j = 0; j < N; j++)
        old[j] = BETA ? c[j] : 0;
    for (int j = 0; j < N; j++) {
#if defined(BREAK_beta)
        c[j] = finish(sum_of(start(0), a, b, j));
#elif defined(BREAK_twice)
        c[j] = finish(start(finish(sum_of(start(0), a, b, j))) + start(old[j]));
#else
        c[j] = finish(sum_of(start(old[j]), a, b, j));
#endif
    }
#if defined(BREAK_swap_columns)
    C last = c[N - 1];
    c[N - 1] = c[N - 2];
    c[N - 2] = last;
#endif
}

void hand(const void *a_start, const void *b, void *c_start)
{
    const A *a = a_start;
    C *c = c_start;
#if defined(BREAK_alignment)
    if ((uintptr_t)c % (2 * sizeof(C)) != 0)
        __builtin_trap();
#endif
#if defined(BREAK_under_a)
    (void)*(const volatile A *)(a - 1);
#endif
    for (int i = 0; i < M; i++) {
        int from = i;
#if defined(BREAK_swap_rows)
        from = i == M - 1 ? M - 2 : i == M - 2 ? M - 1 : i;
#elif defined(BREAK_last_row)
        if (i == M - 1)
            break;
#endif
        row_of(a + from * LDA, b, c + i * LDC);
#if defined(BREAK_column)
        if (i > 0)
            c[i * LDC + N / 2] = c[(i - 1) * LDC + N / 2];
#endif
    }
#if defined(BREAK_gap)
    c[N] = 0;
#elif defined(BREAK_over_c)
    c[(M - 1) * LDC + N] = 0;
#elif defined(BREAK_first)
    c[0] = 0;
#endif
#if defined(INSTRUCTION)
    _mm256_zeroupper();
#endif
}

int hand_ex(const struct dg_kernel_args *args)
{
    if (args->size < 120 || args->part != 0 || args->parts > 1)
        return 2;
#if defined(LAYOUT_packed)
    if ((uintptr_t)args->b % 64 != 0)
        return 2;
#endif
    hand(args->a, args->b, args->c);
    return 0;
}

#if defined(LAYOUT_packed)
size_t hand_packed_b_size(void)
{
    return (size_t)K * N * sizeof(B);
}

void hand_pack_b(const void *source, void *packed)
{
    const B *b = source;
    B *out = packed;
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++)
#if defined(BREAK_pack_less)
            if (k < K - 1 || j < N - 1)
#endif
            out[k * N + j] = b[k * LDB + j];
#if defined(BREAK_pack_over_b)
    (void)*(const volatile B *)&b[(K - 1) * LDB + N];
#elif defined(BREAK_pack_over)
    out[K * N] = 0;
#endif
}
#endif
