/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The four memory functions that a freestanding C compiler may call. Their time
 * depends on addresses and lengths only, but for memcmp, which stops at the
 * first difference: never for secrets.
 */
#include "function.inc"

    ; void *memcpy(void *to r12, const void *from r13, size_t n r14)
    function memcpy
    mov     r12, r15
    mov     r12, r11
    bis     r13, r11
    bit     #1, r11                 ; words only when both are even
    jnz     3f
    clrc
    rrc     r14                     ; C = an odd byte is left over
    mov     sr, r11
    tst     r14
    jz      2f
1:  mov     @r13+, 0(r15)
    incd    r15
    dec     r14
    jnz     1b
2:  bit     #1, r11
    jz      5f
    mov.b   @r13, 0(r15)
    ret
3:  tst     r14
    jz      5f
4:  mov.b   @r13+, 0(r15)
    inc     r15
    dec     r14
    jnz     4b
5:  ret

    ; void *memmove(void *to r12, const void *from r13, size_t n r14)
    function memmove
    cmp     r13, r12                ; to - from
    jhs     3f
    br      #memcpy                 ; ours goes upwards
3:
    jeq     2f
    mov     r12, r15
    add     r14, r15
    add     r14, r13
    tst     r14
    jz      2f
1:  dec     r13
    dec     r15
    mov.b   @r13, 0(r15)
    dec     r14
    jnz     1b
2:  ret

    ; void *memset(void *to r12, int value r13, size_t n r14)
    function memset
    mov     r12, r15
    bit     #1, r15
    jnz     3f                      ; words only from an even address
    mov.b   r13, r13
    mov     r13, r11
    swpb    r11
    bis     r11, r13
    clrc
    rrc     r14                     ; C = an odd byte is left over
    mov     sr, r11
    tst     r14
    jz      2f
1:  mov     r13, 0(r15)
    incd    r15
    dec     r14
    jnz     1b
2:  bit     #1, r11
    jz      5f
    mov.b   r13, 0(r15)
    ret
3:  tst     r14
    jz      5f
4:  mov.b   r13, 0(r15)
    inc     r15
    dec     r14
    jnz     4b
5:  ret

    ; int memcmp(const void *a r12, const void *b r13, size_t n r14)
    function memcmp
    mov     r12, r15
    clr     r12
    tst     r14
    jz      2f
1:  mov.b   @r15+, r12
    mov.b   @r13+, r11
    sub     r11, r12
    jnz     2f
    dec     r14
    jnz     1b
2:  ret
