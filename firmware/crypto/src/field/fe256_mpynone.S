; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo p256, in Montgomery form, without a multiplier.

#include "rows_mpynone.inc"

    .set N, 16

    products fe256, reduce
