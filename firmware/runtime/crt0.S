/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Start-up: stack, watchdog held, .data copied, .bss cleared, .noinit left as
 * it is, main called. When main returns the CPU stops in LPM4 with interrupts
 * off, from which only a reset leads out: the simulator reports it as halted.
 *
 * An interrupt handler is a C function with one of the names below, declared
 * with SUNSEAL_ISR (hal.h); all other vectors lead to sunseal_unexpected.
 */
    .section .text.start,"ax",@progbits
    .global _start
    .type _start,@function
_start:
    mov     #__stack_top, sp
    mov     #0x5A80, &0x015C        ; WDTCTL = WDTPW | WDTHOLD
    mov     #__data_load, r12
    mov     #__data_start, r13
1:  cmp     #__data_end, r13
    jhs     2f
    mov     @r12+, 0(r13)
    incd    r13
    jmp     1b
2:  mov     #__bss_start, r13
3:  cmp     #__bss_end, r13
    jhs     4f
    clr     0(r13)
    incd    r13
    jmp     3b
4:  call    #main
    .global sunseal_halt
sunseal_halt:
    mov     #0x00F0, sr             ; SCG1 | SCG0 | OSCOFF | CPUOFF, GIE clear
    jmp     sunseal_halt
    .size _start, . - _start

    ; An interrupt that nobody expects is a fault of the program: stay here, the
    ; watchdog starts the node anew.
    .section .text.sunseal_unexpected,"ax",@progbits
    .global sunseal_unexpected
sunseal_unexpected:
    jmp     sunseal_unexpected

    .macro handler name
    .weak   sunseal_isr_\name
    .set    sunseal_isr_\name, sunseal_unexpected
    .endm
    handler sysnmi
    handler unmi
    handler timer0_b0
    handler timer0_b1
    handler wdt
    handler usci_a0
    handler usci_b0
    handler adc12
    handler timer0_a0
    handler timer0_a1
    handler usci_a2
    handler usci_b2
    handler dma
    handler timer1_a0
    handler timer1_a1
    handler port1
    handler usci_a1
    handler usci_b1
    handler usci_a3
    handler usci_b3
    handler port2
    handler rtc

    ; SLAS655, table "Interrupt sources, flags, and vectors": 0xFF80 up.
    .section .vectors,"a",@progbits
    .rept   41
    .word   sunseal_unexpected
    .endr
    .word   sunseal_isr_rtc           ; 0xFFD2
    .word   sunseal_isr_port2         ; 0xFFD4
    .word   sunseal_isr_usci_b3       ; 0xFFD6
    .word   sunseal_isr_usci_a3       ; 0xFFD8
    .word   sunseal_isr_usci_b1       ; 0xFFDA
    .word   sunseal_isr_usci_a1       ; 0xFFDC
    .word   sunseal_isr_port1         ; 0xFFDE
    .word   sunseal_isr_timer1_a1     ; 0xFFE0
    .word   sunseal_isr_timer1_a0     ; 0xFFE2
    .word   sunseal_isr_dma           ; 0xFFE4
    .word   sunseal_isr_usci_b2       ; 0xFFE6
    .word   sunseal_isr_usci_a2       ; 0xFFE8
    .word   sunseal_isr_timer0_a1     ; 0xFFEA
    .word   sunseal_isr_timer0_a0     ; 0xFFEC
    .word   sunseal_isr_adc12         ; 0xFFEE
    .word   sunseal_isr_usci_b0       ; 0xFFF0
    .word   sunseal_isr_usci_a0       ; 0xFFF2
    .word   sunseal_isr_wdt           ; 0xFFF4
    .word   sunseal_isr_timer0_b1     ; 0xFFF6
    .word   sunseal_isr_timer0_b0     ; 0xFFF8
    .word   sunseal_isr_unmi          ; 0xFFFA
    .word   sunseal_isr_sysnmi        ; 0xFFFC
    .word   _start                    ; 0xFFFE
