; SPDX-License-Identifier: MIT OR Apache-2.0
;
; The Montgomery product of 16 words with the 16 x 16 bit multiplier.

#include "../field/mpy.h"

#include "../field/product8_mpy16.inc"
#include "montmul_16.inc"

; name:       void sunseal_mp_montmul_16(uint16_t *r, const uint16_t *a, const uint16_t *b,
;                                        const struct sunseal_mp_modulus *m)
; registers:  words in r4..r11, r12, r13, r14, r15 = RESULT
; stack:      114 bytes with the return addresses; static sunseal_product8_halves
; cycles:     6452
; clobbers:   r11-r15, MPY
    function sunseal_mp_montmul_16
    montmul_16
    .size sunseal_mp_montmul_16, . - sunseal_mp_montmul_16
