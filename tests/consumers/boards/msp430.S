/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An MSP430: stack, watchdog held, variables, main. WDTCTL is the board's. */
    .section .text.start,"ax",@progbits
    .global start
start:
    mov     #stack_top, sp
    mov     #0x5A80, &WDTCTL
    mov     #data_load, r12
    mov     #data_start, r13
1:  cmp     #data_end, r13
    jhs     2f
    mov     @r12+, 0(r13)
    incd    r13
    jmp     1b
2:  mov     #bss_start, r13
3:  cmp     #bss_end, r13
    jhs     4f
    mov     #0, 0(r13)
    incd    r13
    jmp     3b
4:  call    #main
    .global finished
finished:
    jmp     finished

    .section .vectors,"a",@progbits
    .word   start
