; SPDX-License-Identifier: MIT OR Apache-2.0
;
; SHA-512's compression, FIPS 180-4, section 6.4.2.
;
; The schedule lies downwards in the stack, W79 .. W1 W0, with a b c d e f g h above W0. Round t writes the
; new a over W[t], just below the old a: then all eight have moved on by one without being moved. Turning by
; 16 bits is another order of the four words; by 8 bits it is done once, from the left.

#include "rotate.inc"

#define K(word) .quad word

    .section .rodata.sunseal_sha512_k,"a",@progbits
    .balign 2
sunseal_sha512_k:
#include "sha512_k.inc"

    .macro right_1 x0, x1, x2, x3
    bit     #1, \x0
    rrc     \x3
    rrc     \x2
    rrc     \x1
    rrc     \x0
    .endm

    .macro left_1 x0, x1, x2, x3
    rla     \x0
    rlc     \x1
    rlc     \x2
    rlc     \x3
    adc     \x0
    .endm

; r11:r10:r9:r8 turned left by 8: bytes exchanged, and the lower ones moved up a word; r14 and r15 for it
    .macro left_8
    swpb    r8
    swpb    r9
    swpb    r10
    swpb    r11
    mov.b   r11, r15
    mov     r10, r14
    xor.b   r11, r14                ; the upper byte becomes 0
    xor     r14, r11
    mov     r9, r14
    xor.b   r10, r14
    xor     r14, r10
    mov     r8, r14
    xor.b   r9, r14
    xor     r14, r9
    xor.b   r8, r15
    xor     r15, r8
    .endm

    .macro load at, words:vararg
    of_indexed mov, mov, \at, r12, \words
    .endm

; r7:r6:r5:r4 op= the number at; op is and or xor
    .macro with op, at
    of_indexed \op, \op, \at, r12, r4, r5, r6, r7
    .endm

    .macro add_number at, words:vararg
    of_indexed add, addc, \at, r12, \words
    .endm

    .macro copy_up                  ; r11.. = r7..
    pairs   mov, mov, r4, r8,  r5, r9,  r6, r10,  r7, r11
    .endm

    .macro xor_up x0, x1, x2, x3    ; r7.. ^= x
    pairs   xor, xor, \x0, r4,  \x1, r5,  \x2, r6,  \x3, r7
    .endm

; name:       void sunseal_sha512_compress(uint64_t state[8], const uint8_t block[128])
; registers:  r12 = where W[t], then a lies; r13 = constants; r11.. and r7.. = numbers; r14, r15 = parts
; stack:      722 bytes with the return address
; cycles:     42282
    function sunseal_sha512_compress
    pushm.w #7, r10
    push    r12
    sub     #704, sp
    mov     sp, r14
    add     #640, r14
    mov     #32, r15
1:  mov     @r12+, 0(r14)
    incd    r14
    dec     r15
    jnz     1b
    mov     sp, r12
    add     #632, r12
    mov     #16, r15
2:  .irp    at, 6, 4, 2, 0
    mov.b   @r13+, r4
    swpb    r4
    mov.b   @r13+, r5
    bis     r5, r4
    mov     r4, \at(r12)
    .endr
    sub     #8, r12
    dec     r15
    jnz     2b
    ; W[t] = sigma0(W[t-15]) + W[t-16] + W[t-7] + sigma1(W[t-2])
    mov     #64, r13
3:  load    120, r4, r5, r6, r7
    copy_up
    right_1 r4, r5, r6, r7
    left_8                          ; by 8: left by 8, and a word on
    xor_up  r9, r10, r11, r8
    left_1  r9, r10, r11, r8        ; shift by 7
    and     #0x01ff, r8
    xor_up  r9, r10, r11, r8
    add_number 128, r4, r5, r6, r7
    add_number 56, r4, r5, r6, r7
    mov_indexed 0, r12,  r4, r5, r6, r7
    load    16, r4, r5, r6, r7
    copy_up
    right_1 r4, r5, r6, r7          ; by 19: by 3, and a word on
    right_1 r4, r5, r6, r7
    right_1 r4, r5, r6, r7
    left_1  r8, r9, r10, r11        ; by 61: left by 3
    left_1  r8, r9, r10, r11
    left_1  r8, r9, r10, r11
    xor_up  r11, r8, r9, r10
    right_1 r8, r9, r10, r11        ; shift by 6: left by 2, then as above
    left_8
    and     #0x03ff, r8
    xor_up  r8, r9, r10, r11
    to_indexed add, addc, 0, r12,  r5, r6, r7, r4
    sub     #8, r12
    dec     r13
    jnz     3b

    mov     sp, r12
    add     #632, r12
    mov     #sunseal_sha512_k, r13
    ; T1 = Sigma1(e) + h + K + W + Ch; Sigma1 turns by 18 = 16 + 2, by 41 = 40 + 1, by 14 = 16 - 2
4:  load    40, r4, r5, r6, r7
    copy_up
    right_1 r4, r5, r6, r7
    left_8
    xor_up  r10, r11, r8, r9
    right_1 r4, r5, r6, r7
    load    40, r8, r9, r10, r11
    left_1  r8, r9, r10, r11
    left_1  r8, r9, r10, r11
    xor_up  r8, r9, r10, r11
    pairs   mov, mov, r5, r8,  r6, r9,  r7, r10,  r4, r11
    add_number 64, r8, r9, r10, r11
    add_from r13,  r8, r9, r10, r11
    add_number 0, r8, r9, r10, r11
    load    48, r4, r5, r6, r7      ; Ch = g ^ (e & (f ^ g))
    with    xor, 56
    with    and, 40
    with    xor, 56
    pairs   add, addc, r4, r8,  r5, r9,  r6, r10,  r7, r11
    to_indexed add, addc, 32, r12,  r8, r9, r10, r11 ; e = d + T1
    ; a = T1 + Maj + Sigma0(a); Maj = (a & (b ^ c)) + (b & c)
    load    16, r4, r5, r6, r7
    with    and, 24
    pairs   add, addc, r4, r8,  r5, r9,  r6, r10,  r7, r11
    load    16, r4, r5, r6, r7
    with    xor, 24
    with    and, 8
    pairs   add, addc, r4, r8,  r5, r9,  r6, r10,  r7, r11
    mov_indexed 0, r12,  r8, r9, r10, r11
    load    8, r4, r5, r6, r7       ; Sigma0 turns by 28 = 32 - 4, by 39 = 40 - 1, by 34 = 32 + 2
    copy_up
    left_1  r4, r5, r6, r7
    left_1  r4, r5, r6, r7
    left_1  r4, r5, r6, r7
    left_8
    xor_up  r9, r10, r11, r8
    left_1  r4, r5, r6, r7
    load    8, r8, r9, r10, r11
    right_1 r8, r9, r10, r11
    right_1 r8, r9, r10, r11
    xor_up  r8, r9, r10, r11
    to_indexed add, addc, 0, r12,  r6, r7, r4, r5
    sub     #8, r12
    cmp     #sunseal_sha512_k+640, r13
    jeq     5f
    br      #4b
5:  mov     704(sp), r12
    mov     sp, r13
    mov     #8, r15
6:  add     @r13+, 0(r12)
    addc    @r13+, 2(r12)
    addc    @r13+, 4(r12)
    addc    @r13+, 6(r12)
    add     #8, r12
    dec     r15
    jnz     6b
    add     #704, sp
    push_zeros 29                   ; over the schedule
    pushm.w #4, r15
    add     #706, sp
    popm.w  #7, r10
    ret
