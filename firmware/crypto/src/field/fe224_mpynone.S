; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^224 - 2^96 + 1 without a multiplier.

#include "rows_mpynone.inc"

    .set N, 14

    products fe224, reduce
