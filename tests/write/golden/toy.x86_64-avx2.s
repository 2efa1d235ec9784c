# toy: C[1,11] = A[1,5] * B[5,11], f32, x86_64-avx2
# Written by deepgemm-gen 0.0.0
# Options: --name toy --isa x86_64-avx2 --m 1 --n 11 --k 5 --dtype f32 --layout-a row_major --layout-b packed --layout-c row_major --layout-lda 5 --layout-ldb 11 --layout-ldc 11 --beta 0 --objective cycles
# Planned for: by hand, values read: 0123456789abcdef
# Tile 1 x 16, blocks kc 5 mc 1 nc 11, panels outer, unroll 1
# Estimated cycles: 11
#           10  multiply-adds
#            1  call
#
# Registers of the product:
#   %rdi      A
#   %rsi      B
#   %rdx      C
#   %r15      steps left
#   %ymm8     row 0, columns 0 and on
#   %ymm9     the rest
#
# Registers of packing B:
#   %rdi      B
#   %rsi      packed B
#
	.text

	.globl toy_ex
	.type toy_ex, @function
	.p2align 6
toy_ex:
	.cfi_startproc
	endbr64
	test %rdi, %rdi
	jz .Lrun_refuse
	cmpq $128, 0(%rdi)
	jb .Lrun_refuse
	cmpl $0, 104(%rdi)
	jnz .Lrun_refuse
	cmpl $1, 108(%rdi)
	ja .Lrun_refuse
	mov 96(%rdi), %rax
	test %rax, %rax
	jz .Lrun_rows
	mov $1, %rcx
	cmp %rcx, %rax
	jne .Lrun_refuse
.Lrun_rows:
.ifdef DG_TIMING
	mov 112(%rdi), %r8
	mov 120(%rdi), %r9
	lea (%r8,%r9,8), %r9
	test %r8, %r8
	cmovz %r8, %r9
.endif
	mov 16(%rdi), %rsi
	mov 24(%rdi), %rdx
	mov 8(%rdi), %rdi
	test %rdi, %rdi
	jz .Lrun_refuse
	test %rsi, %rsi
	jz .Lrun_refuse
	test %rdx, %rdx
	jz .Lrun_refuse
	test $63, %sil
	jnz .Lrun_refuse
	jmp .Lrun
.Lrun_refuse:
	mov $2, %eax
	ret
	.cfi_endproc
	.size toy_ex, . - toy_ex

	.globl toy
	.type toy, @function
	.p2align 6
toy:
	.cfi_startproc
	endbr64
.ifdef DG_TIMING
	xor %r8d, %r8d
	xor %r9d, %r9d
.endif
.Lrun:
	push %r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r15, 0
.ifdef DG_TIMING
	sub $40, %rsp
	.cfi_adjust_cfa_offset 40
.else
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
.endif
.ifdef DG_TIMING
	mov %r8, 8(%rsp)
	mov %r9, 16(%rsp)
.endif
.ifdef DG_TIMING
	mov %rax, 24(%rsp)
	mov %rdx, 32(%rsp)
	lfence
	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	mov 8(%rsp), %rdx
	cmp 16(%rsp), %rdx
	jae .Lrun_full0
	mov %rax, (%rdx)
	add $8, %rdx
	mov %rdx, 8(%rsp)
.Lrun_full0:
	mov 24(%rsp), %rax
	mov 32(%rsp), %rdx
.endif
	# tile 1 x (1 vector + 3)
	mov %rdx, 0(%rsp)
	mov $5, %r15
	vxorps %xmm8, %xmm8, %xmm8
	vxorps %xmm9, %xmm9, %xmm9
	.p2align 5
.Lrun_0:
	vbroadcastss (%rdi), %ymm0
	vmovups (%rsi), %ymm1
	vmovsd 32(%rsi), %xmm2
	vinsertps $0x20, 40(%rsi), %xmm2, %xmm2
	vfmadd231ps %ymm1, %ymm0, %ymm8
	vfmadd231ps %ymm2, %ymm0, %ymm9
	add $4, %rdi
	add $44, %rsi
	dec %r15
	jnz .Lrun_0
.ifdef DG_TIMING
	mov %rax, 24(%rsp)
	mov %rdx, 32(%rsp)
	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	mov 8(%rsp), %rdx
	cmp 16(%rsp), %rdx
	jae .Lrun_full1
	mov %rax, (%rdx)
	add $8, %rdx
	mov %rdx, 8(%rsp)
.Lrun_full1:
	mov 24(%rsp), %rax
	mov 32(%rsp), %rdx
.endif
	mov 0(%rsp), %rcx
	vmovups %ymm8, (%rcx)
	vmovlps %xmm9, 32(%rcx)
	vextractps $2, %xmm9, 40(%rcx)
.ifdef DG_TIMING
	mov %rax, 24(%rsp)
	mov %rdx, 32(%rsp)
	lfence
	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	mov 8(%rsp), %rdx
	cmp 16(%rsp), %rdx
	jae .Lrun_full2
	mov %rax, (%rdx)
	add $8, %rdx
	mov %rdx, 8(%rsp)
.Lrun_full2:
	mov 24(%rsp), %rax
	mov 32(%rsp), %rdx
.endif
.ifdef DG_TIMING
	add $40, %rsp
	.cfi_adjust_cfa_offset -40
.else
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
.endif
	pop %r15
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r15
	xor %eax, %eax
	vzeroupper
	ret
	.cfi_endproc
	.size toy, . - toy

	.globl toy_packed_b_size
	.type toy_packed_b_size, @function
	.p2align 6
toy_packed_b_size:
	.cfi_startproc
	endbr64
	mov $220, %eax
	ret
	.cfi_endproc
	.size toy_packed_b_size, . - toy_packed_b_size

	.globl toy_pack_b
	.type toy_pack_b, @function
	.p2align 6
toy_pack_b:
	.cfi_startproc
	endbr64
	vmovups (%rdi), %ymm0
	vmovups %ymm0, (%rsi)
	xor %eax, %eax
	vzeroupper
	ret
	.cfi_endproc
	.size toy_pack_b, . - toy_pack_b

	.section .note.gnu.property, "a", @note
	.p2align 3
	.long 4, 16, 5
	.asciz "GNU"
	.long 0xc0000002, 4, 3, 0
	.section .note.GNU-stack, "", @progbits
