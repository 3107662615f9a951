; SPDX-License-Identifier: MIT OR Apache-2.0
;
; What fields and orders share: products of 24, 28 and 32 bytes, squares of 28 and 32, and those of their
; halves. These routines are not for C: they lose all registers but what their heads name.

#include "karatsuba_avr.inc"
#include "wide_avr.inc"

; The product, least significant byte first; M and the two differences of Karatsuba's method.
    .macro scratch name, size
    .section .bss.\name,"aw",@nobits
    .global \name
    .type \name,@object
\name:
    .skip   \size
    .size \name, \size
    .endm
    scratch sunseal_avr_product, 64
    scratch sunseal_avr_middle, 32
    scratch sunseal_avr_differences, 32

; The product of the numbers at Y and X to Z. Keeps Z.
; cycles:     877, 1127 and 1407
    function sunseal_avr_multiply_12
    karatsuba 6
    ret

    function sunseal_avr_multiply_14
    karatsuba 7
    ret

    function sunseal_avr_multiply_16
    karatsuba 8
    ret

; The square of the number at Y to Z. Keeps Y, Z.
; cycles:     765 and 956
    .set TWICE, 18
    .set SUM, 21
    .set ZERO, 24
    .macro square n
    clr     ZERO
    load_bytes \n, A, Y
    square_columns \n
    ret
    .endm

    function sunseal_avr_square_14
    square  14

    function sunseal_avr_square_16
    square  16

; cycles:     375, 429 and 483
    .macro recombine_at n
    point_at 30, sunseal_avr_product
    point_at 28, sunseal_avr_middle
    recombine \n
    ret
    .endm

    function sunseal_avr_recombine_24
    recombine_at 12

    function sunseal_avr_recombine_28
    recombine_at 14

    function sunseal_avr_recombine_32
    recombine_at 16

; The product of the numbers at r22 and r20, or the square of the one at r22, to sunseal_avr_product,
; at which Z points in the end.
; cycles:     products 3281, 4121 and 5051, squares 2880 and 3525
    function sunseal_avr_product_24
    wide_product 12, sunseal_avr_multiply_12
    jmp     sunseal_avr_recombine_24

    function sunseal_avr_product_28
    wide_product 14, sunseal_avr_multiply_14
    jmp     sunseal_avr_recombine_28

    function sunseal_avr_product_32
    wide_product 16, sunseal_avr_multiply_16
    jmp     sunseal_avr_recombine_32

    function sunseal_avr_square_28
    wide_square 14, sunseal_avr_square_14
    jmp     sunseal_avr_recombine_28

    function sunseal_avr_square_32
    wide_square 16, sunseal_avr_square_16
    jmp     sunseal_avr_recombine_32
