/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSP430F5438A: SLAS655, table "Interrupt sources, flags, and vectors"; 0xFF80 up.
 */
#include "vectors.inc"

    vectors
    .rept   41
    unexpected
    .endr
    vector  rtc                     ; 0xFFD2
    vector  port2                   ; 0xFFD4
    vector  usci_b3                 ; 0xFFD6
    vector  usci_a3                 ; 0xFFD8
    vector  usci_b1                 ; 0xFFDA
    vector  usci_a1                 ; 0xFFDC
    vector  port1                   ; 0xFFDE
    vector  timer1_a1               ; 0xFFE0
    vector  timer1_a0               ; 0xFFE2
    vector  dma                     ; 0xFFE4
    vector  usci_b2                 ; 0xFFE6
    vector  usci_a2                 ; 0xFFE8
    vector  timer0_a1               ; 0xFFEA
    vector  timer0_a0               ; 0xFFEC
    vector  adc12                   ; 0xFFEE
    vector  usci_b0                 ; 0xFFF0
    vector  usci_a0                 ; 0xFFF2
    vector  wdt                     ; 0xFFF4
    vector  timer0_b1               ; 0xFFF6
    vector  timer0_b0               ; 0xFFF8
    vector  unmi                    ; 0xFFFA
    vector  sysnmi                  ; 0xFFFC
    .word   _start                  ; 0xFFFE
