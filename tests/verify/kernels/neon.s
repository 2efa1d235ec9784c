// SPDX-License-Identifier: Apache-2.0
//
// The kernel of avx2.s for AArch64: C[6,16] = A[6,7] * B[7,16], lda 9, ldb 18, ldc 19, B packed;
// --defsym BREAK_x=1 plants a fault.

        .set    ROWS, 6
        .set    STEPS, 7
        .set    LDA, 9 * 4
        .set    LDB, 18 * 4
        .set    LDC, 19 * 4

        .text
        .globl  hand
        .type   hand, %function
hand:
.ifdef BREAK_x19
        mov     x19, #1
.endif
.ifdef BREAK_x18
        mov     x18, #1
.endif
.ifdef BREAK_d8
        movi    v8.4s, #0
.endif
.ifdef BREAK_fpcr
        mov     x9, #0x1000000
        msr     fpcr, x9
.endif
.ifdef BREAK_below
        str     x1, [sp, #-64]
.endif
.ifdef BREAK_far_below
        sub     x9, sp, #0x100, lsl #12
        str     x1, [x9]
.endif
.ifdef BREAK_system_call
        mov     x8, #172
        svc     #0
.endif
.ifdef BREAK_crash
        mov     x9, #0
        str     x9, [x9]
.endif
.ifdef BREAK_illegal
        udf     #0
.endif
        mov     w9, #ROWS
1:      movi    v0.4s, #0
        movi    v1.4s, #0
        movi    v2.4s, #0
        movi    v3.4s, #0
        mov     x10, x0
        mov     x11, x1
.ifdef BREAK_below
        ldr     x11, [sp, #-64]
.endif
        mov     w12, #STEPS
2:      ld1r    {v4.4s}, [x10], #4
        ldp     q5, q6, [x11], #32
        ldp     q7, q16, [x11], #32
        fmla    v0.4s, v5.4s, v4.4s
        fmla    v1.4s, v6.4s, v4.4s
        fmla    v2.4s, v7.4s, v4.4s
        fmla    v3.4s, v16.4s, v4.4s
        subs    w12, w12, #1
        b.ne    2b
.ifdef BREAK_over_a
        ldr     w13, [x10]
.endif
.ifdef BREAK_tail
        fadd    v3.4s, v3.4s, v3.4s
.endif
        stp     q0, q1, [x2]
        stp     q2, q3, [x2, #32]
        add     x0, x0, #LDA
        add     x2, x2, #LDC
        subs    w9, w9, #1
        b.ne    1b
        ret
        .size   hand, . - hand

        .globl  hand_ex
        .type   hand_ex, %function
hand_ex:
        ldr     x9, [x0]
        cmp     x9, #120
        b.lo    9f
        ldp     w9, w10, [x0, #104]
        cmp     w10, #1
        b.hi    9f
        cbnz    w9, 9f
        ldp     x11, x1, [x0, #8]
        tst     x1, #63
        b.ne    9f
        ldr     x2, [x0, #24]
        mov     x0, x11
        str     x30, [sp, #-16]!
        bl      hand
        ldr     x30, [sp], #16
        mov     w0, #0
        ret
9:      mov     w0, #2
        ret
        .size   hand_ex, . - hand_ex

        .globl  hand_packed_b_size
        .type   hand_packed_b_size, %function
hand_packed_b_size:
        mov     x0, #STEPS * 64
        ret
        .size   hand_packed_b_size, . - hand_packed_b_size

        .globl  hand_pack_b
        .type   hand_pack_b, %function
hand_pack_b:
        mov     w9, #STEPS
1:      ldp     q0, q1, [x0]
        ldp     q2, q3, [x0, #32]
        stp     q0, q1, [x1]
        stp     q2, q3, [x1, #32]
        add     x0, x0, #LDB
        add     x1, x1, #64
        subs    w9, w9, #1
        b.ne    1b
        ret
        .size   hand_pack_b, . - hand_pack_b
        .section .note.GNU-stack, "", %progbits
