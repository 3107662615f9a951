; SPDX-License-Identifier: MIT OR Apache-2.0
;
; SHA-1's compression, FIPS 180-4, section 6.1.2.
;
; a b c d e stay in registers and never move: their names do, five rounds a turn. That leaves no register
; for the schedule, so the stack pointer is its pointer: round t pops W[t]. What an interrupt puts below is
; no longer needed. Behind every five words lies one that says whether the same five rounds follow.

#include "rotate.inc"

#define GROUP 22                    /* bytes: five words and what lies behind them */

; e += rotl(a, 5) + f(b, c, d) + K + W; b = rotl(b, 30)
    .macro round kind, a0, a1, b0, b1, c0, c1, d0, d1, e0, e1
    add     @sp+, \e0
    addc    @sp+, \e1
    add     #KONSTANT & 0xffff, \e0
    addc    #KONSTANT >> 16, \e1
    mov     \a0, r14
    mov     \a1, r15
    rotate_left_1 r14, r15
    rotate_left_1 r14, r15
    rotate_left_1 r14, r15
    rotate_left_1 r14, r15
    rotate_left_1 r14, r15
    add     r14, \e0
    addc    r15, \e1
    .ifc \kind, majority            ; (b & c) + (d & (b ^ c))
    mov     \b0, r14
    mov     \b1, r15
    and     \c0, r14
    and     \c1, r15
    add     r14, \e0
    addc    r15, \e1
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
    add     r14, \e0
    addc    r15, \e1
    rotate_right_1 \b0, \b1
    rotate_right_1 \b0, \b1
    .endm

    .macro twenty_rounds kind, constant
    .set KONSTANT, \constant
1:  round   \kind, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13
    round   \kind, r12, r13, r4, r5, r6, r7, r8, r9, r10, r11
    round   \kind, r10, r11, r12, r13, r4, r5, r6, r7, r8, r9
    round   \kind, r8, r9, r10, r11, r12, r13, r4, r5, r6, r7
    round   \kind, r6, r7, r8, r9, r10, r11, r12, r13, r4, r5
    mov     @sp+, r14
    tst     r14
    jnz     1b
    .endm

; Where W[t] lies from the group of r12 on, t counted from that group's first
#define WORD(t) (GROUP * (((t) + 20) / 5 - 4) + 4 * (((t) + 20) % 5))

; W[t] = rotl(W[t-3] ^ W[t-8] ^ W[t-14] ^ W[t-16], 1), t counted from the group's first
    .macro schedule t
    mov     WORD(\t - 3)(r12), r4
    mov     WORD(\t - 3)+2(r12), r5
    xor     WORD(\t - 8)(r12), r4
    xor     WORD(\t - 8)+2(r12), r5
    xor     WORD(\t - 14)(r12), r4
    xor     WORD(\t - 14)+2(r12), r5
    xor     WORD(\t - 16)(r12), r4
    xor     WORD(\t - 16)+2(r12), r5
    rotate_left_1 r4, r5
    mov     r4, WORD(\t)(r12)
    mov     r5, WORD(\t)+2(r12)
    .endm

; Five words of the block at r13 to the group at r12
    .macro five_words count
    .set AT, 0
    .rept \count
    mov.b   @r13+, r5
    swpb    r5
    mov.b   @r13+, r4
    bis     r4, r5
    mov.b   @r13+, r4
    swpb    r4
    mov.b   @r13+, r6
    bis     r6, r4
    mov     r4, AT(r12)
    mov     r5, AT+2(r12)
    .set AT, AT + 4
    .endr
    .endm

; name:       void sunseal_sha1_compress(uint32_t state[5], const uint8_t block[64])
; registers:  r5:r4 .. r13:r12 = a .. e; r15:r14 = a part; before the rounds r12 = a group of the schedule
; stack:      370 bytes with the return address
; cycles:     6801, on a classic CPU 7169
; clobbers:   r11-r15
    function sunseal_sha1_compress
    pushm.w #7, r10
    push    r12
    sub     #16*GROUP, sp
    mov     sp, r12
    mov     #4, r15                 ; after three groups of four the next kind of rounds comes
1:  mov     #1, GROUP-2(r12)
    mov     #1, 2*GROUP-2(r12)
    mov     #1, 3*GROUP-2(r12)
    mov     #0, 4*GROUP-2(r12)
    add     #4*GROUP, r12
    dec     r15
    jnz     1b
    mov     sp, r12
    mov     #3, r15
2:  five_words 5
    add     #GROUP, r12
    dec     r15
    jnz     2b
    five_words 1
    mov     #13, r15
    jmp     4f
3:  schedule 0
4:  schedule 1
    schedule 2
    schedule 3
    schedule 4
    add     #GROUP, r12
    dec     r15
    jnz     3b

    mov     16*GROUP(sp), r14
    mov     @r14+, r4
    mov     @r14+, r5
    mov     @r14+, r6
    mov     @r14+, r7
    mov     @r14+, r8
    mov     @r14+, r9
    mov     @r14+, r10
    mov     @r14+, r11
    mov     @r14+, r12
    mov     @r14+, r13
    twenty_rounds choose, 0x5a827999
    twenty_rounds parity, 0x6ed9eba1
    twenty_rounds majority, 0x8f1bbcdc
    twenty_rounds parity, 0xca62c1d6
    pop     r14
    add     r4, 0(r14)
    addc    r5, 2(r14)
    add     r6, 4(r14)
    addc    r7, 6(r14)
    add     r8, 8(r14)
    addc    r9, 10(r14)
    add     r10, 12(r14)
    addc    r11, 14(r14)
    add     r12, 16(r14)
    addc    r13, 18(r14)
    sub     #16*GROUP+2, sp
    wipe_stack 8*GROUP
    add     #16*GROUP+2, sp
    popm.w  #7, r10
    ret
    .size sunseal_sha1_compress, . - sunseal_sha1_compress
