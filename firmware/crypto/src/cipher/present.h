/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CIPHER_PRESENT_H
#define SUNSEAL_CIPHER_PRESENT_H

#include "decrypts.h"
#include "sunseal/present.h"

/* Round keys lie as these where slices come to lie later, whatever the type of a slice. */
typedef uint16_t __attribute__((may_alias)) sunseal_present_word;

/* Round keys 1 to 32 of CHES 2007, section 3, the lowest 16 bits first; key_bytes is 10 or 16. No
 * look-up by secret bits. */
void sunseal_present_expand(sunseal_present_word round_keys[32][4], const uint8_t *key,
                            uint8_t key_bytes);

int sunseal_present80_set_key(void *schedule, const uint8_t *key);
int sunseal_present128_set_key(void *schedule, const uint8_t *key);
int sunseal_present_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);
int sunseal_present_decrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);

#define SUNSEAL_PRESENT_BLOCK(key, schedule, blocks, set, enc, dec)                                \
    {.block_bytes = 8,                                                                             \
     .key_bytes = (key),                                                                           \
     .schedule_bytes = sizeof(struct schedule),                                                    \
     .together = (blocks),                                                                         \
     .set_key = (set),                                                                             \
     .encrypt = (enc),                                                                             \
     .decrypt = (dec),                                                                             \
     .ctr = NULL}

#if defined(__AVR__) || defined(__MSP430__)
#define SUNSEAL_PRESENT_TOGETHER 1
#else
#define SUNSEAL_PRESENT_TOGETHER 2
#endif

/*
 * The bitsliced form. A block's 64 bits have three axes of four: bit b of an S-box, and the S-box's
 * number 4h + l. The substitution wants b to be the number of the word; the permutation sends
 * (b, l, h) to (l, h, b), so it only gives the axes new names. What is left to do is to bring, in
 * each round, the axis that is b next out of the words (of 16 bits: 4 x 4) and the one that was b
 * into them. Where l and h stand takes turns: before the substitution of rounds 1, 3, .. bit
 * 4l + h of word b is bit b of S-box 4h + l, before those of rounds 2, 4, .. it is bit 4h + l.
 */

/* Bits of a that mask << shift names, and bits of b that mask names, change places. A macro, so
 * that the shift is a constant: small processors shift by one bit at a time. */
#define SUNSEAL_PRESENT_SWAP(a, b, shift, mask)                                                    \
    do {                                                                                           \
        uint16_t swapped = ((uint16_t)((a) >> (shift)) ^ (b)) & (mask);                            \
        (b) ^= swapped;                                                                            \
        (a) ^= (uint16_t)(swapped << (shift));                                                     \
    } while (0)

/* The axis of single bits, or of groups of four, comes into the words; in each word both change
 * places. */
#define SUNSEAL_PRESENT_TURN(a, b, c, d, n, near, far)                                             \
    do {                                                                                           \
        SUNSEAL_PRESENT_SWAP(a, b, n, near);                                                       \
        SUNSEAL_PRESENT_SWAP(c, d, n, near);                                                       \
        SUNSEAL_PRESENT_SWAP(a, c, 2 * (n), far);                                                  \
        SUNSEAL_PRESENT_SWAP(b, d, 2 * (n), far);                                                  \
    } while (0)
#define SUNSEAL_PRESENT_TURN_ONES(a, b, c, d) SUNSEAL_PRESENT_TURN(a, b, c, d, 1, 0x5555, 0x3333)
#define SUNSEAL_PRESENT_TURN_FOURS(a, b, c, d) SUNSEAL_PRESENT_TURN(a, b, c, d, 4, 0x0f0f, 0x00ff)

#define SUNSEAL_PRESENT_TURN_WORD(w)                                                               \
    do {                                                                                           \
        SUNSEAL_PRESENT_SWAP(w, w, 3, 0x0a0a);                                                     \
        SUNSEAL_PRESENT_SWAP(w, w, 6, 0x00cc);                                                     \
    } while (0)

#endif
