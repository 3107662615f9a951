/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "chip.h"
#include "function.inc"

    ; uint16_t sunseal_nvm_copy(void *to r12, const void *from r13, uint16_t words r14, uint16_t seed r15)
    ; 2 words a round: the loop lies in three lines of the FRAM's cache.
    function sunseal_nvm_copy
    mov     r15, &CRCINIRES
    clrc
    rrc     r14
    jnc     1f
    mov     @r13, &CRCDI
    mov     @r13+, 0(r12)
    incd    r12
1:  tst     r14
    jz      3f
2:  mov     @r13, &CRCDI
    mov     @r13+, 0(r12)
    mov     @r13, &CRCDI
    mov     @r13+, 2(r12)
    add     #4, r12
    dec     r14
    jnz     2b
3:  mov     &CRCINIRES, r12
    ret

    ; uint16_t sunseal_nvm_check(const void *from r12, uint16_t words r13, uint16_t seed r14)
    function sunseal_nvm_check
    mov     r14, &CRCINIRES
    tst     r13
    jz      2f
1:  mov     @r12+, &CRCDI
    dec     r13
    jnz     1b
2:  mov     &CRCINIRES, r12
    ret

    ; void sunseal_nvm_commit(volatile uint16_t *word r12, uint16_t value r13)
    function sunseal_nvm_commit
    mov     r13, 0(r12)
    ret
