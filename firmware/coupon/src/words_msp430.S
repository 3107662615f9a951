/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "function.inc"

/* SLAU208 and SLAU367, CRC16 module */
#define CRCDI 0x0150
#define CRCINIRES 0x0154

    ; uint16_t sunseal_coupon_copy_xor(uint16_t *out r12, const uint16_t *in r13, const uint16_t *from r14,
    ;                                  uint16_t words r15, uint16_t crc 2(sp))
    function sunseal_coupon_copy_xor
    mov     2(r1), &CRCINIRES
    tst     r15
    jz      2f
1:  mov     @r14+, r11
    mov     r11, &CRCDI
    xor     @r13+, r11
    mov     r11, 0(r12)
    incd    r12
    dec     r15
    jnz     1b
2:  mov     &CRCINIRES, r12
    ret

    ; The same, from = 0. Each round of four words takes 56 cycles.
    function sunseal_coupon_move_xor
    mov     2(r1), &CRCINIRES
1:  bit     #3, r15
    jz      2f
    mov     @r14+, r11
    mov     r11, &CRCDI
    mov     #0, -2(r14)
    xor     @r13+, r11
    mov     r11, 0(r12)
    incd    r12
    dec     r15
    jmp     1b
2:  tst     r15
    jz      4f
3:  mov     @r14+, r11
    mov     r11, &CRCDI
    mov     #0, -2(r14)
    xor     @r13+, r11
    mov     r11, 0(r12)
    mov     @r14+, r11
    mov     r11, &CRCDI
    mov     #0, -2(r14)
    xor     @r13+, r11
    mov     r11, 2(r12)
    mov     @r14+, r11
    mov     r11, &CRCDI
    mov     #0, -2(r14)
    xor     @r13+, r11
    mov     r11, 4(r12)
    mov     @r14+, r11
    mov     r11, &CRCDI
    mov     #0, -2(r14)
    xor     @r13+, r11
    mov     r11, 6(r12)
    add     #8, r12
    sub     #4, r15
    jnz     3b
4:  mov     &CRCINIRES, r12
    ret

    ; uint16_t sunseal_coupon_move(uint16_t *to r12, uint16_t *from r13, uint16_t words r14, uint16_t crc r15)
    function sunseal_coupon_move
    mov     r15, &CRCINIRES
    clrc
    rrc     r14
    jnc     1f
    mov     @r13+, r11
    mov     r11, &CRCDI
    mov     #0, -2(r13)
    mov     r11, 0(r12)
    incd    r12
1:  tst     r14
    jz      3f
2:  mov     @r13+, r11
    mov     r11, &CRCDI
    mov     #0, -2(r13)
    mov     r11, 0(r12)
    mov     @r13+, r11
    mov     r11, &CRCDI
    mov     #0, -2(r13)
    mov     r11, 2(r12)
    add     #4, r12
    dec     r14
    jnz     2b
3:  mov     &CRCINIRES, r12
    ret

    ; void sunseal_coupon_zero(uint16_t *words r12, uint16_t count r13)
    function sunseal_coupon_zero
    tst     r13
    jz      2f
1:  mov     #0, 0(r12)
    incd    r12
    dec     r13
    jnz     1b
2:  ret
