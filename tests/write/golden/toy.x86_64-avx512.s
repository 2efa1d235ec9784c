# toy: C[1,19] = A[1,5] * B[5,19], f32, x86_64-avx512
# Written by deepgemm-gen 0.0.0
# Options: --name toy --isa x86_64-avx512 --m 1 --n 19 --k 5 --dtype f32 --layout-a row_major --layout-b packed --layout-c row_major --layout-lda 5 --layout-ldb 19 --layout-ldc 19 --beta 0 --objective cycles
# Planned for: by hand, values read: 0123456789abcdef
# Tile 1 x 32, blocks kc 5 mc 1 nc 19, panels outer, unroll 1
# Estimated cycles: 11
#           10  multiply-adds
#            1  call
#
# Registers of the product:
#   %rdi      A
#   %rsi      B
#   %rdx      C
#   %r15      steps left
#   %zmm8     row 0, columns 0 and on
#   %zmm9     the rest
#   %k1       first 3 lanes
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
	mov $7, %rcx
	kmovw %ecx, %k1
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
	vpxord %zmm8, %zmm8, %zmm8
	vpxord %zmm9, %zmm9, %zmm9
	.p2align 5
.Lrun_0:
	vbroadcastss (%rdi), %zmm0
	vmovups (%rsi), %zmm1
	vmovups 64(%rsi), %zmm2{%k1}{z}
	vfmadd231ps %zmm1, %zmm0, %zmm8
	vfmadd231ps %zmm2, %zmm0, %zmm9
	add $4, %rdi
	add $76, %rsi
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
	vmovups %zmm8, (%rcx)
	vmovups %zmm9, 64(%rcx){%k1}
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
	mov $380, %eax
	ret
	.cfi_endproc
	.size toy_packed_b_size, . - toy_packed_b_size

	.globl toy_pack_b
	.type toy_pack_b, @function
	.p2align 6
toy_pack_b:
	.cfi_startproc
	endbr64
	vmovups (%rdi), %zmm0
	vmovups %zmm0, (%rsi)
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
