/* SPDX-License-Identifier: Apache-2.0
 *
 * uint64_t dg_callcheck(const void *function, const uint64_t arguments[4],
 *                       struct dg_call_state *state);
 * Offsets of the state: callcheck.h. The state's address stands in memory of this file while the
 * function runs, since no register survives a function that breaks the rules. */
#if defined(__x86_64__)
        .text
        .globl  dg_callcheck
        .hidden dg_callcheck
        .type   dg_callcheck, @function
dg_callcheck:
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, 16(%rdx)
        movq    %rdx, .Lstate(%rip)
        stmxcsr 160(%rdx)
        fnstcw  164(%rdx)
        movq    %rdi, %r11
        movq    8(%rdx), %rax
        movq    0(%rdx), %rsp

        /* NaN in every vector register: nothing may count on what it finds there */
        pcmpeqd %xmm0, %xmm0
        testq   %rax, %rax
        jz      .Lsse
        cmpq    $2, %rax
        jb      .Lavx
        vpternlogd $0xff, %zmm0, %zmm0, %zmm0
        .irp    i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        vmovdqa64 %zmm0, %zmm\i
        .endr
        movl    $0x5a5a, %eax
        .irp    i, 1,2,3,4,5,6,7
        kmovw   %eax, %k\i
        .endr
        jmp     .Lregisters
.Lavx:
        vinsertf128 $1, %xmm0, %ymm0, %ymm0
        .irp    i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovaps %ymm0, %ymm\i
        .endr
        jmp     .Lregisters
.Lsse:
        .irp    i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movaps  %xmm0, %xmm\i
        .endr

.Lregisters:
        movq    0(%rsi), %rdi
        movq    16(%rsi), %rdx
        movq    24(%rsi), %rcx
        movq    8(%rsi), %rsi
        movabsq $0x5EED5EED5EED5E00, %rbx
        leaq    1(%rbx), %rbp
        leaq    2(%rbx), %r12
        leaq    3(%rbx), %r13
        leaq    4(%rbx), %r14
        leaq    5(%rbx), %r15
        movabsq $0x7777777777777777, %r8
        movq    %r8, %r9
        movq    %r8, %r10
        movq    %r8, %rax
        call    *%r11

        movq    %rax, .Lresult(%rip)
        movq    .Lstate(%rip), %rax
        movq    %rsp, 24(%rax)
        movq    16(%rax), %rsp
        pushfq
        popq    176(%rax)
        cld
        movq    %rbx, 32(%rax)
        movq    %rbp, 40(%rax)
        movq    %r12, 48(%rax)
        movq    %r13, 56(%rax)
        movq    %r14, 64(%rax)
        movq    %r15, 72(%rax)
        stmxcsr 168(%rax)
        fnstcw  172(%rax)
        subq    $32, %rsp
        fnstenv (%rsp)
        movzwl  8(%rsp), %ecx
        addq    $32, %rsp
        movq    %rcx, 184(%rax)
        emms
        fldcw   164(%rax)
        ldmxcsr 160(%rax)

        cmpq    $0, 8(%rax)
        je      .Lclean
        .irp    i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vextractf128 $1, %ymm\i, 192 + 16 * \i(%rax)
        .endr
        vzeroupper
.Lclean:
        movq    .Lresult(%rip), %rax
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret
        .size   dg_callcheck, . - dg_callcheck

        .local  .Lstate
        .comm   .Lstate, 8, 8
        .local  .Lresult
        .comm   .Lresult, 8, 8
#endif
        .section .note.GNU-stack, "", %progbits
