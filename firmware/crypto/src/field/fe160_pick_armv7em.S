/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A comb's points on secp160r1.
 */
#include "pick_armv7em.inc"

    /*
     * name:    void sunseal_fe160_pick(uint16_t *r, const uint16_t *table, uint16_t index, uint16_t negative)
     * does:    r = the point at index of 32, or its negative where the mask is set; 0 < y < p
     */
    routine sunseal_fe160_pick
    pick    5
    complement r3, r4, r5, r6, r7, r8
    lsl     r2, r3, #31             /* p + 1 = 2^160 - 2^31 */
    add_chain r4, r2,  r5, r3,  r6, r3,  r7, r3
    adc.w   r8, r8, r3
    stm.w   r0, {r4-r8}
    add.w   sp, sp, #16
    pop.w   {r4-r11, pc}
