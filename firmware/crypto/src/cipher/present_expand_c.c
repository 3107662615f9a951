/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "present.h"
#include "sunseal/wipe.h"

/* The S-box on the lowest bit of four words, Courtois, Hulme and Mourouzis (eprint 2011/475). */
static uint8_t substitute(uint8_t x) {
    uint8_t d = x & 1, c = x >> 1 & 1, b = x >> 2 & 1, a = x >> 3 & 1;
    uint8_t t = c ^ b, u = b & t, v = a ^ u, y3 = d ^ v;
    u = t & v;
    t ^= y3;
    u ^= b;
    uint8_t y2 = t ^ (d | u);
    u ^= d ^ 1;
    return (uint8_t)((y2 ^ u) << 3 | (v ^ (u | t)) << 2 | y2 << 1 | y3);
}

void sunseal_present_expand(sunseal_present_word round_keys[32][4], const uint8_t *key,
                            uint8_t key_bytes) {
    uint16_t k[8], t[8];
    uint8_t words = key_bytes >> 1, by = (uint8_t)(words - 4);
    for (uint8_t i = 0; i < words; i++) {
        k[words - 1 - i] = (uint16_t)((uint16_t)key[2 * i] << 8 | key[2 * i + 1]);
    }
    for (uint8_t round = 0; round < 32; round++) {
        for (uint8_t i = 0; i < 4; i++) {
            round_keys[round][i] = k[by + i];
        }
        /* To the left by 61: by words to the right (80 bits by 16, 128 by 64) and three bits. */
        uint8_t from = by;
        uint16_t low = k[from];
        for (uint8_t i = 0; i < words; i++) {
            from = from + 1 == words ? 0 : (uint8_t)(from + 1);
            uint16_t high = k[from];
            t[i] = (uint16_t)(((uint32_t)high << 16 | low) >> 3);
            low = high;
        }
        for (uint8_t i = 0; i < words; i++) {
            k[i] = t[i];
        }
        uint8_t counter = (uint8_t)(round + 1);
        uint8_t top = (uint8_t)(k[words - 1] >> 8);
        if (key_bytes == 10) {
            top = (uint8_t)(substitute(top >> 4) << 4 | (top & 15));
            k[1] ^= counter >> 1;
            k[0] ^= (uint16_t)(counter << 15);
        } else {
            top = (uint8_t)(substitute(top >> 4) << 4 | substitute(top & 15));
            k[4] ^= counter >> 2;
            k[3] ^= (uint16_t)(counter << 14);
        }
        k[words - 1] = (uint16_t)((uint16_t)(top << 8) | (k[words - 1] & 0xff));
    }
    sunseal_wipe(k, sizeof k);
    sunseal_wipe(t, sizeof t);
}
