/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Halving modulo 2^160 - 2^31 - 1.
 */
#include "armv7em.inc"

    /*
     * name:    void sunseal_fe160_half(uint16_t *r, const uint16_t *a)
     * does:    a, or a + p, is even
     * stack:   36 bytes
     * cycles:  52
     */
    callable sunseal_fe160_half
    ldm.w   r1, {r3-r7}
    and     r1, r3, #1
    rsb     r1, r1, #0
    adds    r3, r3, r1, lsr #1
    adc_chain r4, r1,  r5, r1,  r6, r1,  r7, r1
    rrx_chain r7, r6, r5, r4, r3
    stm.w   r0, {r3-r7}
    bx      lr
