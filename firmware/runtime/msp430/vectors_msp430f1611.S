/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSP430F1611: SLAS368G, interrupt vector addresses, and data/devices/msp430f1611.toml.
 */
#include "vectors.inc"

    vectors
    vector  dac12_dma               ; 0xFFE0
    vector  port2                   ; 0xFFE2
    vector  usart1_tx               ; 0xFFE4
    vector  usart1_rx               ; 0xFFE6
    vector  port1                   ; 0xFFE8
    vector  ta                      ; 0xFFEA
    vector  ta_ccr0                 ; 0xFFEC
    vector  adc12                   ; 0xFFEE
    vector  usart0_tx               ; 0xFFF0
    vector  usart0_rx               ; 0xFFF2
    vector  wdt                     ; 0xFFF4
    vector  comparator_a            ; 0xFFF6
    vector  tb                      ; 0xFFF8
    vector  tb_ccr0                 ; 0xFFFA
    vector  nmi                     ; 0xFFFC
    .word   _start                  ; 0xFFFE
