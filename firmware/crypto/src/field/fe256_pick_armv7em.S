/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A comb's points on P-256.
 */
#include "pick_armv7em.inc"

    /*
     * name:    void sunseal_fe256_pick(uint16_t *r, const uint16_t *table, uint16_t index, uint16_t negative)
     * does:    r = the point at index of 32, or its negative where the mask is set; 0 < y < p
     */
    routine sunseal_fe256_pick
    pick    8
    complement r3, r4, r5, r6, r7, r8, r9, r10, r11
    and     r2, r3, #1              /* p + 1 = 2^256 - 2^224 + 2^192 + 2^96 */
    add_chain r7, r2,  r8, #0,  r9, #0,  r10, r2
    adc.w   r11, r11, r3
    stm.w   r0, {r4-r11}
    add.w   sp, sp, #16
    pop.w   {r4-r11, pc}
