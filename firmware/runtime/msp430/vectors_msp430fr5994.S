/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSP430FR5994: SLASE54D table 9-4, and data/devices/msp430fr5994.toml.
 */
#include "vectors.inc"

    vectors
    ; SLAU367 section 1.11.7 and SLASE54D, "Signatures": words here would lock JTAG or the BSL.
    .rept   8
    .word   0xFFFF
    .endr
    .rept   18
    unexpected
    .endr
    vector  lea                     ; 0xFFB4
    vector  port8                   ; 0xFFB6
    vector  port7                   ; 0xFFB8
    vector  eusci_b3                ; 0xFFBA
    vector  eusci_b2                ; 0xFFBC
    vector  eusci_b1                ; 0xFFBE
    vector  eusci_a3                ; 0xFFC0
    vector  eusci_a2                ; 0xFFC2
    vector  port6                   ; 0xFFC4
    vector  port5                   ; 0xFFC6
    vector  ta4                     ; 0xFFC8
    vector  ta4_ccr0                ; 0xFFCA
    vector  aes                     ; 0xFFCC
    vector  rtc                     ; 0xFFCE
    vector  port4                   ; 0xFFD0
    vector  port3                   ; 0xFFD2
    vector  ta3                     ; 0xFFD4
    vector  ta3_ccr0                ; 0xFFD6
    vector  port2                   ; 0xFFD8
    vector  ta2                     ; 0xFFDA
    vector  ta2_ccr0                ; 0xFFDC
    vector  port1                   ; 0xFFDE
    vector  ta1                     ; 0xFFE0
    vector  ta1_ccr0                ; 0xFFE2
    vector  dma                     ; 0xFFE4
    vector  eusci_a1                ; 0xFFE6
    vector  ta0                     ; 0xFFE8
    vector  ta0_ccr0                ; 0xFFEA
    vector  adc12                   ; 0xFFEC
    vector  eusci_b0                ; 0xFFEE
    vector  eusci_a0                ; 0xFFF0
    vector  wdt                     ; 0xFFF2
    vector  tb0                     ; 0xFFF4
    vector  tb0_ccr0                ; 0xFFF6
    vector  comp_e                  ; 0xFFF8
    vector  unmi                    ; 0xFFFA
    vector  sysnmi                  ; 0xFFFC
    .word   _start                  ; 0xFFFE
