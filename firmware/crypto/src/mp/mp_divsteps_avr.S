; SPDX-License-Identifier: MIT OR Apache-2.0
;
; 14 division steps on the low words of f and g, without a branch on data.

#include "../bytes_avr.inc"

    .set V, 4
    .set ETA, 6
    .set T, 8
    .set ODD, 10
    .set SWAP, 11
    .set HALF, 12
    .set Q, 14
    .set TO, 16
    .set U, 18
    .set G, 20
    .set F, 22

; to += odd ? (swap ? -from : from) : 0
    .macro add_odd to, from
    movw    T, \from
    and     T, ODD
    and     T + 1, ODD
    eor     T, SWAP
    eor     T + 1, SWAP
    sub     T, SWAP
    sbc     T + 1, SWAP
    add     \to, T
    adc     \to + 1, T + 1
    .endm

; to += swap ? from : 0
    .macro add_swapped to, from
    movw    T, \from
    and     T, SWAP
    and     T + 1, SWAP
    add     \to, T
    adc     \to + 1, T + 1
    .endm

; name:       void sunseal_mp_divsteps(struct sunseal_mp_matrix *matrix, uint16_t f, uint16_t g)
; registers:  Z = matrix; F, G, U, V, Q, ETA pairs, TO = r; ODD, SWAP, HALF masks; r24 = steps left
; stack:      16 bytes with the return address
; cycles:     1018
    function sunseal_mp_divsteps
    each    push, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    movw    r30, r24
    load_bytes 2, ETA, Z + 8
    ldd     HALF, Z + 10
    ldi     U, 1
    clr     U + 1
    clr     V
    clr     V + 1
    clr     Q
    clr     Q + 1
    movw    TO, U
    ldi     r24, 14
1:  mov     ODD, G
    lsr     ODD
    sbc     ODD, ODD
    mov     SWAP, ETA + 1
    lsl     SWAP
    sbc     SWAP, SWAP
    and     SWAP, ODD               ; only a step with an odd g swaps
    add_odd G, F
    add_odd Q, U
    add_odd TO, V
    eor     ETA, SWAP
    eor     ETA + 1, SWAP
    mov     T, SWAP
    and     T, HALF
    sec
    sbc     ETA, T
    sbc     ETA + 1, T
    add_swapped F, G
    add_swapped U, Q
    add_swapped V, TO
    asr     G + 1
    ror     G
    lsl     U
    rol     U + 1
    lsl     V
    rol     V + 1
    dec     r24
    breq    2f
    rjmp    1b
2:  std     Z + 0, U
    std     Z + 1, U + 1
    std     Z + 2, V
    std     Z + 3, V + 1
    std     Z + 4, Q
    std     Z + 5, Q + 1
    std     Z + 6, TO
    std     Z + 7, TO + 1
    store_bytes 2, Z + 8, ETA
    each    pop, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4
    ret
