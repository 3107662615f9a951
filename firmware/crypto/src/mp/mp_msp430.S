; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Sums, differences and selection of long numbers. Between two words the carry rests in a register.

#include "function.inc"
#include "../words.inc"
#include "pick.inc"

; name:       uint16_t sunseal_mp_add(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n)
; registers:  r12 = r, r13 = a, r14 = b, r15 = words left, r11 = word
; stack:      4 bytes with the return address
; cycles:     12 + 13 n
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

; name:       uint16_t sunseal_mp_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n)
; registers:  as sunseal_mp_add
; stack:      4 bytes with the return address
; cycles:     12 + 13 n
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

; name:       void sunseal_mp_select(uint16_t *r, const uint16_t *a, uint16_t mask, size_t n)
; registers:  r12 = r, r13 = a, r14 = mask, r15 = words left, r11 = word
; stack:      2 bytes with the return address
; cycles:     4 + 13 n
    function sunseal_mp_select
1:  mov     @r13+, r11
    xor     @r12, r11
    and     r14, r11
    xor     r11, 0(r12)
    incd    r12
    dec     r15
    jnz     1b
    ret

; name:       void sunseal_mp_pick(uint16_t *r, const uint16_t *table, uint16_t index, size_t n)
; registers:  see pick.inc
; stack:      20 bytes with the return address
; cycles:     25 + 737 n/4
    pick    sunseal_mp_pick, 32
