/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * AES-128's key expansion, FIPS 197, section 5.2, a word at a time.
 */
    .syntax unified
    .thumb
#include "function.inc"
#include "aes_s_armv7em.inc"

/* name:       int sunseal_aes128_expand(void *schedule, const uint8_t *key)
 * registers:  r4..r7 = words of a round key, r0 = schedule, r1 = S-box, r2 = round constant, r8 walks over these
 * stack:      28 bytes
 * cycles:     302
 */
    .balign 4
    function sunseal_aes128_expand
    push.w  {r4-r9, lr}
    ldr.w   r4, [r1]
    ldr.w   r5, [r1, #4]
    ldr.w   r6, [r1, #8]
    ldr.w   r7, [r1, #12]
    s_box   r1
    adr.w   r8, 2f
    stm.w   r0!, {r4-r7}
1:  ldrb.w  r2, [r8], #1
    gather  r12, r7, r7, r7, r7, r3, lr, r9
    eor.w   r4, r4, r2
    eor.w   r4, r4, r12, ror #8             /* RotWord */
    eor.w   r5, r5, r4
    eor.w   r6, r6, r5
    eor.w   r7, r7, r6
    stm.w   r0!, {r4-r7}
    cmp.w   r2, #0x36
    bne.w   1b
    mov.w   r0, #0
    pop.w   {r4-r9, pc}
    .balign 4
2:  .byte   0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36
    .balign 4
