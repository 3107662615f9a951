; SPDX-License-Identifier: MIT OR Apache-2.0

#include "function.inc"
#include "../words.inc"

; name:       void sunseal_rsa_pick(uint16_t *r, const uint16_t *table, uint16_t index,
;                                   uint16_t entries, uint16_t count)
; registers:  eight words of the entry in r4..r11, r12 = index, counted down, r13 walks over the table,
;             r14 = mask, r15 = word
; stack:      28 bytes with the return address
    .set STRIDE, 2
    .set TABLE, 4
    .set INDEX, 6
    .set ENTRIES, 8
    .set RESULT, 10
    .set COUNT, 28
    function sunseal_rsa_pick
    push    r10
    push    r9
    push    r8
    push    r7
    push    r6
    push    r5
    push    r4
    push    r12
    push    r15
    push    r14
    push    r13
    mov     COUNT-4(sp), r11
    rla     r11
    sub     #16, r11
    push    r11
    push    #0                      ; entries left
1:  mov     INDEX(sp), r12
    mov     TABLE(sp), r13
    mov     ENTRIES(sp), 0(sp)
    across  mov, mov, #0,  r4, r5, r6, r7, r8, r9, r10, r11
2:  sub     #1, r12                 ; borrows at the wanted entry only
    subc    r14, r14                ; borrow ? -1 : 0
    .irp    acc, r4, r5, r6, r7, r8, r9, r10, r11
    mov     @r13+, r15
    and     r14, r15
    bis     r15, \acc
    .endr
    add     STRIDE(sp), r13
    dec     0(sp)
    jnz     2b
    mov     RESULT(sp), r12
    .set AT, 0
    .irp    acc, r4, r5, r6, r7, r8, r9, r10, r11
    mov     \acc, AT(r12)
    .set AT, AT + 2
    .endr
    add     #16, RESULT(sp)
    add     #16, TABLE(sp)
    sub     #8, COUNT(sp)
    jnz     1b
    add     #12, sp
    pop     r4
    pop     r5
    pop     r6
    pop     r7
    pop     r8
    pop     r9
    pop     r10
    ret
