; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Half of a number modulo 2^224 - 2^96 + 1.

#include "half_msp430.inc"

    .set N, 14

    half_of fe224, r14, #0, #0, #0, #0, #0, r15, r15, r15, r15, r15, r15, r15, r15
