/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "function.inc"

/* SLAU208 and SLAU367, CRC16 module */
#define CRCDI 0x0150
#define CRCINIRES 0x0154

    ; One word on its way, r11: 2 cycles to read it, 3 for its CRC, 3 to wipe it, 2 against `in`, 3 to write it.
    .macro on_its_way from, out, to, in=0, wipe=0
    mov     @\from\()+, r11
    mov     r11, &CRCDI
    .if \wipe
    mov     #0, -2(\from)
    .endif
    .if \in
    xor     @r13+, r11
    .endif
    mov     r11, \to(\out)
    .endm

    ; `words` of them, so many a round (a power of two): what that does not divide one by one, then the rounds.
    .macro words_on_their_way from, out, words, round, in=0, wipe=0
1:  bit     #\round - 1, \words
    jz      2f
    on_its_way \from, \out, 0, \in, \wipe
    incd    \out
    dec     \words
    jmp     1b
2:  tst     \words
    jz      4f
3:
    .set    at, 0
    .rept   \round
    on_its_way \from, \out, at, \in, \wipe
    .set    at, at + 2
    .endr
    add     #2 * \round, \out
    sub     #\round, \words
    jnz     3b
4:  mov     &CRCINIRES, r12
    ret
    .endm

    ; uint16_t sunseal_coupon_copy(uint16_t *out r12, const uint16_t *from r13, uint16_t words r14)
    function sunseal_coupon_copy
    tst     r14
    jz      2f
1:  on_its_way r13, r12, 0
    incd    r12
    dec     r14
    jnz     1b
2:  mov     &CRCINIRES, r12
    ret

    ; uint16_t sunseal_coupon_copy_xor(uint16_t *out r12, const uint16_t *in r13, const uint16_t *from r14,
    ;                                  uint16_t words r15)
    function sunseal_coupon_copy_xor
    words_on_their_way r14, r12, r15, 4, in=1

    ; The same, from = 0.
    function sunseal_coupon_move_xor
    words_on_their_way r14, r12, r15, 16, in=1, wipe=1

    ; uint16_t sunseal_coupon_move(uint16_t *out r12, uint16_t *from r13, uint16_t words r14)
    function sunseal_coupon_move
    words_on_their_way r13, r12, r14, 4, wipe=1

    ; void sunseal_coupon_zero(uint16_t *words r12, uint16_t count r13)
    function sunseal_coupon_zero
    tst     r13
    jz      2f
1:  mov     #0, 0(r12)
    incd    r12
    dec     r13
    jnz     1b
2:  ret
