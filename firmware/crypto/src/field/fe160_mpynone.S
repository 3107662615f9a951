; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^160 - 2^31 - 1, without a multiplier.

#include "rows_mpynone.inc"

    .set N, 10

    products fe160, reduce
