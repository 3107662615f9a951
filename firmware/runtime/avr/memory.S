/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The four memory functions that a freestanding C compiler may call. Their time
 * depends on addresses and lengths only, but for memcmp, which stops at the
 * first difference: never for secrets.
 */
#include "function.inc"

    .macro copy_byte
    ld      r0, Z+
    st      X+, r0
    .endm

    .macro set_byte
    st      X+, r22
    .endm

    ; The rest of a function that does so for r21:r20 bytes, four in a turn.
    .macro each_byte does
    rjmp    2f
1:  .rept   4
    \does
    .endr
2:  subi    r20, 4
    sbci    r21, 0
    brcc    1b
    andi    r20, 3                  ; what is left, less 4
    rjmp    4f
3:  \does
4:  subi    r20, 1
    brcc    3b
    ret
    .endm

    ; void *memcpy(void *to r25:r24, const void *from r23:r22, size_t n r21:r20)
    function memcpy
    movw    r26, r24
    movw    r30, r22
    each_byte copy_byte

    ; void *memmove(void *to r25:r24, const void *from r23:r22, size_t n r21:r20)
    function memmove
    cp      r22, r24
    cpc     r23, r25
    brsh    memcpy                  ; from at or above to: upwards
    movw    r26, r24
    movw    r30, r22
    add     r26, r20
    adc     r27, r21
    add     r30, r20
    adc     r31, r21
    rjmp    2f
1:  ld      r0, -Z
    st      -X, r0
2:  subi    r20, 1
    sbci    r21, 0
    brcc    1b
    ret

    ; void *memset(void *to r25:r24, int value r23:r22, size_t n r21:r20)
    function memset
    movw    r26, r24
    each_byte set_byte

    ; int memcmp(const void *a r25:r24, const void *b r23:r22, size_t n r21:r20)
    function memcmp
    movw    r26, r24
    movw    r30, r22
    rjmp    2f
1:  ld      r24, X+
    ld      r0, Z+
    sub     r24, r0
    brne    3f
2:  subi    r20, 1
    sbci    r21, 0
    brcc    1b
    clr     r24
    clr     r25
    ret
3:  sbc     r25, r25                ; carry of the difference: its sign
    ret
