; SPDX-License-Identifier: MIT OR Apache-2.0
;
; SHA-1's compression, FIPS 180-4, section 6.1.2.
;
; a b c d e stay in registers and never move: their names do. That leaves no register for the schedule, so the
; stack pointer is its pointer: round t pops W[t], and what an interrupt puts below is no longer needed. The
; rounds are written out, so that the depth of the stack is known everywhere.

#include "rotate.inc"

; e += rotl(a, 5) + f(b, c, d) + K + W; b = rotl(b, 30)
    .macro round kind, a0, a1, b0, b1, c0, c1, d0, d1, e0, e1
    add_from sp,  \e0, \e1
    add     #KONSTANT & 0xffff, \e0
    addc    #KONSTANT >> 16, \e1
    mov     \a0, r14
    mov     \a1, r15
    rotate_left_1 r14, r15
    rotate_left_1 r14, r15
    rotate_left_1 r14, r15
    rotate_left_1 r14, r15
    rotate_left_1 r14, r15
    pairs   add, addc, r14, \e0,  r15, \e1
    .ifc \kind, majority            ; (b & c) + (d & (b ^ c))
    mov     \b0, r14
    mov     \b1, r15
    and     \c0, r14
    and     \c1, r15
    pairs   add, addc, r14, \e0,  r15, \e1
    .endif
    mov     \c0, r14
    mov     \c1, r15
    .ifc \kind, choose              ; d ^ (b & (c ^ d))
    xor     \d0, r14
    xor     \d1, r15
    and     \b0, r14
    and     \b1, r15
    .else
    xor     \b0, r14
    xor     \b1, r15
    .endif
    .ifc \kind, majority
    and     \d0, r14
    and     \d1, r15
    .else                           ; b ^ c ^ d
    xor     \d0, r14
    xor     \d1, r15
    .endif
    pairs   add, addc, r14, \e0,  r15, \e1
    rotate_right_1 \b0, \b1
    rotate_right_1 \b0, \b1
    .endm

    .macro twenty_rounds kind, constant
    .set KONSTANT, \constant
    .rept 4
    round   \kind, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13
    round   \kind, r12, r13, r4, r5, r6, r7, r8, r9, r10, r11
    round   \kind, r10, r11, r12, r13, r4, r5, r6, r7, r8, r9
    round   \kind, r8, r9, r10, r11, r12, r13, r4, r5, r6, r7
    round   \kind, r6, r7, r8, r9, r10, r11, r12, r13, r4, r5
    .endr
    .endm

; name:       void sunseal_sha1_compress(uint32_t state[5], const uint8_t block[64])
; registers:  r5:r4 .. r13:r12 = a .. e; r15:r14 = a part; before the rounds r12 = where W[t-16] lies
; stack:      338 bytes with the return address
; cycles:     6269
    function sunseal_sha1_compress
    pushm.w #7, r10
    push    r12
    sub     #320, sp
    mov     sp, r12
    mov     #16, r15
1:  mov.b   @r13+, r5
    swpb    r5
    mov.b   @r13+, r4
    bis     r4, r5
    mov.b   @r13+, r4
    swpb    r4
    mov.b   @r13+, r6
    bis     r6, r4
    mov     r4, 0(r12)
    mov     r5, 2(r12)
    add     #4, r12
    dec     r15
    jnz     1b
    mov     sp, r12
    mov     #64, r15
    ; W[t] = rotl(W[t-3] ^ W[t-8] ^ W[t-14] ^ W[t-16], 1)
2:  mov     @r12+, r4
    mov     @r12+, r5
    xor     4(r12), r4
    xor     6(r12), r5
    xor     28(r12), r4
    xor     30(r12), r5
    xor     48(r12), r4
    xor     50(r12), r5
    rotate_left_1 r4, r5
    mov     r4, 60(r12)
    mov     r5, 62(r12)
    dec     r15
    jnz     2b

    mov     320(sp), r14
    mov_from r14,  r4, r5, r6, r7, r8, r9, r10, r11, r12, r13
    twenty_rounds choose, 0x5a827999
    twenty_rounds parity, 0x6ed9eba1
    twenty_rounds majority, 0x8f1bbcdc
    twenty_rounds parity, 0xca62c1d6
    pop     r14
    to_indexed add, addc, 0, r14,  r4, r5
    to_indexed add, addc, 4, r14,  r6, r7
    to_indexed add, addc, 8, r14,  r8, r9
    to_indexed add, addc, 12, r14,  r10, r11
    to_indexed add, addc, 16, r14,  r12, r13
    sub     #2, sp
    push_zeros 13                   ; over the schedule
    pushm.w #4, r15
    add     #322, sp
    popm.w  #7, r10
    ret
