# SPDX-License-Identifier: Apache-2.0
#
# A right single-precision kernel by hand: C[6,16] = A[6,7] * B[7,16], lda 9, ldb 18, ldc 19, B
# packed; and with --defsym BREAK_x=1 the same with one fault each, for the verifier's tests.

        .set    ROWS, 6
        .set    STEPS, 7
        .set    LDA, 9 * 4
        .set    LDB, 18 * 4
        .set    LDC, 19 * 4

        .text
        .globl  hand
        .type   hand, @function
hand:
.ifdef BREAK_rbx
        movl    $1, %ebx
.endif
.ifdef BREAK_r12
        xorl    %r12d, %r12d
.endif
.ifdef BREAK_rbp
        xorl    %ebp, %ebp
.endif
.ifdef BREAK_mxcsr
        movl    $0x1d80, -8(%rsp)
        ldmxcsr -8(%rsp)
.endif
.ifdef BREAK_flush
        movl    $0x9fc0, -8(%rsp)
        ldmxcsr -8(%rsp)
.endif
.ifdef BREAK_hang
        jmp     .
.endif
.ifdef BREAK_crash
        movq    $0, 0
.endif
.ifdef BREAK_illegal
        ud2
.endif
.ifdef BREAK_above
        movq    $0, 16(%rsp)
.endif
.ifdef BREAK_deep
        movq    $0, -8192(%rsp)
.endif
.ifdef BREAK_stack_alignment
        vmovaps %ymm0, -40(%rsp)
.endif
.ifdef BREAK_below
        movq    %rsi, -512(%rsp)
.endif
.ifdef BREAK_far_below
        movq    $0, -0x8000000(%rsp)
.endif
.ifdef BREAK_far_behind
        movl    $0, 0x4000000(%rdx)
.endif
.ifdef BREAK_system_call
        movl    $39, %eax
        syscall
.endif
.ifdef BREAK_under_a
        movl    -4(%rdi), %eax
.endif
.ifdef BREAK_write_a
        movl    $0, (%rdi)
.endif
.ifdef BREAK_gap
        movl    $0, 16 * 4(%rdx)
.endif
.ifdef BREAK_under_c
        movl    $0, -4(%rdx)
.endif
.ifdef BREAK_skip_row
        movl    $ROWS - 1, %ecx
.else
        movl    $ROWS, %ecx
.endif
1:
.ifdef BREAK_clear_by_multiply
        vxorps  %xmm3, %xmm3, %xmm3
        vmulps  %ymm3, %ymm0, %ymm0
        vmulps  %ymm3, %ymm1, %ymm1
.else
        vxorps  %xmm0, %xmm0, %xmm0
        vxorps  %xmm1, %xmm1, %xmm1
.endif
.ifdef BREAK_read_c
        vmulps  (%rdx), %ymm0, %ymm0
.endif
.ifdef BREAK_shared
        vmovups %ymm1, scratch(%rip)
.endif
        movq    %rsi, %r8
.ifdef BREAK_below
        movq    -512(%rsp), %r8
.endif
        movq    %rdi, %r9
        movl    $STEPS, %r10d
2:
        vbroadcastss (%r9), %ymm2
.ifdef BREAK_precision
        vpsrld  $10, %ymm2, %ymm2
        vpslld  $10, %ymm2, %ymm2
.endif
        vfmadd231ps (%r8), %ymm2, %ymm0
.ifdef BREAK_shared
        vmovups scratch(%rip), %ymm1
        vfmadd231ps 32(%r8), %ymm2, %ymm1
        vmovups %ymm1, scratch(%rip)
.else
        vfmadd231ps 32(%r8), %ymm2, %ymm1
.endif
        addq    $4, %r9
        addq    $64, %r8
        decl    %r10d
        jnz     2b
.ifdef BREAK_over_a
        movl    (%r9), %eax
.endif
.ifdef BREAK_over_b
        vmovups (%r8), %xmm3
.endif
.ifdef BREAK_tail
        vextractf128 $1, %ymm1, %xmm3
        vpermilps $0x93, %xmm3, %xmm3
        vaddss  %xmm3, %xmm3, %xmm3
        vpermilps $0x39, %xmm3, %xmm3
        vinsertf128 $1, %xmm3, %ymm1, %ymm1
.endif
.ifdef BREAK_alignment
        vmovaps %ymm0, (%rdx)
.else
        vmovups %ymm0, (%rdx)
.endif
        vmovups %ymm1, 32(%rdx)
.ifdef BREAK_over_c
        movl    $0, 64(%rdx)
.endif
.ifdef BREAK_nan_all
        vpcmpeqd %ymm0, %ymm0, %ymm0
        vmovups %ymm0, (%rdx)
        vmovups %ymm0, 32(%rdx)
.endif
        addq    $LDA, %rdi
        addq    $LDC, %rdx
        decl    %ecx
        jnz     1b
.ifdef BREAK_nan_one
        movl    $0x7fc00000, 20 - LDC(%rdx)
.endif
.ifdef BREAK_flush
        movl    $0x1f80, -8(%rsp)
        ldmxcsr -8(%rsp)
.endif
.ifdef BREAK_direction
        std
.endif
.ifdef BREAK_mmx
        movd    %eax, %mm0
.endif
.ifdef BREAK_x87
        movw    $0x027f, -8(%rsp)
        fldcw   -8(%rsp)
.endif
.ifndef BREAK_upper
        vzeroupper
.endif
.ifdef BREAK_stack_pointer
        popq    %rax
        subq    $16, %rsp
        jmp     *%rax
.endif
        ret
        .size   hand, . - hand

        .globl  hand_ex
        .type   hand_ex, @function
hand_ex:
        cmpq    $120, (%rdi)
        jb      9f
        movl    104(%rdi), %eax
        movl    108(%rdi), %ecx
        cmpl    $1, %ecx
        ja      9f
        testl   %eax, %eax
        jnz     9f
        movq    16(%rdi), %rsi
.ifndef BREAK_accepts_misaligned
        testb   $63, %sil
        jnz     9f
.endif
        movq    24(%rdi), %rdx
        movq    8(%rdi), %rdi
        subq    $8, %rsp
        call    hand
        addq    $8, %rsp
.ifdef BREAK_code
        movl    $1, %eax
.else
        xorl    %eax, %eax
.endif
        ret
9:      movl    $2, %eax
        ret
        .size   hand_ex, . - hand_ex

        .globl  hand_packed_b_size
        .type   hand_packed_b_size, @function
hand_packed_b_size:
.ifdef BREAK_packed_size
        movl    $STEPS * 64 + 64, %eax
.else
        movl    $STEPS * 64, %eax
.endif
        ret
        .size   hand_packed_b_size, . - hand_packed_b_size

        .globl  hand_pack_b
        .type   hand_pack_b, @function
hand_pack_b:
.ifdef BREAK_pack_system_call
        movl    $20, %eax
        int     $0x80
.endif
        movl    $STEPS, %ecx
1:      vmovups (%rdi), %ymm0
        vmovups 32(%rdi), %ymm1
.ifdef BREAK_pack_over_b
        movl    64(%rdi), %eax
.endif
        vmovups %ymm0, (%rsi)
        vmovups %ymm1, 32(%rsi)
        addq    $LDB, %rdi
        addq    $64, %rsi
        decl    %ecx
        jnz     1b
.ifdef BREAK_pack_over
        movl    $0, (%rsi)
.endif
        vzeroupper
        ret
        .size   hand_pack_b, . - hand_pack_b

.ifdef BREAK_shared
        .local  scratch
        .comm   scratch, 32, 32
.endif
        .section .note.GNU-stack, "", @progbits
