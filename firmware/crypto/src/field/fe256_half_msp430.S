; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Half of a number modulo 2^256 - 2^224 + 2^192 + 2^96 - 1.

#include "half_msp430.inc"

    .set N, 16

    half_of fe256, r15, r15, r15, r15, r15, r15, #0, #0, #0, #0, #0, #0, r14, #0, r15, r15
