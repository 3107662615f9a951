/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Division helpers of the MSP430 EABI (SLAA534): restoring division, one bit a
 * step. The time depends on the operands: never for secrets. Division by zero
 * gives a quotient of all ones and the dividend as remainder.
 *
 *   16 bits: r12 / r13               -> r12
 *   32 bits: r13:r12 / r15:r14       -> r13:r12
 *   64 bits: r11:r8 / r15:r12        -> r15:r12
 */
#include "function.inc"

    ; 16 bits: quotient r12, remainder r14, r15 used
    function sunseal_divide16
    clr     r14
    mov     #16, r15
1:  add     r12, r12
    addc    r14, r14
    jc      2f                      ; the remainder has 17 bits
    cmp     r13, r14
    jlo     3f
2:  sub     r13, r14
    bis     #1, r12
3:  dec     r15
    jnz     1b
    ret

    function __mspabi_divu
    br      #sunseal_divide16

    function __mspabi_remu
    call    #sunseal_divide16
    mov     r14, r12
    ret

    ; Signed: the quotient is negative when the signs differ, the remainder has
    ; the dividend's sign. r11 bit 15: sign of the dividend, bit 14: of the quotient.
    function sunseal_divide16_signed
    clr     r11
    tst     r12
    jge     1f
    inv     r12
    inc     r12
    mov     #0xC000, r11
1:  tst     r13
    jge     2f
    inv     r13
    inc     r13
    xor     #0x4000, r11
2:  call    #sunseal_divide16
    bit     #0x4000, r11
    jz      3f
    inv     r12
    inc     r12
3:  tst     r11
    jge     4f
    inv     r14
    inc     r14
4:  ret

    function __mspabi_divi
    br      #sunseal_divide16_signed

    function __mspabi_remi
    call    #sunseal_divide16_signed
    mov     r14, r12
    ret

    ; 32 bits: quotient r13:r12, remainder r9:r8, r11 used
    function sunseal_divide32
    clr     r8
    clr     r9
    mov     #32, r11
1:  add     r12, r12
    addc    r13, r13
    addc    r8, r8
    addc    r9, r9
    jc      3f
    cmp     r15, r9
    jlo     4f
    jne     3f
    cmp     r14, r8
    jlo     4f
3:  sub     r14, r8
    subc    r15, r9
    bis     #1, r12
4:  dec     r11
    jnz     1b
    ret

    function sunseal_divide32_signed
    clr     r10
    tst     r13
    jge     1f
    inv     r12
    inv     r13
    inc     r12
    adc     r13
    mov     #0xC000, r10
1:  tst     r15
    jge     2f
    inv     r14
    inv     r15
    inc     r14
    adc     r15
    xor     #0x4000, r10
2:  call    #sunseal_divide32
    bit     #0x4000, r10
    jz      3f
    inv     r12
    inv     r13
    inc     r12
    adc     r13
3:  tst     r10
    jge     4f
    inv     r8
    inv     r9
    inc     r8
    adc     r9
4:  ret

    .macro wrap32 name, core, remainder
    function \name
    pushm.w #3, r10                 ; r10, r9, r8
    call    #\core
    .if \remainder
    mov     r8, r12
    mov     r9, r13
    .endif
    popm.w  #3, r10
    ret
    .endm

    wrap32 __mspabi_divul, sunseal_divide32, 0
    wrap32 __mspabi_remul, sunseal_divide32, 1
    wrap32 __mspabi_divli, sunseal_divide32_signed, 0
    wrap32 __mspabi_remli, sunseal_divide32_signed, 1

    ; 64 bits: quotient r11:r8, remainder r7:r4; the steps are counted on the stack
    function sunseal_divide64
    clr     r4
    clr     r5
    clr     r6
    clr     r7
    push    #64
1:  add     r8, r8
    addc    r9, r9
    addc    r10, r10
    addc    r11, r11
    addc    r4, r4
    addc    r5, r5
    addc    r6, r6
    addc    r7, r7
    jc      3f
    cmp     r15, r7
    jlo     4f
    jne     3f
    cmp     r14, r6
    jlo     4f
    jne     3f
    cmp     r13, r5
    jlo     4f
    jne     3f
    cmp     r12, r4
    jlo     4f
3:  sub     r12, r4
    subc    r13, r5
    subc    r14, r6
    subc    r15, r7
    bis     #1, r8
4:  dec     0(sp)
    jnz     1b
    incd    sp
    ret

    .macro negate64 a, b, c, d
    inv     \a
    inv     \b
    inv     \c
    inv     \d
    inc     \a
    adc     \b
    adc     \c
    adc     \d
    .endm

    function sunseal_divide64_signed
    push    #0                      ; signs, as above
    tst     r11
    jge     1f
    negate64 r8, r9, r10, r11
    mov     #0xC000, 0(sp)
1:  tst     r15
    jge     2f
    negate64 r12, r13, r14, r15
    xor     #0x4000, 0(sp)
2:  call    #sunseal_divide64
    bit     #0x4000, 0(sp)
    jz      3f
    negate64 r8, r9, r10, r11
3:  tst     0(sp)
    jge     4f
    negate64 r4, r5, r6, r7
4:  incd    sp
    ret

    .macro wrap64 name, core, r0, r1, r2, r3
    function \name
    pushm.w #7, r10                 ; r10 .. r4
    call    #\core
    mov     \r0, r12
    mov     \r1, r13
    mov     \r2, r14
    mov     \r3, r15
    popm.w  #7, r10
    ret
    .endm

    wrap64 __mspabi_divull, sunseal_divide64, r8, r9, r10, r11
    wrap64 __mspabi_remull, sunseal_divide64, r4, r5, r6, r7
    wrap64 __mspabi_divlli, sunseal_divide64_signed, r8, r9, r10, r11
    wrap64 __mspabi_remlli, sunseal_divide64_signed, r4, r5, r6, r7
