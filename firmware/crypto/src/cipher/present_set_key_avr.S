; SPDX-License-Identifier: MIT OR Apache-2.0
;
; PRESENT's round keys as the slices that present.h describes.

#include "../bytes_avr.inc"
#include "present_avr.inc"

; name:       int sunseal_present80_set_key(void *schedule, const uint8_t *key)
; registers:  r18..r25 = words of a round key, then slices, r27 = round, Z = schedule
; stack:      22 bytes with the return address
; cycles:     7203
    function sunseal_present80_set_key
    ldi     r20, 10
    jmp     sunseal_present_slice

; name:       int sunseal_present128_set_key(void *schedule, const uint8_t *key)
; registers:  as above
; stack:      22 bytes with the return address
; cycles:     7960
    function sunseal_present128_set_key
    ldi     r20, 16
    jmp     sunseal_present_slice

; The rest of both; r20 = bytes of the key
    function sunseal_present_slice
    push    r24
    push    r25
    call    sunseal_present_expand
    pop     r31
    pop     r30
    ldi     r27, 0
1:  load_bytes 8, 18, Z
    ; Words h of bits 4l + b go to words b of bits 4l + h, in every other round first to words l of bits 4h + b, then
    ; to words b of bits 4h + l.
    sbrs    r27, 0
    rjmp    2f
    turn_fours 18, 20, 22, 24, r26
2:  turn_ones 18, 20, 22, 24, r26
    store_to 8, Z+, 18
    inc     r27
    cpi     r27, 31                 ; the last one stays as it is
    breq    3f
    rjmp    1b
3:  ldi     r24, 0
    ldi     r25, 0
    ret
