/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "aes.h"
#include "aes_tables.h"
#include "aes_sbox_table.h"
#include "aes_tbox_table.h"

/* One table of the columns 2s s s 3s, turned for the other rows (Daemen and Rijmen, "The Design of
 * Rijndael", section 4.2). */

static uint32_t turn(uint32_t x, unsigned count) {
    return x << count | x >> (32 - count);
}

static uint32_t column(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return aes_t[a & 255] ^ turn(aes_t[b >> 8 & 255], 8) ^ turn(aes_t[c >> 16 & 255], 16) ^
           turn(aes_t[d >> 24], 24);
}

static uint32_t last(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return aes_s[a & 255] | (uint32_t)aes_s[b >> 8 & 255] << 8 |
           (uint32_t)aes_s[c >> 16 & 255] << 16 | (uint32_t)aes_s[d >> 24] << 24;
}

/* A round of the state: each column of those that ShiftRows brings together. */
#define COLUMNS(of)                                                                                \
    do {                                                                                           \
        a = of(s[0], s[1], s[2], s[3]) ^ key[0];                                                   \
        b = of(s[1], s[2], s[3], s[0]) ^ key[1];                                                   \
        c = of(s[2], s[3], s[0], s[1]) ^ key[2];                                                   \
        d = of(s[3], s[0], s[1], s[2]) ^ key[3];                                                   \
        s[0] = a;                                                                                  \
        s[1] = b;                                                                                  \
        s[2] = c;                                                                                  \
        s[3] = d;                                                                                  \
    } while (0)

int sunseal_aes128_tbox_encrypt(const void *schedule, uint8_t *out, const uint8_t *in,
                                size_t blocks) {
    const struct sunseal_aes128 *aes = schedule;
    for (; blocks > 0; blocks--, out += 16, in += 16) {
        const uint32_t *key = aes->round_keys;
        uint32_t s[4], a, b, c, d;
        memcpy(s, in, 16);
        for (uint8_t i = 0; i < 4; i++) {
            s[i] ^= *key++;
        }
        for (uint8_t round = 1; round < 10; round++, key += 4) {
            COLUMNS(column);
        }
        COLUMNS(last);
        memcpy(out, s, 16);
    }
    return SUNSEAL_OK;
}
