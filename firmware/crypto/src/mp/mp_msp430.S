; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Sums, differences and selection of long numbers. Between two words the carry rests in a register.

#include "function.inc"

; name:       uint16_t sunseal_mp_add(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n)
; registers:  r12 = r, r13 = a, r14 = b, r15 = words left, r11 = word
; stack:      4 bytes with the return address
; cycles:     12 + 13 n
; clobbers:   r11-r15
    function sunseal_mp_add
    push    r10
    mov     #0, r10                 ; bit 0 is the carry
1:  mov     @r13+, r11
    rrc     r10
    addc    @r14+, r11
    rlc     r10
    mov     r11, 0(r12)
    incd    r12
    dec     r15
    jnz     1b
    mov     r10, r12
    and     #1, r12
    pop     r10
    ret
    .size sunseal_mp_add, . - sunseal_mp_add

; name:       uint16_t sunseal_mp_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n)
; registers:  as sunseal_mp_add
; stack:      4 bytes with the return address
; cycles:     12 + 13 n
; clobbers:   r11-r15
    function sunseal_mp_sub
    push    r10
    mov     #1, r10                 ; bit 0 is the carry, which is no borrow
1:  mov     @r13+, r11
    rrc     r10
    subc    @r14+, r11
    rlc     r10
    mov     r11, 0(r12)
    incd    r12
    dec     r15
    jnz     1b
    mov     #1, r12
    bic     r10, r12
    pop     r10
    ret
    .size sunseal_mp_sub, . - sunseal_mp_sub

; name:       void sunseal_mp_select(uint16_t *r, const uint16_t *a, uint16_t mask, size_t n)
; registers:  r12 = r, r13 = a, r14 = mask, r15 = words left, r11 = word
; stack:      2 bytes with the return address
; cycles:     4 + 13 n
; clobbers:   r11-r15
    function sunseal_mp_select
1:  mov     @r13+, r11
    xor     @r12, r11
    and     r14, r11
    xor     r11, 0(r12)
    incd    r12
    dec     r15
    jnz     1b
    ret
    .size sunseal_mp_select, . - sunseal_mp_select

; name:       void sunseal_mp_pick(uint16_t *r, const uint16_t *table, uint16_t index, size_t n)
; registers:  r4..r7 = four words of the entry, r8 = mask, r9 = entries left, r10 = words left,
;             r11 = word, r12 = r, r13 walks over the table, r14 = index, counted down, r15 = stride
; stack:      20 bytes with the return address
; cycles:     25 + 737 n/4
; clobbers:   r11-r15
    function sunseal_mp_pick
    pushm.w #7, r10
    mov     r15, r10
    rla     r15
    sub     #8, r15
1:  push    r13
    push    r14
    mov     #0, r4
    mov     #0, r5
    mov     #0, r6
    mov     #0, r7
    mov     #32, r9
2:  sub     #1, r14                 ; borrows at the wanted entry only
    subc    r8, r8                  ; borrow ? -1 : 0
    mov     @r13+, r11
    and     r8, r11
    bis     r11, r4
    mov     @r13+, r11
    and     r8, r11
    bis     r11, r5
    mov     @r13+, r11
    and     r8, r11
    bis     r11, r6
    mov     @r13+, r11
    and     r8, r11
    bis     r11, r7
    add     r15, r13
    dec     r9
    jnz     2b
    mov     r4, 0(r12)
    mov     r5, 2(r12)
    mov     r6, 4(r12)
    mov     r7, 6(r12)
    add     #8, r12
    pop     r14
    pop     r13
    add     #8, r13
    sub     #4, r10
    jnz     1b
    popm.w  #7, r10
    ret
    .size sunseal_mp_pick, . - sunseal_mp_pick
