/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../mp/mp.h"
#include "aes.h"
#include "aes_tables.h"
#include "aes_sbox_table.h"
#include "sunseal/wipe.h"

/* Portable, small. FIPS 197, section 5.1. */

static uint8_t twice(uint8_t x) {
    return (uint8_t)(x << 1) ^ (uint8_t)(sunseal_mp_mask_high((uint16_t)((uint16_t)x << 8)) & 0x1b);
}

static void block(const uint8_t *key, uint8_t *out, const uint8_t *in, uint8_t *s, uint8_t *t) {
    for (uint8_t i = 0; i < 16; i++) {
        s[i] = in[i] ^ *key++;
    }
    for (uint8_t round = 1;; round++) {
        /* SubBytes and ShiftRows: byte i comes from 5i mod 16. */
        for (uint8_t i = 0; i < 16; i++) {
            t[i] = aes_s[s[5 * i & 15]];
        }
        if (round == 10) {
            break;
        }
        for (uint8_t i = 0; i < 16; i += 4) {
            uint8_t a = t[i], b = t[i + 1], c = t[i + 2], d = t[i + 3];
            uint8_t all = a ^ b ^ c ^ d;
            s[i] = a ^ all ^ twice(a ^ b) ^ *key++;
            s[i + 1] = b ^ all ^ twice(b ^ c) ^ *key++;
            s[i + 2] = c ^ all ^ twice(c ^ d) ^ *key++;
            s[i + 3] = d ^ all ^ twice(d ^ a) ^ *key++;
        }
    }
    for (uint8_t i = 0; i < 16; i++) {
        out[i] = t[i] ^ *key++;
    }
}

SUNSEAL_AES128_BYTES(sunseal_aes128_sbox_encrypt)
