; SPDX-License-Identifier: MIT OR Apache-2.0
;
; AES-128's encryption with tables of words. The state stays in eight registers, l0 h0 .. l3 h3: l holds bytes
; 0 and 1 of a column, h bytes 2 and 3. Of the columns of MixColumns' matrix only four different words exist, as
; bytes: 2 1, 1 3, 3 2 and 1 1.

#include "function.inc"

; Looked up by secret bytes: see aes.h. FRAM above 8 MHz is cached, so there they lie in SRAM.
#ifdef SUNSEAL_FRAM
    .section .data.sunseal_aes_words,"aw",@progbits
#else
    .section .rodata.sunseal_aes_words,"a",@progbits
#endif
    .balign 2
#include "aes_words.inc"
aes_s:
#include "aes_s.inc"

; \lo \hi += the table words for the byte in the lower half of \w
    .macro lower w, lo, lo_table, hi, hi_table
    mov.b   \w, r14
    rla     r14
    xor     \lo_table(r14), \lo
    xor     \hi_table(r14), \hi
    .endm

; The same for the upper half; the halves change places.
    .macro upper w, lo, lo_table, hi, hi_table
    swpb    \w
    lower   \w, \lo, \lo_table, \hi, \hi_table
    .endm

; SubBytes, ShiftRows, MixColumns of one column and its round key: bytes 0 to 3 are the lower half of \a and of \c
; and the upper ones of \b and \d; \a (\c) says `upper` where its halves have changed places before.
    .macro column a, a_half, b, c, c_half, d, lo, hi
    mov     @r15+, \lo
    mov     @r15+, \hi
    \a_half \a, \lo, aes_21, \hi, aes_13
    upper   \b, \lo, aes_32, \hi, aes_11
    \c_half \c, \lo, aes_13, \hi, aes_21
    upper   \d, \lo, aes_11, \hi, aes_32
    .endm

; After it the columns are in \h2 \l0, \q \p, \l1 \h3 and \l2 \h0, and \h1 \l3 are free: a word is dead once both
; halves have been looked up. Four rounds bring everything back to its register.
    .macro round l0, h0, l1, h1, l2, h2, l3, h3, p, q
    column  \l0, lower, \l1, \h2, lower, \h3, \p, \q
    push    \q
    push    \p
    column  \l1, upper, \l2, \h3, upper, \h0, \q, \p
    column  \l2, upper, \l3, \h0, upper, \h1, \l1, \h3
    column  \l3, upper, \l0, \h1, upper, \h2, \l2, \h0
    pop     \h2
    pop     \l0
    .endm

    .macro load_word w
    mov.b   @r14+, \w
    mov.b   @r14+, r13
    swpb    r13
    bis     r13, \w
    .endm

; One word of the last round: bytes of the lower half of \a, turned before where so said, and the upper one of \b
    .macro last_word a, a_half, b, at, aligned
    .ifc \a_half, upper
    swpb    \a
    .endif
    mov.b   \a, r12
    mov.b   aes_s(r12), r12
    swpb    \b
    mov.b   \b, r13
    mov.b   aes_s(r13), r13
    swpb    r13
    bis     r13, r12
    xor     @r15+, r12
    .if \aligned
    mov     r12, \at(r14)
    .else
    mov.b   r12, \at(r14)
    swpb    r12
    mov.b   r12, \at+1(r14)
    .endif
    .endm

    .macro last_round aligned
    last_word r4,  lower, r6,  0, \aligned
    last_word r9,  lower, r11, 2, \aligned
    last_word r6,  upper, r8,  4, \aligned
    last_word r11, upper, r5,  6, \aligned
    last_word r8,  upper, r10, 8, \aligned
    last_word r5,  upper, r7, 10, \aligned
    last_word r10, upper, r4, 12, \aligned
    last_word r7,  upper, r9, 14, \aligned
    .endm

; name:       int sunseal_aes128_tbox_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks)
; registers:  r4..r13 = state and a column under way, r14 = table index, r15 = round keys
; stack:      30 bytes with the return address
; cycles:     1785 for one block, 1811 on a classic CPU
    function sunseal_aes128_tbox_encrypt
    pushm.w #7, r10
    push    r15                     ; 8(sp): blocks
    push    r14                     ; 6(sp)
    push    r13                     ; 4(sp)
    push    r12                     ; 2(sp)
    mov     r12, r13
    add     #160, r13
    push    r13                     ; @sp: the last round key
    tst     r15
    jnz     1f
    br      #9f
1:  mov     2(sp), r15
    mov     6(sp), r14
    ; Round 1 is the fourth of the loop: 9 = 3 * 4 - 3.
    bit     #1, r14
    jnz     2f
    .irp w, r5, r11, r8, r12, r10, r4, r13, r9
    mov     @r14+, \w
    .endr
    jmp     3f
2:  .irp w, r5, r11, r8, r12, r10, r4
    load_word \w
    .endr
    load_word r9                    ; the other two need r13
    mov.b   @r14+, r7
    mov.b   @r14+, r13
    swpb    r13
    bis     r13, r7
    mov     r9, r13
    mov     r7, r9
3:  .irp w, r5, r11, r8, r12, r10, r4, r13, r9
    xor     @r15+, \w
    .endr
    jmp     5f
4:  round   r4,  r5,  r6,  r7,  r8,  r9,  r10, r11, r12, r13
    round   r9,  r4,  r13, r12, r6,  r11, r8,  r5,  r7,  r10
    round   r11, r9,  r10, r7,  r13, r5,  r6,  r4,  r12, r8
5:  round   r5,  r11, r8,  r12, r10, r4,  r13, r9,  r7,  r6
    cmp     @sp, r15
    jeq     6f
    br      #4b
6:  mov     4(sp), r14
    bit     #1, r14
    jnz     7f
    last_round 1
    jmp     8f
7:  last_round 0
8:  add     #16, 4(sp)
    add     #16, 6(sp)
    dec     8(sp)
    jz      9f
    br      #1b
9:  clr     -2(sp)                  ; the column that waited
    clr     -4(sp)
    add     #10, sp
    popm.w  #7, r10
    clr     r12
    ret
