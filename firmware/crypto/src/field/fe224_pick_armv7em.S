/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A comb's points on P-224.
 */
#include "pick_armv7em.inc"

    /*
     * name:    void sunseal_fe224_pick(uint16_t *r, const uint16_t *table, uint16_t index, uint16_t negative)
     * does:    r = the point at index of 32, or its negative where the mask is set; 0 < y < p
     */
    routine sunseal_fe224_pick
    pick    7
    complement r3, r4, r5, r6, r7, r8, r9, r10
    and     r2, r3, #2              /* p + 1 = 2^224 - 2^96 + 2 */
    add_chain r4, r2,  r5, #0,  r6, #0,  r7, r3,  r8, r3,  r9, r3
    adc.w   r10, r10, r3
    stm.w   r0, {r4-r10}
    add.w   sp, sp, #16
    pop.w   {r4-r11, pc}
