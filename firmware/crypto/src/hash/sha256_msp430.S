; SPDX-License-Identifier: MIT OR Apache-2.0
;
; SHA-256's compression, FIPS 180-4, section 6.2.2.
;
; The schedule lies downwards in the stack, W63 .. W1 W0, with a b c d e f g h above W0. Round t writes the
; new a over W[t], just below the old a: then all eight have moved on by one without being moved, and
; every offset from the pointer to a is fixed.

#include "rotate.inc"

    .section .rodata.sunseal_sha256_k,"a",@progbits
    .balign 2
sunseal_sha256_k:
#define K(word) .long word
#include "sha256_k.inc"

; The round that finds a at r12 - at
    .macro round at
    ; T1 = h + Sigma1(e) + (g & ~e) + (f & e) + K + W
    mov     16-\at(r12), r4
    mov     18-\at(r12), r5
    mov     24-\at(r12), r6
    mov     26-\at(r12), r7
    bic     r4, r6
    bic     r5, r7
    mov     20-\at(r12), r10
    mov     22-\at(r12), r11
    and     r4, r10
    and     r5, r11
    pairs   add, addc, r10, r6,  r11, r7
    of_indexed add, addc, 28-\at, r12,  r6, r7
    add_from r13,  r6, r7
    of_indexed add, addc, -4-\at, r12,  r6, r7
    ; Sigma1 turns by 6, 11, 25: e, by 13 and by 18 together by 25; 13 and 18 are 16 - 3 and 16 + 2
    mov     r5, r10
    mov     r4, r11
    rotate_left_1 r10, r11
    rotate_left_1 r10, r11
    rotate_left_1 r10, r11
    mov     r5, r14
    mov     r4, r15
    rotate_right_1 r14, r15
    rotate_right_1 r14, r15
    xor     r14, r10
    xor     r15, r11
    xor     r4, r10
    xor     r5, r11
    rotate_left_8 r10, r11, r14
    rotate_right_1 r10, r11
    pairs   add, addc, r10, r6,  r11, r7
    to_indexed add, addc, 12-\at, r12,  r6, r7 ; e = d + T1
    ; a = T1 + Sigma0(a) + (b ^ ((a ^ b) & (b ^ c)))
    ; Sigma0 turns by 2, 13, 22: a, by 11 and by 20 together by 2; these are 20 - 9 and 16 + 4
    mov     0-\at(r12), r4
    mov     2-\at(r12), r5
    mov     r5, r10
    mov     r4, r11
    rotate_left_8 r10, r11, r14
    rotate_left_1 r10, r11
    xor     r5, r10
    xor     r4, r11
    rotate_right_1 r10, r11
    rotate_right_1 r10, r11
    rotate_right_1 r10, r11
    rotate_right_1 r10, r11
    xor     r4, r10
    xor     r5, r11
    rotate_right_1 r10, r11
    rotate_right_1 r10, r11
    pairs   add, addc, r10, r6,  r11, r7
    xor     4-\at(r12), r4
    xor     6-\at(r12), r5
    and     r4, r8
    and     r5, r9
    xor     4-\at(r12), r8
    xor     6-\at(r12), r9
    pairs   add, addc, r8, r6,  r9, r7
    mov     r4, r8                  ; the next round's b ^ c
    mov     r5, r9
    mov     r6, -4-\at(r12)
    mov     r7, -2-\at(r12)
    .endm

; name:       void sunseal_sha256_compress(uint32_t state[8], const uint8_t block[64])
; registers:  r12 = where W[t], then a lies; r13 = constants; r9:r8 = b ^ c; r7:r6 = T1; others hold parts
; stack:      306 bytes with the return address
; cycles:     14850
    function sunseal_sha256_compress
    pushm.w #7, r10
    push    r12
    sub     #288, sp
    mov     sp, r14
    add     #256, r14
    mov     #16, r15
1:  mov     @r12+, 0(r14)
    incd    r14
    dec     r15
    jnz     1b
    mov     sp, r12
    add     #252, r12
    load_block
    ; W[t] = sigma1(W[t-2]) + W[t-7] + sigma0(W[t-15]) + W[t-16]
    mov     #48, r15
2:  mov     60(r12), r4
    mov     62(r12), r5
    rotate_right_1 r4, r5
    rotate_right_1 r4, r5
    mov     r5, r6                  ; by 18 = by 2 and the halves exchanged
    mov     r4, r7
    rotate_right_1 r4, r5
    mov     r5, r8                  ; shift by 3
    and     #0x1fff, r8
    xor     r4, r6
    xor     r8, r7
    rotate_right_1 r4, r5
    rotate_right_1 r4, r5
    rotate_right_1 r4, r5
    rotate_right_1 r4, r5
    xor     r4, r6                  ; by 7
    xor     r5, r7
    of_indexed add, addc, 64, r12,  r6, r7
    of_indexed add, addc, 28, r12,  r6, r7
    mov     8(r12), r4
    mov     10(r12), r5
    rotate_right_1 r4, r5
    mov     r5, r8                  ; by 17
    mov     r4, r9
    rotate_right_1 r4, r5
    rotate_right_1 r4, r5
    xor     r5, r8                  ; by 19
    xor     r4, r9
    rotate_right_8 r4, r5, r10
    rotate_left_1 r4, r5
    and     #0x003f, r5             ; shift by 10
    xor     r4, r8
    xor     r5, r9
    pairs   add, addc, r8, r6,  r9, r7
    mov     r6, 0(r12)
    mov     r7, 2(r12)
    sub     #4, r12
    dec     r15
    jnz     2b

    mov     sp, r12
    add     #256, r12
    mov     #sunseal_sha256_k, r13
    mov     4(r12), r8
    mov     6(r12), r9
    xor     8(r12), r8
    xor     10(r12), r9
3:  round   0
    round   4
    round   8
    round   12
    sub     #16, r12
    cmp     #sunseal_sha256_k+256, r13
    jeq     4f
    br      #3b
4:
    mov     288(sp), r12
    mov     sp, r13
    mov     #8, r15
5:  add     @r13+, 0(r12)
    addc    @r13+, 2(r12)
    add     #4, r12
    dec     r15
    jnz     5b
    add     #288, sp
    push_zeros 12                   ; over the schedule
    add     #290, sp
    popm.w  #7, r10
    ret
