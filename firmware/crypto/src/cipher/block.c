/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "cipher.h"
#include "sunseal/wipe.h"

int sunseal_block_set_key(const struct sunseal_block *cipher, void *schedule, const uint8_t *key,
                          size_t key_len) {
    if (cipher == NULL || schedule == NULL || key == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    if (key_len != cipher->key_bytes) {
        return SUNSEAL_ERR_LENGTH;
    }
    return cipher->set_key(schedule, key);
}

static int blocks(const struct sunseal_block *cipher, const void *schedule, uint8_t *out,
                  const uint8_t *in, size_t len, bool decrypt) {
    if (cipher == NULL || schedule == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    SUNSEAL_REQUIRE(out, len, in, len, true);
    /* Blocks are of 8 or 16 bytes. */
    if ((len & (size_t)(cipher->block_bytes - 1)) != 0) {
        return SUNSEAL_ERR_LENGTH;
    }
    int (*run)(const void *, uint8_t *, const uint8_t *, size_t) =
        decrypt ? cipher->decrypt : cipher->encrypt;
    if (run == NULL) {
        return SUNSEAL_ERR_UNSUPPORTED;
    }
    int error = run(schedule, out, in, len / cipher->block_bytes);
    if (error != SUNSEAL_OK) {
        sunseal_wipe(out, len);
    }
    return error;
}

int sunseal_block_encrypt(const struct sunseal_block *cipher, const void *schedule, uint8_t *out,
                          const uint8_t *in, size_t len) {
    return blocks(cipher, schedule, out, in, len, false);
}

int sunseal_block_decrypt(const struct sunseal_block *cipher, const void *schedule, uint8_t *out,
                          const uint8_t *in, size_t len) {
    return blocks(cipher, schedule, out, in, len, true);
}

static int once(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                uint8_t *out, const uint8_t *in, size_t len, bool decrypt) {
    SUNSEAL_SCHEDULE_ONCE(schedule);
    int error = sunseal_block_set_key(cipher, schedule, key, key_len);
    if (error == SUNSEAL_OK) {
        error = blocks(cipher, schedule, out, in, len, decrypt);
        sunseal_wipe(schedule, sizeof schedule);
    }
    return error;
}

int sunseal_ecb_encrypt(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                        uint8_t *out, const uint8_t *in, size_t len) {
    return once(cipher, key, key_len, out, in, len, false);
}

int sunseal_ecb_decrypt(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                        uint8_t *out, const uint8_t *in, size_t len) {
    return once(cipher, key, key_len, out, in, len, true);
}
