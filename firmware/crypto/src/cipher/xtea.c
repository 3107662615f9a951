/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bytes.h"
#include "sunseal/wipe.h"
#include "xtea.h"

#define DELTA 0x9e3779b9

static int set_key(void *schedule, const uint8_t *key) {
    struct sunseal_xtea *xtea = schedule;
    uint32_t k[4], sum = 0;
    for (uint8_t i = 0; i < 4; i++) {
        k[i] = sunseal_load_big32(key + 4 * i);
    }
    for (uint8_t i = 0; i < 64; i = (uint8_t)(i + 2)) {
        xtea->round_keys[i] = sum + k[sum & 3];
        sum += DELTA;
        xtea->round_keys[i + 1] = sum + k[sum >> 11 & 3];
    }
    sunseal_wipe(k, sizeof k);
    return SUNSEAL_OK;
}

int sunseal_xtea_decrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {
    const struct sunseal_xtea *xtea = schedule;
    for (; blocks > 0; blocks--, out += 8, in += 8) {
        const uint32_t *key = xtea->round_keys + 64;
        uint32_t a = sunseal_load_big32(in), b = sunseal_load_big32(in + 4);
        for (uint8_t i = 0; i < 32; i++) {
            b -= ((a << 4 ^ a >> 5) + a) ^ *--key;
            a -= ((b << 4 ^ b >> 5) + b) ^ *--key;
        }
        sunseal_store_big32(out, a);
        sunseal_store_big32(out + 4, b);
    }
    return SUNSEAL_OK;
}

const struct sunseal_block sunseal_xtea = {.block_bytes = 8,
                                           .key_bytes = 16,
                                           .schedule_bytes = sizeof(struct sunseal_xtea),
                                           .together = 1,
                                           .set_key = set_key,
                                           .encrypt = sunseal_xtea_encrypt,
                                           .decrypt = SUNSEAL_DECRYPTS(sunseal_xtea_decrypt),
                                           .ctr = NULL};
