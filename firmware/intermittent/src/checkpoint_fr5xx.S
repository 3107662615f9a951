/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Into and out of a checkpoint. The stack of a saved program, from SP upwards: R4 to R15 in 20 bits
 * (48 bytes), SR and PC as an interrupt leaves them. GIE is clear all the time.
 */
#include "checkpoint.h"
#include "chip.h"
#include "function.inc"

    .section .bss.sunseal_checkpoint_trampoline,"aw",@nobits
    .balign 2
    .global sunseal_checkpoint_trampoline
sunseal_checkpoint_trampoline:
trampoline:
    .skip   10                      ; MOV to OP2H with its operands, BR #behind

    .global sunseal_isr_adc12
    function sunseal_isr_adc12
    ; Between the writes to OP2L and OP2H the multiplier has state that no register shows. These
    ; writes are neighbours in all code here: where the next instruction is MOV to OP2H, it is
    ; made now, in the program's place, from a copy.
    pushm.w #3, r15                 ; r15, r14, r13
    mov     8(sp), r15              ; PC
    mov     @r15, r14
    mov     r14, r13
    and     #0xF0CF, r13
    cmp     #0x4082, r13            ; MOV.W source, &absolute
    jne     2f
    mov     r14, r13
    and     #0x0F30, r13
    mov     #2, r14                 ; offset of the destination's word
    cmp     #0x0030, r13            ; source @PC+, a number
    jeq     1f
    bit     #0x0020, r13
    jnz     3f
    bit     #0x0010, r13            ; X(Rn) has a word, but for R3: there it is the number 1
    jz      3f
    cmp     #0x0310, r13
    jeq     3f
1:  incd    r14
3:  mov     r15, r13
    add     r14, r13
    cmp     #OP2H, 0(r13)
    jne     2f
    mov     @r15+, &trampoline
    mov     @r15+, &trampoline+2
    cmp     #2, r14
    jeq     4f
    mov     @r15+, &trampoline+4
    mov     #0x4030, &trampoline+6  ; BR #
    mov     #behind, &trampoline+8
    jmp     5f
4:  mov     #0x4030, &trampoline+4
    mov     #behind, &trampoline+6
5:  mov     r15, 8(sp)              ; the program goes on behind it
    popm.w  #3, r15
    add     #4, sp                  ; its operand may be on the program's stack
    br      #trampoline
behind:
    sub     #4, sp
    pushm.w #3, r15
2:  popm.w  #3, r15

    pushm.a #12, r15
    mov     sp, r12
    call    #sunseal_checkpoint_supply_low
    popm.a  #12, r15
    reti

    ; int sunseal_checkpoint_now(void): as an interrupt behind the call would, with R12 = 0
    function sunseal_checkpoint_now
    push    sr
    bic     #GIE, sr
    nop
    pushm.a #12, r15
    mov     sp, r12
    clr     32(r12)                 ; R12 as it will be restored
    call    #sunseal_checkpoint_save
    mov     r12, 32(sp)
    popm.a  #12, r15
    reti

    ; void sunseal_checkpoint_go(const struct slot *slot r12): does not return
    function sunseal_checkpoint_go
    mov     SLOT_SP(r12), sp        ; below it nothing is restored: the stack of the call
    call    #sunseal_checkpoint_restore
    popm.a  #12, r15
    reti
