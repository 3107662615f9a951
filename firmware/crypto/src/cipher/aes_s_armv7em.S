/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The S-box of AES, once for all that look it up by secret bytes: see aes.h.
 */
    .section .data.sunseal_aes_s,"aw",%progbits
    .balign 4
    .global sunseal_aes_s
    .type sunseal_aes_s,%object
    .size sunseal_aes_s, 256
sunseal_aes_s:
#include "aes_s.inc"
