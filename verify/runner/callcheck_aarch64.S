/* SPDX-License-Identifier: Apache-2.0
 *
 * uint64_t dg_callcheck(const void *function, const uint64_t arguments[4],
 *                       struct dg_call_state *state);
 * Offsets of the state: callcheck.h. */
#if defined(__aarch64__)
        .text
        .globl  dg_callcheck
        .hidden dg_callcheck
        .type   dg_callcheck, %function
dg_callcheck:
        stp     x29, x30, [sp, #-176]!
        stp     x19, x20, [sp, #16]
        stp     x21, x22, [sp, #32]
        stp     x23, x24, [sp, #48]
        stp     x25, x26, [sp, #64]
        stp     x27, x28, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        str     x18, [sp, #160]
        mov     x9, sp
        str     x9, [x2, #16]
        adrp    x10, dg_callcheck_state
        str     x2, [x10, #:lo12:dg_callcheck_state]
        mrs     x9, fpcr
        str     x9, [x2, #160]
        ldr     x9, [x2, #0]
        mov     sp, x9

        /* NaN in every vector register: nothing may count on what it finds there */
        .irp    i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        movi    v\i\().16b, #0xff
        .endr
        ldr     x9, =0x5EED5EED5EED5E00
        .irp    i, 8,9,10,11,12,13,14,15
        add     x10, x9, #(0x40 + \i - 8)
        fmov    d\i, x10
        .endr
        mov     x19, x9
        .irp    i, 20,21,22,23,24,25,26,27,28,29
        add     x\i, x9, #(\i - 19)
        .endr
        add     x18, x9, #11
        mov     x11, x0
        mov     x12, x1
        ldp     x0, x1, [x12]
        ldp     x2, x3, [x12, #16]
        ldr     x4, =0x7777777777777777
        mov     x5, x4
        mov     x6, x4
        mov     x7, x4
        mov     x8, x4
        blr     x11

        adrp    x10, dg_callcheck_state
        ldr     x10, [x10, #:lo12:dg_callcheck_state]
        mov     x9, sp
        str     x9, [x10, #24]
        ldr     x9, [x10, #16]
        mov     sp, x9
        stp     x19, x20, [x10, #32]
        stp     x21, x22, [x10, #48]
        stp     x23, x24, [x10, #64]
        stp     x25, x26, [x10, #80]
        stp     x27, x28, [x10, #96]
        stp     x29, x18, [x10, #112]
        str     d8, [x10, #192]
        str     d9, [x10, #200]
        str     d10, [x10, #208]
        str     d11, [x10, #216]
        str     d12, [x10, #224]
        str     d13, [x10, #232]
        str     d14, [x10, #240]
        str     d15, [x10, #248]
        mrs     x9, fpcr
        str     x9, [x10, #168]
        ldr     x9, [x10, #160]
        msr     fpcr, x9

        ldr     x18, [sp, #160]
        ldp     d14, d15, [sp, #144]
        ldp     d12, d13, [sp, #128]
        ldp     d10, d11, [sp, #112]
        ldp     d8, d9, [sp, #96]
        ldp     x27, x28, [sp, #80]
        ldp     x25, x26, [sp, #64]
        ldp     x23, x24, [sp, #48]
        ldp     x21, x22, [sp, #32]
        ldp     x19, x20, [sp, #16]
        ldp     x29, x30, [sp], #176
        ret
        .ltorg
        .size   dg_callcheck, . - dg_callcheck

        .local  dg_callcheck_state
        .comm   dg_callcheck_state, 8, 8
#endif
        .section .note.GNU-stack, "", %progbits
