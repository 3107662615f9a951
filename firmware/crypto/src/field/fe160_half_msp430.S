; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Half of a number modulo 2^160 - 2^31 - 1.

#include "half_msp430.inc"

    .set N, 10

    half_of fe160, r15, r14, r15, r15, r15, r15, r15, r15, r15, r15
