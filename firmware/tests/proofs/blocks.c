/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Blocks in any number by a cipher that works or fails: for each length of text up to two blocks
 * and a part, in place or not, every read and write lies inside of the caller's buffers.
 *
 * sources: cipher/block.c
 * unwind: 40
 */
#include "cipher.h"

void prove_ecb(void) {
    uint8_t a[52], b[52];
    for (uint8_t kind = 0; kind < 2; kind++) {
        struct sunseal_block cipher = cipher_of(2, kind);
        for (size_t len = 0; len <= MOST; len++) {
            uint8_t *in = LAST(a, len);
            int result =
                sunseal_block_encrypt(&cipher, key_schedule, kind ? in : LAST(b, len), in, len);
            /* Whether two arrays overlap as numbers is not modelled. */
            ASSERT(len % BLOCK == 0 || kind == 0 || result == SUNSEAL_ERR_LENGTH);
        }
    }
}
