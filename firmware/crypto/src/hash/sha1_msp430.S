; SPDX-License-Identifier: MIT OR Apache-2.0
;
; SHA-1's compression, FIPS 180-4, section 6.1.2.
;
; The schedule lies downwards in the stack, W79 .. W1 W0, with a b c d e above W0. Round t writes the new a
; over W[t], just below the old a: then all five have moved on by one without being moved.

#include "rotate.inc"

    .macro choose                   ; d ^ (b & (c ^ d))
    mov     8(r12), r6
    mov     10(r12), r7
    xor     12(r12), r6
    xor     14(r12), r7
    and     4(r12), r6
    and     6(r12), r7
    xor     12(r12), r6
    xor     14(r12), r7
    .endm

    .macro parity                   ; b ^ c ^ d
    mov     4(r12), r6
    mov     6(r12), r7
    xor     8(r12), r6
    xor     10(r12), r7
    xor     12(r12), r6
    xor     14(r12), r7
    .endm

    .macro majority                 ; b ^ ((b ^ c) & (b ^ d))
    mov     4(r12), r8
    mov     6(r12), r9
    mov     r8, r6
    mov     r9, r7
    xor     8(r12), r6
    xor     10(r12), r7
    mov     r8, r10
    mov     r9, r11
    xor     12(r12), r10
    xor     14(r12), r11
    and     r10, r6
    and     r11, r7
    xor     r8, r6
    xor     r9, r7
    .endm

    .macro twenty_rounds mix, low, high
    sub     #80, r13
1:  mov     @r12, r4
    mov     2(r12), r5
    rotate_left_1 r4, r5
    rotate_left_1 r4, r5
    rotate_left_1 r4, r5
    rotate_left_1 r4, r5
    rotate_left_1 r4, r5
    \mix
    add     16(r12), r4
    addc    18(r12), r5
    add     #\low, r4
    addc    #\high, r5
    add     -4(r12), r4
    addc    -2(r12), r5
    add     r6, r4
    addc    r7, r5
    mov     r4, -4(r12)
    mov     r5, -2(r12)
    mov     4(r12), r4              ; c = b turned right by 2
    mov     6(r12), r5
    rotate_right_1 r4, r5
    rotate_right_1 r4, r5
    mov     r4, 4(r12)
    mov     r5, 6(r12)
    sub     #4, r12
    cmp     r13, r12
    jne     1b
    .endm

; name:       void sunseal_sha1_compress(uint32_t state[5], const uint8_t block[64])
; registers:  r12 = where W[t], then a lies; r13 = where a lies at the end of twenty rounds; others hold parts
; stack:      362 bytes with the return address
; cycles:     10547
; clobbers:   r11-r15
    function sunseal_sha1_compress
    pushm.w #7, r10
    push    r12
    sub     #344, sp                ; 340 used, and a multiple of 16 is wiped
    mov     sp, r14
    add     #320, r14
    mov     #10, r15
1:  mov     @r12+, 0(r14)
    incd    r14
    dec     r15
    jnz     1b
    mov     sp, r12
    add     #316, r12
    load_block
    mov     #64, r15
2:  mov     12(r12), r4
    mov     14(r12), r5
    xor     32(r12), r4
    xor     34(r12), r5
    xor     56(r12), r4
    xor     58(r12), r5
    xor     64(r12), r4
    xor     66(r12), r5
    rotate_left_1 r4, r5
    mov     r4, 0(r12)
    mov     r5, 2(r12)
    sub     #4, r12
    dec     r15
    jnz     2b
    mov     sp, r12
    add     #320, r12
    mov     r12, r13
    twenty_rounds choose, 0x7999, 0x5a82
    twenty_rounds parity, 0xeba1, 0x6ed9
    twenty_rounds majority, 0xbcdc, 0x8f1b
    twenty_rounds parity, 0xc1d6, 0xca62
    mov     344(sp), r12
    mov     sp, r13
    mov     #5, r15
3:  add     @r13+, 0(r12)
    addc    @r13+, 2(r12)
    add     #4, r12
    dec     r15
    jnz     3b
    wipe_stack 168
    mov     #0, 0(r13)
    mov     #0, 2(r13)
    add     #346, sp
    popm.w  #7, r10
    ret
    .size sunseal_sha1_compress, . - sunseal_sha1_compress
