// toy: C[1,7] = A[1,5] * B[5,7], f32, aarch64-neon
// Written by deepgemm-gen 0.0.0
// Options: --name toy --isa aarch64-neon --m 1 --n 7 --k 5 --dtype f32 --layout-a row_major --layout-b packed --layout-c row_major --layout-lda 5 --layout-ldb 7 --layout-ldc 7 --beta 0 --objective cycles
// Planned for: by hand, values read: 0123456789abcdef
// Tile 1 x 8, blocks kc 5 mc 1 nc 7, panels outer, unroll 1
// Estimated cycles: 11
//           10  multiply-adds
//            1  call
//
// Registers of the product:
//   x0        A
//   x1        B
//   x2        C
//   x28       steps left
//   v8        row 0, columns 0 and on
//   v9        the rest
//
// Registers of packing B:
//   x0        B
//   x1        packed B
//
	.arch armv8-a
	.text

	.globl toy_ex
	.type toy_ex, %function
	.p2align 6
toy_ex:
	.cfi_startproc
	hint #34
	cbz x0, .Lrun_refuse
	ldr x9, [x0, #0]
	cmp x9, #128
	b.lo .Lrun_refuse
	ldp w9, w10, [x0, #104]
	cbnz w9, .Lrun_refuse
	cmp w10, #1
	b.hi .Lrun_refuse
	ldr x9, [x0, #96]
	cbz x9, .Lrun_rows
	movz x10, #1
	cmp x9, x10
	b.ne .Lrun_refuse
.Lrun_rows:
.ifdef DG_TIMING
	ldp x3, x4, [x0, #112]
	add x4, x3, x4, lsl #3
	cmp x3, #0
	csel x4, x3, x4, eq
.endif
	ldp x1, x2, [x0, #16]
	ldr x0, [x0, #8]
	cbz x0, .Lrun_refuse
	cbz x1, .Lrun_refuse
	cbz x2, .Lrun_refuse
	tst x1, #63
	b.ne .Lrun_refuse
	b .Lrun
.Lrun_refuse:
	mov w0, #2
	ret
	.cfi_endproc
	.size toy_ex, . - toy_ex

	.globl toy
	.type toy, %function
	.p2align 6
toy:
	.cfi_startproc
	hint #34
.ifdef DG_TIMING
	mov x3, xzr
	mov x4, xzr
.endif
.Lrun:
	sub sp, sp, #32
	.cfi_adjust_cfa_offset 32
	str x28, [sp]
	stp d8, d9, [sp, #16]
	.cfi_rel_offset 28, 0
	.cfi_rel_offset 72, 16
	.cfi_rel_offset 73, 24
.ifdef DG_TIMING
	sub sp, sp, #48
	.cfi_adjust_cfa_offset 48
.else
	sub sp, sp, #16
	.cfi_adjust_cfa_offset 16
.endif
.ifdef DG_TIMING
	stp x3, x4, [sp, #16]
.endif
.ifdef DG_TIMING
	stp x0, x1, [sp, #32]
	ldp x0, x1, [sp, #16]
	cmp x0, x1
	b.hs .Lrun_full0
	isb
	mrs x1, cntvct_el0
	str x1, [x0], #8
	str x0, [sp, #16]
.Lrun_full0:
	ldp x0, x1, [sp, #32]
.endif
	// tile 1 x (1 vector + 3)
	str x2, [sp]
	movz x28, #5
	movi v8.4s, #0
	movi v9.4s, #0
	.p2align 5
.Lrun_0:
	ldr s0, [x0]
	dup v0.4s, v0.s[0]
	ldr q1, [x1]
	ldr d2, [x1, #16]
	ldr s3, [x1, #24]
	mov v2.s[2], v3.s[0]
	fmla v8.4s, v0.4s, v1.4s
	fmla v9.4s, v0.4s, v2.4s
	add x0, x0, #4
	add x1, x1, #28
	subs x28, x28, #1
	b.ne .Lrun_0
.ifdef DG_TIMING
	stp x0, x1, [sp, #32]
	ldp x0, x1, [sp, #16]
	cmp x0, x1
	b.hs .Lrun_full1
	mrs x1, cntvct_el0
	str x1, [x0], #8
	str x0, [sp, #16]
.Lrun_full1:
	ldp x0, x1, [sp, #32]
.endif
	ldr x3, [sp]
	str q8, [x3]
	str d9, [x3, #16]
	mov s3, v9.s[2]
	str s3, [x3, #24]
.ifdef DG_TIMING
	stp x0, x1, [sp, #32]
	ldp x0, x1, [sp, #16]
	cmp x0, x1
	b.hs .Lrun_full2
	isb
	mrs x1, cntvct_el0
	str x1, [x0], #8
	str x0, [sp, #16]
.Lrun_full2:
	ldp x0, x1, [sp, #32]
.endif
.ifdef DG_TIMING
	add sp, sp, #48
	.cfi_adjust_cfa_offset -48
.else
	add sp, sp, #16
	.cfi_adjust_cfa_offset -16
.endif
	ldr x28, [sp]
	ldp d8, d9, [sp, #16]
	.cfi_restore 28
	.cfi_restore 72
	.cfi_restore 73
	add sp, sp, #32
	.cfi_adjust_cfa_offset -32
	mov w0, wzr
	ret
	.cfi_endproc
	.size toy, . - toy

	.globl toy_packed_b_size
	.type toy_packed_b_size, %function
	.p2align 6
toy_packed_b_size:
	.cfi_startproc
	hint #34
	movz x0, #140
	ret
	.cfi_endproc
	.size toy_packed_b_size, . - toy_packed_b_size

	.globl toy_pack_b
	.type toy_pack_b, %function
	.p2align 6
toy_pack_b:
	.cfi_startproc
	hint #34
	ldr q0, [x0]
	str q0, [x1]
	mov w0, wzr
	ret
	.cfi_endproc
	.size toy_pack_b, . - toy_pack_b

	.section .note.gnu.property, "a", %note
	.p2align 3
	.word 4, 16, 5
	.asciz "GNU"
	.word 0xc0000000, 4, 3, 0
	.section .note.GNU-stack, "", %progbits
