/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bytes.h"
#include "xtea.h"

int sunseal_xtea_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {
    const struct sunseal_xtea *xtea = schedule;
    for (; blocks > 0; blocks--, out += 8, in += 8) {
        const uint32_t *key = xtea->round_keys;
        uint32_t a = sunseal_load_big32(in), b = sunseal_load_big32(in + 4);
        for (uint8_t i = 0; i < 32; i++) {
            a += ((b << 4 ^ b >> 5) + b) ^ *key++;
            b += ((a << 4 ^ a >> 5) + a) ^ *key++;
        }
        sunseal_store_big32(out, a);
        sunseal_store_big32(out + 4, b);
    }
    return SUNSEAL_OK;
}
