/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

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

void sunseal_present_expand(uint8_t round_keys[32][8], const uint8_t *key, uint8_t key_bytes) {
    uint8_t k[16], t[16];
    memcpy(k, key, key_bytes);
    for (uint8_t round = 0; round < 32; round++) {
        memcpy(round_keys[round], k, 8);
        /* To the left by 61: by eight bytes, and to the right by three bits. */
        for (uint8_t i = 0; i < key_bytes; i++) {
            uint8_t low = (uint8_t)(i + 8), high = (uint8_t)(i + 7);
            low = low >= key_bytes ? (uint8_t)(low - key_bytes) : low;
            high = high >= key_bytes ? (uint8_t)(high - key_bytes) : high;
            t[i] = (uint8_t)(k[low] >> 3 | k[high] << 5);
        }
        memcpy(k, t, key_bytes);
        uint8_t counter = (uint8_t)(round + 1);
        k[0] = (uint8_t)(substitute(k[0] >> 4) << 4 | (k[0] & 15));
        if (key_bytes == 10) {
            k[7] ^= counter >> 1;
            k[8] ^= (uint8_t)(counter << 7);
        } else {
            k[0] = (uint8_t)((k[0] & 0xf0) | substitute(k[0] & 15));
            k[7] ^= counter >> 2;
            k[8] ^= (uint8_t)(counter << 6);
        }
    }
    sunseal_wipe(k, sizeof k);
    sunseal_wipe(t, sizeof t);
}
