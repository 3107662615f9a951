/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "aes.h"
#include "aes_tables.h"
#include "aes_sbox_table.h"

int sunseal_aes128_expand(void *schedule, const uint8_t *key) {
    struct sunseal_aes128 *aes = schedule;
    uint8_t *w = (uint8_t *)aes->round_keys;
    uint8_t rcon = 1;
    memcpy(w, key, 16);
    for (uint8_t round = 0; round < 10; round++, w += 16) {
        w[16] = w[0] ^ aes_s[w[13]] ^ rcon;
        w[17] = w[1] ^ aes_s[w[14]];
        w[18] = w[2] ^ aes_s[w[15]];
        w[19] = w[3] ^ aes_s[w[12]];
        for (uint8_t i = 4; i < 16; i++) {
            w[16 + i] = w[i] ^ w[12 + i];
        }
        /* 1, 2, 4, .., 0x80, 0x1b, 0x36: public. */
        rcon = (uint8_t)(rcon << 1 ^ (rcon >> 7) * 0x1b);
    }
    return SUNSEAL_OK;
}
