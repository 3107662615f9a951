/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../cipher/cipher.h"
#include "sunseal/random.h"
#include "sunseal/wipe.h"

int sunseal_condition_cbc_mac(uint8_t *out, const struct sunseal_block *cipher, const uint8_t *key,
                              const uint8_t *samples, size_t samples_len) {
    SUNSEAL_SCHEDULE_ONCE(schedule);
    if (cipher == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    uint8_t block = cipher->block_bytes;
    SUNSEAL_REQUIRE_APART(out, block, key, cipher->key_bytes);
    SUNSEAL_REQUIRE_APART(out, block, samples, samples_len);
    if (samples_len == 0 || samples_len % block != 0) {
        return SUNSEAL_ERR_LENGTH;
    }
    memset(out, 0, block);
    int status = sunseal_block_set_key(cipher, schedule, key, cipher->key_bytes);
    for (; samples_len > 0 && status == SUNSEAL_OK; samples_len -= block) {
        for (uint8_t i = 0; i < block; i++) {
            out[i] ^= *samples++;
        }
        status = sunseal_block_encrypt(cipher, schedule, out, out, block);
    }
    sunseal_wipe(schedule, sizeof schedule);
    if (status != SUNSEAL_OK) {
        memset(out, 0, block);
    }
    return status;
}
