/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CIPHER_PRESENT_H
#define SUNSEAL_CIPHER_PRESENT_H

#include "sunseal/present.h"

/* Round keys 1 to 32 of CHES 2007, section 3, as big-endian bytes; key_bytes is 10 or 16. No
 * look-up by secret bits. */
void sunseal_present_expand(uint8_t round_keys[32][8], const uint8_t *key, uint8_t key_bytes);

int sunseal_present80_set_key(void *schedule, const uint8_t *key);
int sunseal_present128_set_key(void *schedule, const uint8_t *key);
int sunseal_present_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);
int sunseal_present_decrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);

/*
 * The bitsliced form. A block's 64 bits have three axes of four: bit b of an S-box, and the S-box's
 * number 4h + l. The substitution wants b to be the number of the word; the permutation sends
 * (b, l, h) to (l, h, b), so it only gives the axes new names. What is left to do is to bring, in
 * each round, the axis that is b next out of the words (of 16 bits: 4 x 4) and the one that was b
 * into them. Where l and h stand takes turns: before the substitution of rounds 1, 3, .. bit
 * 4l + h of word b is bit b of S-box 4h + l, before those of rounds 2, 4, .. it is bit 4h + l.
 */

#endif
