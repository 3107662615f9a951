/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Halving modulo 2^224 - 2^96 + 1.
 */
#include "armv7em.inc"

    /*
     * name:    void sunseal_fe224_half(uint16_t *r, const uint16_t *a)
     * does:    a, or a + p, is even
     * stack:   36 bytes
     * cycles:  60
     */
    callable sunseal_fe224_half
    core    sunseal_fe224_half
    ldm.w   r1, {r3-r9}
    and     r1, r3, #1
    rsb     r2, r1, #0
    adds.w  r3, r3, r1
    adcs    r4, r4, #0
    adcs    r5, r5, #0
    adcs.w  r6, r6, r2
    adcs.w  r7, r7, r2
    adcs.w  r8, r8, r2
    adcs.w  r9, r9, r2
    rrxs    r9, r9
    rrxs    r8, r8
    rrxs    r7, r7
    rrxs    r6, r6
    rrxs    r5, r5
    rrxs    r4, r4
    rrx     r3, r3
    stm.w   r0, {r3-r9}
    bx      lr
