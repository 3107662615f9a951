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
    ldm.w   r1, {r3-r9}
    and     r1, r3, #1
    rsb     r2, r1, #0
    add_chain r3, r1,  r4, #0,  r5, #0,  r6, r2,  r7, r2,  r8, r2,  r9, r2
    rrx_chain r9, r8, r7, r6, r5, r4, r3
    stm.w   r0, {r3-r9}
    bx      lr
