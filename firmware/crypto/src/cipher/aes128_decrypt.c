/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../mp/mp.h"
#include "aes.h"
#include "aes_tables.h"
#include "aes_inverse_table.h"
#include "sunseal/wipe.h"

/* The inverse cipher, FIPS 197, section 5.3, with the schedule of encryption. */

static uint8_t twice(uint8_t x) {
    return (uint8_t)((uint8_t)(x << 1) ^
                     (uint8_t)(sunseal_mp_mask_high((uint16_t)((uint16_t)x << 8)) & 0x1b));
}

/* InvMixColumns is MixColumns after adding 4 (a ^ c) to a and c, 4 (b ^ d) to b and d. */
static void unmix(uint8_t *s) {
    uint8_t a = s[0], b = s[1], c = s[2], d = s[3];
    uint8_t even = twice(twice(a ^ c)), odd = twice(twice(b ^ d));
    a ^= even;
    c ^= even;
    b ^= odd;
    d ^= odd;
    uint8_t all = a ^ b ^ c ^ d;
    s[0] = a ^ all ^ twice(a ^ b);
    s[1] = b ^ all ^ twice(b ^ c);
    s[2] = c ^ all ^ twice(c ^ d);
    s[3] = d ^ all ^ twice(d ^ a);
}

static void block(const uint8_t *key, uint8_t *out, const uint8_t *in, uint8_t *s, uint8_t *t) {
    key += 160;
    for (uint8_t i = 0; i < 16; i++) {
        s[i] = in[i] ^ key[i];
    }
    for (uint8_t round = 0; round < 10; round++) {
        key -= 16;
        /* InvShiftRows and InvSubBytes: byte 5i mod 16 comes from i. */
        for (uint8_t i = 0; i < 16; i++) {
            uint8_t to = 5 * i & 15;
            t[to] = aes_inverse_s[s[i]] ^ key[to];
        }
        for (uint8_t i = 0; i < 16; i++) {
            s[i] = t[i];
        }
        if (round < 9) {
            for (uint8_t i = 0; i < 16; i = (uint8_t)(i + 4)) {
                unmix(s + i);
            }
        }
    }
    for (uint8_t i = 0; i < 16; i++) {
        out[i] = s[i];
    }
}

SUNSEAL_AES128_BYTES(sunseal_aes128_decrypt)
