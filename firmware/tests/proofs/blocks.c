/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Blocks in any number by a cipher that works or fails: for each length of text up to two blocks
 * and a part, in place or not, every read and write lies inside of the caller's buffers.
 *
 * sources: cipher/block.c
 * unwind: 40
 */
#include "cipher/cipher.h"
#include "proof.h"

#define BLOCK 16
#define MOST 33

static uint8_t key_schedule[BLOCK];
static int answer;

static int engine(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {
    READS(schedule, sizeof key_schedule);
    READS(in, BLOCK * blocks);
    MAY_WRITE(out, BLOCK * blocks);
    return answer;
}

static int set_key(void *schedule, const uint8_t *key) {
    READS(key, BLOCK);
    MAY_WRITE(schedule, sizeof key_schedule);
    return answer;
}

/* One or two blocks at a time; with `fails` its first call fails. */
static struct sunseal_block cipher_of(uint8_t together, bool fails) {
    answer = fails ? SUNSEAL_ERR_ENGINE : SUNSEAL_OK;
    return (struct sunseal_block){.block_bytes = BLOCK,
                                  .key_bytes = BLOCK,
                                  .schedule_bytes = sizeof key_schedule,
                                  .together = together,
                                  .set_key = set_key,
                                  .encrypt = engine,
                                  .decrypt = engine};
}

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
