/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Shift helpers of the MSP430 EABI (SLAA534). Their time depends on the number
 * of places, never on the value shifted: a number of places must not be secret.
 * (clang writes 16-bit shifts out as the same kind of loop.)
 *
 *   16 bits: r12, places in r13     32 bits: r13:r12, places in r14
 */
#include "function.inc"

    .macro shift name, count, first, second
    function \name
    tst     \count
    jz      2f
1:  \first
    .ifnb \second
    \second
    .endif
    dec     \count
    jnz     1b
2:  ret
    .endm

    shift __mspabi_slli, r13, "add r12, r12"
    shift __mspabi_srai, r13, "rra r12"
    shift __mspabi_slll, r14, "add r12, r12", "addc r13, r13"
    shift __mspabi_sral, r14, "rra r13", "rrc r12"

    ; RRC takes the carry in: it has to be cleared at each step.
    function __mspabi_srli
    tst     r13
    jz      2f
1:  clrc
    rrc     r12
    dec     r13
    jnz     1b
2:  ret

    function __mspabi_srll
    tst     r14
    jz      2f
1:  clrc
    rrc     r13
    rrc     r12
    dec     r14
    jnz     1b
2:  ret
