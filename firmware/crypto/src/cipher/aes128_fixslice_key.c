/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "aes.h"
#include "fixslice.h"
#include "sunseal/wipe.h"

void sunseal_aes_fixslice_substitute(uint32_t q[8]);

/* SubWord of FIPS 197, section 5.2, without a table: the bitsliced S-box on one word. */
static uint32_t sub_word(uint32_t word) {
    uint32_t q[8] = {word, 0, 0, 0, 0, 0, 0, 0};
    sunseal_fixslice_turn(q);
    sunseal_aes_fixslice_substitute(q);
    sunseal_fixslice_turn(q);
    word = q[0] ^ 0x63636363;
    sunseal_wipe(q, sizeof q);
    return word;
}

/* Row r of slice x to the left by rk columns. */
static uint32_t shift_rows(uint32_t x, uint8_t k) {
    uint32_t y = x & 0xff;
    for (uint8_t row = 1; row < 4; row++) {
        y |= sunseal_fixslice_columns(x, (uint8_t)(-row * k & 3)) & (uint32_t)0xff << 8 * row;
    }
    return y;
}

int sunseal_aes128_fixslice_set_key(void *schedule, const uint8_t *key) {
    struct sunseal_aes128_fixslice *aes = schedule;
    uint32_t w[4], *q = aes->round_keys;
    uint8_t rcon = 1;
    memcpy(w, key, 16);
    for (uint8_t round = 0; round < 11; round++, q += 8) {
        for (uint8_t i = 0; i < 4; i++) {
            q[2 * i] = q[2 * i + 1] = w[i];
        }
        sunseal_fixslice_turn(q);
        for (uint8_t i = 0; i < 8; i++) {
            q[i] = shift_rows(q[i], round < 10 ? round & 3 : 0);
            if (round > 0 && (0x63 >> i & 1) != 0) {
                q[i] = ~q[i];
            }
        }
        w[0] ^= sub_word(w[3] >> 8 | w[3] << 24) ^ rcon;
        w[1] ^= w[0];
        w[2] ^= w[1];
        w[3] ^= w[2];
        rcon = (uint8_t)(rcon << 1 ^ (rcon >> 7) * 0x1b);
    }
    sunseal_wipe(w, sizeof w);
    return SUNSEAL_OK;
}
