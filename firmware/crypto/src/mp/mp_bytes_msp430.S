; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Big-endian bytes at any address to words and back.

#include "function.inc"

; void sunseal_mp_from_bytes(uint16_t *r, const uint8_t *bytes, size_t count, size_t n)
; registers:  r12 walks up r, r13 down the bytes, r14 = words left of them, r15 = words left of r, r11 = word,
;             r10 = its lower byte
    function sunseal_mp_from_bytes
    push    r10
    add     r14, r13
    clrc
    rrc     r14                     ; C = a single byte is left over
    subc    r10, r10
    push    r10                     ; left over ? 0 : -1
    sub     r14, r15
    tst     r14
    jz      2f
1:  decd    r13
    mov.b   @r13, r11
    swpb    r11
    mov.b   1(r13), r10
    bis     r10, r11
    mov     r11, 0(r12)
    incd    r12
    dec     r14
    jnz     1b
2:  tst     0(sp)
    jnz     3f
    mov.b   -1(r13), r11
    mov     r11, 0(r12)
    incd    r12
    dec     r15
3:  tst     r15
    jz      5f
4:  mov     #0, 0(r12)
    incd    r12
    dec     r15
    jnz     4b
5:  incd    sp
    pop     r10
    ret

; void sunseal_mp_to_bytes(uint8_t *bytes, const uint16_t *a, size_t count)
; registers:  r12 walks down the bytes, r13 up a, r14 = words left, r15 = single byte ? 0 : -1, r11 = word
    function sunseal_mp_to_bytes
    add     r14, r12
    clrc
    rrc     r14
    subc    r15, r15
    tst     r14
    jz      2f
1:  mov     @r13+, r11
    decd    r12
    mov.b   r11, 1(r12)
    swpb    r11
    mov.b   r11, 0(r12)
    dec     r14
    jnz     1b
2:  tst     r15
    jnz     3f
    mov.b   @r13, -1(r12)
3:  ret
