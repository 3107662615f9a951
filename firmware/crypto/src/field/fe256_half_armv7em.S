/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Halving modulo 2^256 - 2^224 + 2^192 + 2^96 - 1.
 */
#include "armv7em.inc"

    /*
     * name:    void sunseal_fe256_half(uint16_t *r, const uint16_t *a)
     * does:    a, or a + p, is even
     * stack:   36 bytes
     * cycles:  64
     */
    callable sunseal_fe256_half
    ldm.w   r1, {r3-r10}
    and     r1, r3, #1
    rsb     r1, r1, #0
    add_chain r3, r1,  r4, r1,  r5, r1,  r6, #0,  r7, #0,  r8, #0
    adcs    r9, r9, r1, lsr #31
    adcs.w  r10, r10, r1
    rrx_chain r10, r9, r8, r7, r6, r5, r4, r3
    stm.w   r0, {r3-r10}
    bx      lr
