; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Montgomery arithmetic of any length: product and reduction together, column by column of 32-bit limbs. The
; limbs of one factor are read upwards, those of the other downwards, by post-increment and
; pre-decrement. A limb product takes its place in the column in eight additions of four bytes; what they
; carry is counted at the weights 4 to 7 and added when the column is full.

#include "../bytes_avr.inc"

#define WORDS 0
#define SCRATCH 2
#define INVERSE 4
#define COUNT 8

    .set SUM, 2                     ; nine bytes of the column
    .set CARRY, 11                  ; counts at weights 4 to 7
    .set ZERO, 15
    .set A, 16                      ; a limb
    .set B, 20                      ; another
    .set T, 24                      ; a product
    .set N, 30                      ; products left in the column

; What a multiplication remembers: addresses of its numbers, all little-endian bytes. The quotient grows
; from the first column on; from the middle on the result takes its place.
    .section .bss.sunseal_rsa_state,"aw",@nobits
result:     .space 2
factor:     .space 2                ; read upwards
other:      .space 2                ; read downwards; where its part of the column ends
single:     .space 2                ; of a square: the number itself, undoubled
modulus:    .space 2
modulus_end: .space 2
quotient:   .space 2
quotient_at: .space 2
inverse:    .space 4
limbs:      .space 1
column:     .space 1

    .macro get r, address
    lds     \r, \address
    lds     \r + 1, \address + 1
    .endm

    .macro put address, r
    sts     \address, \r
    sts     \address + 1, \r + 1
    .endm

    .macro row i
    mul     A + \i, B
    movw    T, r0
    mul     A + \i, B + 2
    add     SUM + \i, T
    adc     SUM + \i + 1, T + 1
    adc     SUM + \i + 2, r0
    adc     SUM + \i + 3, r1
    adc     CARRY + \i, ZERO
    mul     A + \i, B + 1
    movw    T, r0
    mul     A + \i, B + 3
    add     SUM + \i + 1, T
    adc     SUM + \i + 2, T + 1
    adc     SUM + \i + 3, r0
    adc     SUM + \i + 4, r1
    .if \i < 3
    adc     CARRY + \i + 1, ZERO
    .else
    adc     SUM + 8, ZERO
    .endif
    .endm

; SUM += N limb products, X upwards and Y downwards. 99.5 cycles each.
    .macro load_limbs
    load_from 4, A, X+
    load_down 4, B, -Y
    .endm

    .macro rows
    row     0
    row     1
    row     2
    row     3
    .endm

    .section .text.sunseal_rsa_montmul,"ax",@progbits
chain:
1:  load_limbs
    rows
    dec     N
    brne    2f
    ret
2:  load_limbs
product:
    rows
    dec     N
    breq    3f
    rjmp    1b
3:  ret

; What was counted goes to its place. A count holds the carries of a column of 127 products.
fold:
    across  4, add, adc, SUM + 4, CARRY
    adc     SUM + 8, ZERO
    to_all  4, clr, CARRY
    ret

; Between the column's two halves, which of 64 limbs would have up to 128 products
    .macro fold_if_long
    lds     T, limbs
    sbrc    T, 6
    rcall   fold
    .endm

; Z = the number at ADDRESS moved up by 4 column bytes
    .macro limb_at address
    lds     r30, column
    clr     r31
    lsl     r30
    rol     r31
    lsl     r30
    rol     r31
    lds     T, \address
    add     r30, T
    lds     T, \address + 1
    adc     r31, T
    .endm

; X = the same
    .macro factor_at address
    limb_at \address
    movw    r26, r30
    .endm

; T = the address, 4 bytes further up
    .macro next_limb address
    get     T, \address
    adiw    T, 4
    put     \address, T
    .endm

; On to the next weights, with what was counted in its place
    .macro next_column
    movw    SUM, SUM + 4
    movw    SUM + 2, SUM + 6
    mov     SUM + 4, SUM + 8
    to_all  4, clr, SUM + 5
    across  4, add, adc, SUM, CARRY
    adc     SUM + 4, ZERO
    to_all  4, clr, CARRY
    .endm

; The products of a column of a b. In the lower half they begin at limb 0 of a, N = column + 1; in the
; upper half at limb `column` of a, counted from 1, N = limbs - column.
    .macro times_low
    get     26, factor
    next_limb other
    movw    r28, T
    lds     N, column
    inc     N
    rcall   chain
    .endm

    .macro times_high
    factor_at factor
    get     28, other
    lds     N, limbs
    lds     T, column
    sub     N, T
    rcall   chain
    .endm

; The products of a column of a^2: those of limbs i < j as 2a[i] a[j], where limb i of 2a has the bit that
; comes across from limb i-1 but misses the one that goes over to limb i+1. That one is added to a[i+1]'s
; own square.
    .macro square_low
    get     26, factor
    next_limb other
    movw    r28, T
    lds     N, column
    inc     N
    lsr     N
    breq    1f
    rcall   chain
1:  lds     T, column
    clr     T + 1
    sbrs    T, 0
    rcall   own_square
    .endm

; Of column limbs - 1 + c: limbs i from c on, N = (limbs + c)/2 - c; then limb (limbs - 1 + c)/2 itself.
    .macro square_high
    factor_at factor
    get     28, other
    lds     N, limbs
    lds     T, column
    add     N, T
    lsr     N
    sub     N, T
    breq    1f
    rcall   chain
1:  lds     T, limbs
    dec     T
    lds     T + 1, column
    add     T, T + 1
    clr     T + 1
    sbrs    T, 0
    rcall   own_square
    .endm

; SUM += a[i] (a[i] + what comes across), T = 2 i
own_square:
    lsl     T
    rol     T + 1
    get     30, single
    add     r30, T
    adc     r31, T + 1
    load_bytes 4, A, Z
    movw    B, A
    movw    B + 2, A + 2
    or      T, T + 1                ; nothing comes across to limb 0
    breq    1f
    sbiw    r30, 1
    ld      T, Z
    lsl     T
    sbc     T, T                    ; came across ? -1 : 0
    mov     r0, A
    and     r0, T
    add     SUM, r0
    mov     r0, A + 1
    and     r0, T
    adc     SUM + 1, r0
    mov     r0, A + 2
    and     r0, T
    adc     SUM + 2, r0
    mov     r0, A + 3
    and     r0, T
    adc     SUM + 3, r0
    to_all  5, adc, SUM + 4, ZERO
1:  ldi     N, 1
    rjmp    product

; The quotient's part of a column in the lower half, and its next limb
reduce_low:
    fold_if_long
    lds     N, column
    tst     N
    breq    1f
    get     26, quotient
    get     28, modulus_end
    adiw    r28, 4
    put     modulus_end, 28
    rcall   chain
1:  lds     B, inverse
    lds     B + 1, inverse + 1
    lds     B + 2, inverse + 2
    lds     B + 3, inverse + 3
    mul     SUM, B
    movw    A, r0
    mul     SUM + 1, B + 1
    movw    A + 2, r0
    mul     SUM, B + 2
    add     A + 2, r0
    adc     A + 3, r1
    mul     SUM + 2, B
    add     A + 2, r0
    adc     A + 3, r1
    mul     SUM, B + 1
    add     A + 1, r0
    adc     A + 2, r1
    adc     A + 3, ZERO
    mul     SUM + 1, B
    add     A + 1, r0
    adc     A + 2, r1
    adc     A + 3, ZERO
    mul     SUM, B + 3
    add     A + 3, r0
    mul     SUM + 1, B + 2
    add     A + 3, r0
    mul     SUM + 2, B + 1
    add     A + 3, r0
    mul     SUM + 3, B
    add     A + 3, r0
    get     30, quotient_at
    store_to 4, Z+, A
    put     quotient_at, 30
    get     28, modulus
    load_bytes 4, B, Y
    ldi     N, 1
    rjmp    product

; The quotient's part of a column in the upper half; the limb of the result where a limb of the quotient is
; not needed any more
    .macro reduce_high
    fold_if_long
    lds     N, limbs
    lds     T, column
    sub     N, T
    breq    9f
    factor_at quotient
    get     28, modulus_end
    lds     N, limbs
    lds     T, column
    sub     N, T
    rcall   chain
9:  get     30, quotient_at
    store_to 4, Z+, SUM
    put     quotient_at, 30
    .endm

; The columns of the upper half, each with its \products, and the way out.
    .macro upper_columns products
6:  lds     N, limbs
    lds     T, column
    cp      N, T
    breq    7f
    \products
7:  reduce_high
    rcall   count_high
    breq    8f
    rjmp    6b
8:  rjmp    leave
    .endm

; r25:r24 = r, r23:r22 = a, r21:r20 = b, Z = m
    .macro enter
    save_all
    put     result, 24
    put     factor, 22
    put     other, 20
    load_bytes 2, 24, Z
    put     modulus, 24
    adiw    r24, 4
    put     modulus_end, 24
    load_bytes 2, 24, Z + SCRATCH
    put     quotient, 24
    put     quotient_at, 24
    load_bytes 2, 24, Z + INVERSE
    put     inverse, 24
    load_bytes 2, 24, Z + INVERSE + 2
    put     "inverse + 2", 24
    ldd     r24, Z + COUNT
    lsr     r24
    sts     limbs, r24
    clr     ZERO
    to_all  4, clr, CARRY
    to_all  9, clr, SUM
    .endm

; name:       void sunseal_rsa_montmul(uint16_t *r, const uint16_t *a, const uint16_t *b,
;                                      const struct sunseal_rsa_modulus *m)
; stack:      24 bytes with the return addresses; static 22
    .global sunseal_rsa_montmul
    .type sunseal_rsa_montmul,@function
sunseal_rsa_montmul:
    movw    r30, r18
    enter
    sts     column, ZERO
1:  times_low
    rcall   reduce_low
    rcall   count_low
    brne    1b
    rcall   upper_half
    upper_columns times_high
    .size sunseal_rsa_montmul, . - sunseal_rsa_montmul

; name:       void sunseal_rsa_montsqr(uint16_t *r, const uint16_t *a,
;                                      const struct sunseal_rsa_modulus *m)
; stack:      26 bytes with the return addresses; static 22
    .global sunseal_rsa_montsqr
    .type sunseal_rsa_montsqr,@function
sunseal_rsa_montsqr:
    movw    r30, r20
    movw    r20, r22
    enter
    put     single, 20
    ; 2a, in the upper half of scratch
    movw    r26, r20
    get     28, quotient
    lds     N, limbs
    clr     r31
    lsl     N
    rol     r31
    lsl     N
    rol     r31
    add     r28, N
    adc     r29, r31
    put     factor, 28
    lds     N, limbs
    clc
1:  .rept 4
    ld      r0, X+
    rol     r0
    st      Y+, r0
    .endr
    dec     N
    brne    1b
    sts     column, ZERO
2:  square_low
    rcall   reduce_low
    rcall   count_low
    breq    3f
    rjmp    2b
3:  rcall   upper_half
    upper_columns square_high
    .size sunseal_rsa_montsqr, . - sunseal_rsa_montsqr

; On to the next column; Z where the half is done. Columns of the lower half are counted from 0, those of
; the upper half from 1: column limbs - 1 + c.
count_low:
    next_column
    lds     T, column
    inc     T
    sts     column, T
    lds     N, limbs
    cp      T, N
    ret

count_high:
    next_column
    lds     T, column
    inc     T
    sts     column, T
    lds     N, limbs
    dec     T
    cp      T, N
    ret

upper_half:
    get     T, quotient
    put     quotient_at, T
    ldi     T, 1
    sts     column, T
    ret

; The result, less the modulus where a carry is left.
leave:
    neg     SUM                     ; carry ? -1 : 0
    get     26, quotient
    get     28, modulus
    get     30, result
    lds     B, limbs
    sub     A, A
1:  .rept 4
    ld      T, Y+
    and     T, SUM
    ld      r0, X+
    sbc     r0, T
    st      Z+, r0
    .endr
    dec     B
    brne    1b
    clr     r1
    restore_all
    ret
