; SPDX-License-Identifier: MIT OR Apache-2.0
;
; XTEA's encryption. A 32-bit number is a pair of registers.

#include "function.inc"
#include "../words.inc"

; w += ((v << 4 ^ v >> 5) + v) ^ round key. v << 3 is kept with its 35 bits: v << 4 is one step more, and v >> 5
; is v << 3 without its lowest byte.
    .macro half_round v_lo, v_hi, w_lo, w_hi
    mov     \v_lo, r8
    mov     \v_hi, r9
    clr     r10
    .rept 3
    rla     r8
    rlc     r9
    rlc     r10
    .endr
    mov     r8, r11                 ; upper byte of r8, lower byte of r9
    xor     r9, r11
    and     r15, r11
    xor     r9, r11
    swpb    r11
    mov     r9, r12                 ; upper byte of r9, lower byte of r10
    and     r15, r12
    bis     r10, r12
    swpb    r12
    rla     r8
    rlc     r9
    xor     r11, r8
    xor     r12, r9
    pairs   add, addc, \v_lo, r8,  \v_hi, r9
    xor     @r13+, r8
    xor     @r13+, r9
    pairs   add, addc, r8, \w_lo,  r9, \w_hi
    .endm

; name:       int sunseal_xtea_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks)
; registers:  r5:r4, r7:r6 = block, r8..r12 = scratch, r13 = round keys, r14 = in, then count, r15 = 0xff00
; stack:      24 bytes with the return address
; cycles:     2276 for one block, 2301 on a classic CPU
    function sunseal_xtea_encrypt
    pushm.w #7, r10
    push    r15
    push    r14
    push    r13
    push    r12
    tst     r15
    jz      3f
1:  mov     4(sp), r14
    load_word r5
    load_word r4
    load_word r7
    load_word r6
    mov     r14, 4(sp)
    mov     @sp, r13
    mov     #0xff00, r15
    mov     #16, r14
2:  .rept 2
    half_round r6, r7, r4, r5
    half_round r4, r5, r6, r7
    .endr
    dec     r14
    jnz     2b
    mov     2(sp), r12
    store_word r5, 0
    store_word r4, 2
    store_word r7, 4
    store_word r6, 6
    add     #8, 2(sp)
    dec     6(sp)
    jnz     1b
3:  add     #8, sp
    popm.w  #7, r10
    clr     r12
    ret
