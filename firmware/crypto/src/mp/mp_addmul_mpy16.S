; SPDX-License-Identifier: MIT OR Apache-2.0
;
; A row of a long product, with the 16 x 16 bit multiplier that MPY32 has too.

#include "function.inc"
#include "../field/mpy.h"

; name:       uint16_t sunseal_mp_addmul1(uint16_t *acc, const uint16_t *a, uint16_t b, size_t n)
; registers:  r12 = acc, r13 = a, r15 = words left, r14 = carry, r11 = low word
; stack:      2 bytes with the return address
; cycles:     9 + 21 n
; clobbers:   r11-r15, MPY
    function sunseal_mp_addmul1
    mov     r14, &MPY
    mov     #0, r14
1:  mov     @r13+, &OP2
    mov     &RESLO, r11
    add     r14, r11
    mov     &RESHI, r14
    adc     r14
    add     r11, 0(r12)
    adc     r14
    incd    r12
    dec     r15
    jnz     1b
    mov     r14, r12
    ret
