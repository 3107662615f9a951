/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A cipher of 16-byte blocks that works or fails, for the proofs of what is built on ciphers. */
#ifndef SUNSEAL_PROOF_CIPHER_H
#define SUNSEAL_PROOF_CIPHER_H

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

#endif
