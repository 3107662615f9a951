; SPDX-License-Identifier: MIT OR Apache-2.0
;
; 14 division steps on the low words of f and g, without a branch on data.

#include "function.inc"
#include "../words.inc"

; name:       void sunseal_mp_divsteps(struct sunseal_mp_matrix *matrix, uint16_t f, uint16_t g)
; registers:  r13 = f, r14 = g, r4 = u, r5 = v, r6 = q, r7 = r, r8 = eta, r9 = swap,
;             r10 = even (the complement of odd), r11 = temporary, r15 = steps left
; stack:      18 bytes with the return address
; cycles:     628
    function sunseal_mp_divsteps
    pushm.w #7, r10
    push    r12
    mov     8(r12), r8
    mov     10(r12), r12            ; half
    mov     #1, r4
    mov     #0, r5
    mov     #0, r6
    mov     #1, r7
    mov     #14, r15
1:  bit     #1, r14
    subc    r10, r10                ; odd ? 0 : -1
    mov     r8, r11
    rla     r11
    subc    r9, r9
    inv     r9                      ; eta < 0 ? -1 : 0
    ; g, q, r += odd ? (swap ? -f, -u, -v : f, u, v) : 0
    mov     r13, r11
    xor     r9, r11
    sub     r9, r11
    bic     r10, r11
    add     r11, r14
    mov     r4, r11
    xor     r9, r11
    sub     r9, r11
    bic     r10, r11
    add     r11, r6
    mov     r5, r11
    xor     r9, r11
    sub     r9, r11
    bic     r10, r11
    add     r11, r7
    ; only a step with an odd g swaps
    bic     r10, r9
    xor     r9, r8
    dec     r8
    mov     r9, r11
    and     r12, r11
    sub     r11, r8
    mov     r14, r11
    and     r9, r11
    add     r11, r13
    mov     r6, r11
    and     r9, r11
    add     r11, r4
    and     r7, r9
    add     r9, r5
    rra     r14
    rla     r4
    rla     r5
    dec     r15
    jnz     1b
    pop     r12
    mov_indexed 0, r12,  r4, r5, r6, r7, r8
    popm.w  #7, r10
    ret
