; SPDX-License-Identifier: MIT OR Apache-2.0
;
; PRESENT, bitsliced within the block: present.h says how. One word a slice.

#include "function.inc"
#include "../words.inc"

; Bits of \a that mask << shift names, and bits of \b that mask names, change places.
    .macro swap_step a, b, shift, mask, t
    mov     \a, \t
    .rept \shift
    rra     \t                      ; what comes in at the top is masked away
    .endr
    xor     \b, \t
    and     \mask, \t
    xor     \t, \b
    .rept \shift
    rla     \t
    .endr
    xor     \t, \a
    .endm

; The lower byte of \b and the upper byte of \a change places.
    .macro swap_bytes a, b, t
    swpb    \a
    mov.b   \a, \t
    xor.b   \b, \t
    xor     \t, \b
    xor     \t, \a
    swpb    \a
    .endm

; The axis of single bits comes into the words.
    .macro turn_ones a, b, c, d, t
    swap_step \a, \b, 1, r10, \t
    swap_step \c, \d, 1, r10, \t
    swap_step \a, \c, 2, r11, \t
    swap_step \b, \d, 2, r11, \t
    .endm

; The axis of groups of four bits does.
    .macro turn_fours a, b, c, d, t
    swap_step \a, \b, 4, r12, \t
    swap_step \c, \d, 4, r12, \t
    swap_bytes \a, \c, \t
    swap_bytes \b, \d, \t
    .endm

; Round key and S-box (Courtois, Hulme and Mourouzis, eprint 2011/475): bits 0 to 3 in \a \b \c \d before,
; in \t \c \d \u after, and \a \b are free. So four rounds bring every slice back to its register.
    .macro substitute a, b, c, d, t, u
    across  xor, xor, @r13+,  \a, \b, \c, \d
    xor     \c, \b                  ; T1
    mov     \c, \t
    and     \b, \t
    xor     \t, \d                  ; T3
    mov     \a, \t
    xor     \d, \t                  ; bit 0
    mov     \b, \u
    and     \d, \u
    xor     \t, \b
    xor     \c, \u
    mov     \a, \c
    bis     \u, \c
    xor     \b, \c                  ; bit 1
    inv     \a
    xor     \u, \a
    mov     \c, \u
    xor     \a, \u                  ; bit 3
    bis     \a, \b
    xor     \b, \d                  ; bit 2
    .endm

; The axis that comes in, bits 0 to 3, two more registers
    .macro round which, a, b, c, d, t, u
    turn_\which \a, \b, \c, \d, \t
    substitute \a, \b, \c, \d, \t, \u
    .endm

; Bits 4l + h become bits 4h + l.
    .macro turn_word w, t
    mov     \w, \t
    rra     \t
    rra     \t
    rra     \t
    xor     \w, \t
    and     #0x0a0a, \t
    xor     \t, \w
    rla     \t
    rla     \t
    rla     \t
    xor     \t, \w
    mov     \w, \t                  ; by 6: by 8 to the right, and 2 to the left
    swpb    \t
    rla     \t
    rla     \t
    xor     \w, \t
    and     #0x00cc, \t
    xor     \t, \w
    rra     \t
    rra     \t
    swpb    \t
    xor     \t, \w
    .endm

; Adds the last round key and stores at r12
    .macro finish_word w, at
    turn_word \w, r8
    xor     @r13+, \w
    store_word \w, \at
    .endm

; name:       int sunseal_present_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks)
; registers:  r4..r9 = slices and scratch, r10..r12 = masks, r13 = round keys, r14 = in, r15 = count
; stack:      22 bytes with the return address
; cycles:     2164 for one block, 2188 on a classic CPU
    function sunseal_present_encrypt
    pushm.w #7, r10
    push    r15
    push    r13
    push    r12
    tst     r15
    jz      4f
1:  load_word r7
    load_word r6
    load_word r5
    load_word r4
    mov     #0x5555, r10
    mov     #0x3333, r11
    mov     #0x0f0f, r12
    mov     @sp, r13
    mov     #8, r15
    ; Round 1 is the second of the loop: 31 = 8 * 4 - 1. The names are those after one round.
    mov     r7, r9
    mov     r4, r8
    mov     r6, r7
    mov     r5, r6
    jmp     3f
2:  round   fours, r4, r5, r6, r7, r8, r9
3:  round   ones,  r8, r6, r7, r9, r4, r5
    round   fours, r4, r7, r9, r5, r8, r6
    round   ones,  r8, r9, r5, r6, r4, r7
    dec     r15
    jnz     2b
    mov     2(sp), r12
    finish_word r4, 6
    finish_word r5, 4
    finish_word r6, 2
    finish_word r7, 0
    add     #8, 2(sp)
    dec     4(sp)
    jnz     1b
4:  add     #6, sp
    popm.w  #7, r10
    clr     r12
    ret
